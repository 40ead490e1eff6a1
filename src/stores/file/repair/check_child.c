/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads a store for a check.
 *
 * It reads the pages of one transaction of LMDB's, and the journal's records of
 * that generation: together, the store as it was at one moment. This needs no
 * lock, and no process waits for it:
 *
 *   - A reader's entry in lock.mdb keeps the pages of that transaction from
 *     being reused. Nothing else is asked of LMDB; it does not see the tables.
 *   - The owner may write the journal meanwhile. Records are only ever added
 *     behind those that are there, until a checkpoint; after one, LMDB names
 *     another transaction, and everything is read again. If that happens at
 *     every try, the store is checked as of the transaction, without the
 *     journal.
 *
 * CHECK-1  The child uses nothing that it has inherited but the pipe: no store,
 *          no lock, no callback. It closes every descriptor, so that a lock of
 *          the parent ends when the parent does.
 */
#include "stores/file/repair/check_child.h"

#include "base/fault.h"
#include "stores/file/folder.h"
#include "stores/file/repair/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CHECK_TRIES = 16
};

struct check_child {
    int pipe;
    lbx__view view;
    MDB_env *env;
    MDB_txn *txn;
    lbx__check_message message;
};

static void
check_send(struct check_child *child)
{
    const char *from = (const char *)&child->message;
    size_t left = sizeof(child->message);

    while (left > 0) {
        const ssize_t done = write(child->pipe, from, left);

        if (done < 0 && errno != EINTR)
            _exit(1); // the parent is gone
        if (done > 0) {
            from += done;
            left -= (size_t)done;
        }
    }
}

static void
check_send_part(void *context, const lbx_file_store_damage *part)
{
    struct check_child *child = context;
    lbx__check_message *message = &child->message;

    message->part = *part;
    message->has_box = part->box != NULL;
    if (part->box)
        (void)snprintf(message->box, sizeof(message->box), "%s", part->box);
    (void)snprintf(message->what, sizeof(message->what), "%s", part->what);
    check_send(child);
}

static bool
check_send_progress(void *context, uint64_t done, uint64_t total)
{
    struct check_child *child = context;

    child->message.is_progress = true;
    child->message.done = done;
    child->message.total = total;
    check_send(child);
    child->message.is_progress = false;
    return true; // the parent ends this process if it is to stop
}

static int
check_open_environment(struct check_child *child, int folder)
{
    char path[64];
    int result;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
    result = mdb_env_create(&child->env);
    return result == 0
               ? mdb_env_open(child->env, path, MDB_RDONLY | MDB_NOTLS, 0600)
               : result;
}

/* Begins to read as a reader of LMDB's: from here on the pages of the view's
 * transaction are not reused. BUSY: an owner has committed since, or there are
 * too many readers. */
static lbx_status
check_begin_reading(struct check_child *child, int folder)
{
    int result = child->env ? 0 : check_open_environment(child, folder);

    if (result == 0)
        result = mdb_txn_begin(child->env, NULL, MDB_RDONLY, &child->txn);
    if (result != 0)
        return lbx__engine_status(result);
    return mdb_txn_id(child->txn) == child->view.tables.pages.transaction
               ? LBX_OK
               : LBX_BUSY;
}

static void
check_end_reading(struct check_child *child)
{
    if (child->txn)
        mdb_txn_abort(child->txn);
    child->txn = NULL;
}

/* Reads the meta pages, before LMDB does, and begins to read what they name:
 * both with the writer lock, when no process in shared mode commits. BUSY: try
 * again. */
static lbx_status
check_hold(struct check_child *child, int folder,
           const lbx__membership_state *peek, bool last, const char **ret_why)
{
    lbx__membership visit;
    lbx_status status = lbx__writer_lock_open(&visit, &lbx__io_system, folder);

    if (status == LBX_OK && lbx__writer_lock_take(&visit) != LBX_OK)
        status = LBX_NO_MEMORY;
    // Without a `wake` no process has the store open.
    if (status == LBX_OK || status == LBX_NOT_FOUND) {
        status = lbx__view_open(&child->view, &lbx__io_system, folder, ret_why);
        if (status == LBX_OK)
            status = check_begin_reading(child, folder);
        lbx__writer_lock_release(&visit);
    }
    lbx__membership_close(&visit);
    if (status == LBX_CORRUPT && peek->in_use && !last)
        return LBX_BUSY; // perhaps they are being written
    return status;
}

/* Whether the transaction that is read is still LMDB's latest. */
static bool
check_is_latest(const lbx__view *view)
{
    const char *why;
    lbx__mdb_pages now;

    return lbx__mdb_pages_open(&now, view->tables.io, view->tables.fd, &why) ==
               LBX_OK &&
           now.transaction == view->tables.pages.transaction;
}

static void
check_report_meta(lbx__audit_log *log)
{
    const lbx_file_store_damage part = {.what = "meta page"};

    lbx__audit_report_damage(log, &part);
}

