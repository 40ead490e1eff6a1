/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbx_file_check(): a process of its own that reads a store and says what is
 * wrong with it.
 *
 * What is read. The pages of one transaction of LMDB's, and the journal's
 * records of that generation: together, the store as it was at one moment. This
 * needs no lock, and nobody waits for it:
 *
 *   - A reader's place in lock.mdb keeps the pages of that transaction from
 *     being used again. That is all that LMDB is asked for; it is not shown the
 *     tables.
 *   - Somebody may write the journal meanwhile. Records are only ever added
 *     behind those that are there, until a checkpoint; after one, LMDB names
 *     another transaction, and everything is read again. If it happens at every
 *     try, the store is checked as of the transaction, without the journal.
 *
 * Why a process. The caller may have the store open, and a second environment of
 * LMDB's in a process would drop the first one's locks. And should a damaged
 * page bring the reader down after all, that is an answer, too: damage.
 *
 * CHECK-1  The child touches nothing that it has inherited but the pipe: no store, no
 *     lock, no callback. It closes every descriptor, so that a lock of ours ends
 *     when we end.
 * CHECK-2  No answer but a whole one counts: a child that ends without its last word
 *     was brought down, and that is LBX_CORRUPT; unless it was killed from outside.
 */
#include "stores/file/repair/audit.h"

#include "base/fault.h"
#include "stores/file/folder.h"
#include "stores/file/free_space.h"
#include "stores/file/repair/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TRIES = 16
};

/* What the child says: parts, then the end. */
struct word {
    bool is_end;
    bool has_box;
    lbx_status status; /* of the end */
    lbx_damage part;
    char box[LBX_BOX_NAME_BYTES];
    char what[24];
    lbx_file_report report;
    lbx_fault fault;
};

/* ---- The child ---- */

struct child {
    int pipe;
    lbx__view view;
    MDB_env *env;
    MDB_txn *txn;
    struct word word;
};

static void
say(struct child *child)
{
    const char *from = (const char *)&child->word;
    size_t left = sizeof(child->word);

    while (left > 0) {
        const ssize_t done = write(child->pipe, from, left);

        if (done < 0 && errno != EINTR)
            _exit(1); // nobody listens
        if (done > 0) {
            from += done;
            left -= (size_t)done;
        }
    }
}

static void
say_part(void *context, const lbx_damage *part)
{
    struct child *child = context;
    struct word *word = &child->word;

    word->part = *part;
    word->has_box = part->box != NULL;
    if (part->box)
        (void)snprintf(word->box, sizeof(word->box), "%s", part->box);
    (void)snprintf(word->what, sizeof(word->what), "%s", part->what);
    say(child);
}

static int
open_environment(struct child *child, int folder)
{
    char path[64];
    int result;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
    result = mdb_env_create(&child->env);
    return result == 0
               ? mdb_env_open(child->env, path, MDB_RDONLY | MDB_NOTLS, 0600)
               : result;
}

/* A reader's place: from here on the pages of the view's transaction stay. BUSY:
 * an owner has committed since, or there is no place among the readers. */
static lbx_status
begin_reading(struct child *child, int folder)
{
    int result = child->env ? 0 : open_environment(child, folder);

    if (result == 0)
        result = mdb_txn_begin(child->env, NULL, MDB_RDONLY, &child->txn);
    if (result != 0)
        return lbx__engine_status(result);
    return mdb_txn_id(child->txn) == child->view.tables.pages.transaction
               ? LBX_OK
               : LBX_BUSY;
}

static void
end_reading(struct child *child)
{
    if (child->txn)
        mdb_txn_abort(child->txn);
    child->txn = NULL;
}

/* The meta pages, which LMDB is not shown before they have been looked at, and a
 * hold on what they name. Both in our turn, when nobody in company commits: who
 * has waited for it has waited for a commit. BUSY for another try. */
static lbx_status
hold(struct child *child, int folder, const lbx__membership_state *peek,
     bool last, const char **ret_why)
{
    lbx__membership visit;
    lbx_status status =
        lbx__membership_open_lock(&visit, &lbx__io_system, folder);

    if (status == LBX_OK && !lbx__membership_lock_writer(&visit))
        status = LBX_NO_MEMORY;
    // Without a `wake` there is nobody whose turn it could be.
    if (status == LBX_OK || status == LBX_NOT_FOUND) {
        status = lbx__view_open(&child->view, &lbx__io_system, folder, ret_why);
        if (status == LBX_OK)
            status = begin_reading(child, folder);
        lbx__membership_unlock_writer(&visit);
    }
    lbx__membership_close(&visit);
    if (status == LBX_CORRUPT && peek->in_use && !last)
        return LBX_BUSY; // perhaps they are being written
    return status;
}

/* Whether LMDB still names the transaction that we hold. */
static bool
is_latest(const lbx__view *view)
{
    const char *why;
    lbx__mdb_pages now;

    return lbx__mdb_pages_open(&now, view->tables.io, view->tables.fd, &why) ==
               LBX_OK &&
           now.transaction == view->tables.pages.transaction;
}

static void
tell_meta(lbx__audit_log *log)
{
    const lbx_damage part = {.what = "meta page"};

    lbx__audit_report_damage(log, &part);
}

/* A journal that is read strictly has one part at most that is wrong. */
static void
keep_part(void *context, const lbx_damage *part)
{
    *(lbx_damage *)context = *part;
}

/* The tables, and the journal over them. BUSY: it went on meanwhile. `last`: then
 * without it. */
static lbx_status
read_journal(struct child *child, const lbx__membership_state *peek, bool last,
             lbx__audit_log *log)
{
    lbx__view *view = &child->view;
    lbx_damage part;
    lbx__audit_log kept = {.damage = keep_part, .context = &part};
    lbx_status status = lbx__view_find_tables(view);

    if (status == LBX_OK && view->tables.header_status == LBX_NEWER)
        status = LBX_NEWER;
    if (status == LBX_OK)
        status = lbx__audit_journal(view, peek, false, &kept);
    if (status != LBX_OK && status != LBX_CORRUPT)
        return status;
    // An idle journal has nothing that counts, whoever has committed since.
    if (!is_latest(view) && !(status == LBX_OK && view->tables.header.idle)) {
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
has_journal(int folder)
{
    return faccessat(folder, LBX__JOURNAL, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* One try: BUSY for another one. */
static lbx_status
check_once(struct child *child, int folder, bool last, lbx__audit_log *log)
{
    lbx__membership_state peek;
    const char *why = "";
    lbx_status status = lbx__membership_inspect(&lbx__io_system, folder,
                                                &peek); // before all else

    if (status == LBX_OK)
        status = hold(child, folder, &peek, last, &why);
    if (status == LBX_NOT_FOUND && !has_journal(folder))
        return status; // nothing was ever there
    if (status == LBX_NOT_FOUND)
        status = LBX_CORRUPT;
    if (status == LBX_CORRUPT) {
        tell_meta(log);
        (void)lbx__fault_set(&child->word.fault, status, LBX__DATA ": %s", why);
        return child->view.tables.pages.count > 0 && !peek.in_use
                   ? lbx__view_find_tables(&child->view)
                   : LBX_CORRUPT;
    }
    if (status != LBX_OK)
        return status;
    if (child->view.tables.pages.main.rows == 0 && !has_journal(folder))
        return LBX_NOT_FOUND; // begun, and never a store
    status = read_journal(child, &peek, last, log);
    if (status == LBX_OK &&
        child->view.tables.pages.transaction < peek.last_commit)
        tell_meta(log);
    return status;
}

static lbx_status
check_folder(struct child *child, const char *dir, lbx__audit_log *log)
{
    lbx__folder folder;
    lbx_status status = lbx__folder_open(&folder, &lbx__io_system, dir, true,
                                         &child->word.fault);

    if (status != LBX_OK)
        return status;
    for (int i = 1; i <= TRIES; i++) {
        status = check_once(child, folder.fd, i == TRIES, log);
        if (status != LBX_BUSY)
            break;
        end_reading(child);
        lbx__view_close(&child->view);
    }
    if (status == LBX_OK)
        status = lbx__audit_rows(&child->view, log);
    if (status == LBX_OK && child->view.tables.header_status != LBX_OK)
        tell_meta(log);
    return status == LBX_OK && log->reported > 0 ? LBX_CORRUPT : status;
}

static void
close_descriptors(int but)
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
static void
run_child(const char *dir, int pipe, pid_t parent)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    static struct child child;
    const struct rlimit none = {0, 0};
    lbx__audit_log log = {say_part, &child, 0, {0}};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)signal(signals[i], SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    (void)setrlimit(RLIMIT_CORE, &none);
    close_descriptors(pipe);
    child.pipe = pipe;
    child.view.tables.fd = -1;
    child.word.status = check_folder(&child, dir, &log);
    child.word.report = log.report;
    child.word.is_end = true;
    say(&child);
    _exit(0);
}

/* ---- Here ---- */

/* The next word: false when there is no more. */
static bool
listen_to(int pipe, struct word *ret)
{
    char *to = (char *)ret;
    size_t left = sizeof(*ret);

    while (left > 0) {
        const ssize_t done = read(pipe, to, left);

        if (done == 0 || (done < 0 && errno != EINTR))
            return false;
        if (done > 0) {
            to += done;
            left -= (size_t)done;
        }
    }
    return true;
}

/* All words of a child; false when the last one, `ret`, did not come. */
static bool
hear(int pipe, void (*damage)(void *context, const lbx_damage *part),
     void *context, struct word *ret)
{
    while (listen_to(pipe, ret)) {
        if (ret->is_end)
            return true;
        ret->part.box = ret->has_box ? ret->box : NULL;
        ret->part.what = ret->what;
        if (damage)
            damage(context, &ret->part);
    }
    return false;
}

/* CHECK-2: what stands for the last word of a child that ended so. */
static lbx_status
conclude(int how, void (*damage)(void *context, const lbx_damage *part),
         void *context, struct word *ret)
{
    const lbx_damage part = {.what = "page"};

    memset(ret, 0, sizeof(*ret));
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        return lbx__fault_set(
            &ret->fault, LBX_NO_MEMORY,
            "the process that read it was killed, by somebody or "
            "for want of memory");
    ret->report.damaged = 1;
    if (damage)
        damage(context, &part);
    return lbx__fault_set(&ret->fault, LBX_CORRUPT,
                          "a damaged page ended the process that read it");
}

lbx_status
lbx__check_store(const char *dir,
                 void (*damage)(void *context, const lbx_damage *part),
                 void *context, lbx_file_report *ret, lbx_fault *fault)
{
    const pid_t self = getpid();
    struct word end;
    int pipes[2];
    int how = 0;
    lbx_status status;
    bool heard;
    pid_t child;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return LBX_NO_MEMORY;
    child = fork();
    if (child == 0)
        run_child(dir, pipes[1], self);
    (void)close(pipes[1]);
    if (child < 0) {
        (void)close(pipes[0]);
        return LBX_NO_MEMORY;
    }
    heard = hear(pipes[0], damage, context, &end);
    (void)close(pipes[0]);
    // Somebody who waits for all children may have been first.
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    status = heard ? end.status : conclude(how, damage, context, &end);
    if (status == LBX_OK || status == LBX_CORRUPT)
        *ret = end.report;
    if (fault && status != LBX_OK)
        *fault = end.fault;
    return status;
}

lbx_status
lbx_file_check(const char *dir,
               void (*damage)(void *context, const lbx_damage *part),
               void *context, lbx_file_report *ret)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx_status status;

    if (!ret)
        return LBX_INVALID;
    if (!dir || !*dir)
        return lbx__audit_report_end(ret, LBX_INVALID, &fault, "");
    status = lbx__check_store(dir, damage, context, ret, &fault);
    return lbx__audit_report_end(ret, status, &fault, dir);
}

/* The first part that a check finds, as a sentence. */
static void
check_note_damage(void *context, const lbx_damage *part)
{
    lbx_fault *fault = context;

    if (fault->text[0])
        return;
    if (strcmp(part->what, LBX__NO_JOURNAL) == 0) {
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             LBX__JOURNAL ": it is missing");
        return;
    }
    if (part->size_bytes > 0)
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             "%s: bytes %" PRIu64 " to %" PRIu64 " are damaged",
                             part->what, part->offset_bytes,
                             part->offset_bytes + part->size_bytes);
    else if (part->first_sequence > 0)
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             "box %s: %s of letters %" PRIu64 " to %" PRIu64
                             " is damaged",
                             part->box ? part->box : "(unknown)", part->what,
                             part->first_sequence, part->last_sequence);
    else
        (void)lbx__fault_set(fault, LBX_CORRUPT, "%s%s%s is damaged",
                             part->box ? part->box : "", part->box ? ": " : "",
                             part->what);
}

lbx_status
lbx__check_before_open(const char *path, lbx_fault *fault)
{
    lbx_fault found = {LBX_OK, ""}, said = {LBX_OK, ""};
    lbx_file_report report;
    const lbx_status status =
        lbx__check_store(path, check_note_damage, &found, &report, &said);

    // Opening makes a store that is missing, and refuses the folder better.
    if (status == LBX_OK || status == LBX_NOT_FOUND || status == LBX_DENIED ||
        status == LBX_INVALID)
        return LBX_OK;
    return lbx__fault_set(fault, status, "%s: %s", path,
                          found.text[0]  ? found.text
                          : said.text[0] ? said.text
                                         : lbx_status_text(status));
}