/* A journal that is read strictly has at most one damaged part. */
static void
check_keep_part(void *context, const lbx_file_store_damage *part)
{
    *(lbx_file_store_damage *)context = *part;
}

/* Reads the tables, and the journal over them. BUSY: the journal was started
 * anew meanwhile. `last`: then without it. */
static lbx_status
check_read_journal(struct check_child *child, const lbx__membership_state *peek,
                   bool last, lbx__audit_log *log)
{
    lbx__view *view = &child->view;
    lbx_file_store_damage part;
    lbx__audit_log kept = {.damage = check_keep_part, .context = &part};
    lbx_status status = lbx__view_find_tables(view);

    if (status == LBX_OK && view->tables.header_status == LBX_NEWER)
        status = LBX_NEWER;
    if (status == LBX_OK)
        status = lbx__audit_journal(view, peek, false, &kept);
    if (status != LBX_OK && status != LBX_CORRUPT)
        return status;
    // No record of an idle journal counts, also after commits in shared mode.
    if (!check_is_latest(view) &&
        !(status == LBX_OK && view->tables.header.idle)) {
        lbx__overlay_clear(&view->overlay);
        return last ? LBX_OK : LBX_BUSY;
    }
    if (status == LBX_CORRUPT && peek->in_use && !last)
        return LBX_BUSY; // perhaps it is being written
    log->report = kept.report;
    if (kept.reported > 0)
        lbx__audit_report_damage(log, &part);
    return LBX_OK;
}

static bool
check_has_journal(int folder)
{
    return faccessat(folder, LBX__JOURNAL, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Reads the store once: BUSY: try again. */
static lbx_status
check_try(struct check_child *child, int folder, bool last, lbx__audit_log *log)
{
    lbx__membership_state peek;
    const char *why = "";
    lbx_status status = lbx__boot_words_inspect(&lbx__io_system, folder,
                                                &peek); // before all else

    if (status == LBX_OK)
        status = check_hold(child, folder, &peek, last, &why);
    if (status == LBX_NOT_FOUND && !check_has_journal(folder))
        return status; // nothing was ever there
    if (status == LBX_NOT_FOUND)
        status = LBX_CORRUPT;
    if (status == LBX_CORRUPT) {
        check_report_meta(log);
        (void)lbx__fault_set(&child->message.fault, status, LBX__DATA ": %s",
                             why);
        return child->view.tables.pages.count > 0 && !peek.in_use
                   ? lbx__view_find_tables(&child->view)
                   : LBX_CORRUPT;
    }
    if (status != LBX_OK)
        return status;
    if (child->view.tables.pages.main.rows == 0 && !check_has_journal(folder))
        return LBX_NOT_FOUND; // begun, and never a store
    status = check_read_journal(child, &peek, last, log);
    if (status == LBX_OK &&
        child->view.tables.pages.transaction < peek.last_commit)
        check_report_meta(log);
    return status;
}

static lbx_status
check_folder_of(struct check_child *child, const char *dir, bool group,
                lbx__audit_log *log)
{
    lbx__folder folder;
    lbx_status status = lbx__folder_open(&folder, &lbx__io_system, dir, true,
                                         group, &child->message.fault);

    if (status != LBX_OK)
        return status;
    for (int i = 1; i <= CHECK_TRIES; i++) {
        status = check_try(child, folder.fd, i == CHECK_TRIES, log);
        if (status != LBX_BUSY)
            break;
        check_end_reading(child);
        lbx__view_close(&child->view);
    }
    if (status == LBX_OK)
        status = lbx__audit_rows(&child->view, log);
    if (status == LBX_OK)
        status = lbx__audit_progress_end(&log->progress);
    if (status == LBX_OK && child->view.tables.header_status != LBX_OK)
        check_report_meta(log);
    return status == LBX_OK && log->reported > 0 ? LBX_CORRUPT : status;
}

static void
check_close_descriptors(int but)
{
    // One by one where there is no such call.
    if ((but == 0 || syscall(SYS_close_range, 0, but - 1, 0) == 0) &&
        syscall(SYS_close_range, but + 1, ~0U, 0) == 0)
        return;
    for (int fd = 0; fd < 65536; fd++) {
        if (fd != but)
            (void)close(fd);
    }
}

/* CHECK-1. */
void
lbx__check_child_run(const char *dir, bool group, int pipe, pid_t parent)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    static struct check_child child;
    const struct rlimit none = {0, 0};
    lbx__audit_log log = {
        .damage = check_send_part,
        .context = &child,
        .progress = {.tell = check_send_progress, .context = &child},
    };

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)signal(signals[i], SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    (void)setrlimit(RLIMIT_CORE, &none);
    check_close_descriptors(pipe);
    child.pipe = pipe;
    child.view.tables.fd = -1;
    child.message.status = check_folder_of(&child, dir, group, &log);
    child.message.report = log.report;
    child.message.is_end = true;
    check_send(&child);
    _exit(0);
}
