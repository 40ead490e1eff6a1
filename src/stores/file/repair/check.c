/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lbx_file_store_check(): has a process of its own read a store
 * (check_child.c), and reports the damage that it finds.
 *
 * Why a process. The caller may have the store open, and a second environment
 * of LMDB's in a process would drop the locks of the first. And should a
 * damaged page crash the reader after all, that is a result, too: damage.
 *
 * CHECK-2  Only a complete result counts: a child that ends without its last
 *          message has crashed, which is LBX_CORRUPT, unless it was killed from
 *          outside.
 *
 * Threads    any.
 */
#include "stores/file/repair/check.h"

#include "base/fault.h"
#include "base/sized.h"
#include "stores/file/folder.h"
#include "stores/file/repair/audit.h"
#include "stores/file/repair/check_child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The next message: false when there is none. */
static bool
check_receive(int pipe, lbx__check_message *ret)
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

/* All messages of a child: OK with the last one, `ret`; CLOSED when that did
 * not come; CANCELLED. */
static lbx_status
check_receive_all(int pipe, const lbx_file_store_work *work,
                  lbx__check_message *ret)
{
    while (check_receive(pipe, ret)) {
        if (ret->is_end)
            return LBX_OK;
        if (ret->is_progress) {
            if (work->progress &&
                !work->progress(work->context, ret->done, ret->total))
                return LBX_CANCELLED;
            continue;
        }
        ret->part.box = ret->has_box ? ret->box : NULL;
        ret->part.what = ret->what;
        if (work->damage)
            work->damage(work->context, &ret->part);
    }
    return LBX_CLOSED;
}

/* CHECK-2: the result for a child that ended without its last message. */
static lbx_status
check_judge_exit(int how, const lbx_file_store_work *work,
                 lbx__check_message *ret)
{
    const lbx_file_store_damage part = {.what = "page"};

    memset(ret, 0, sizeof(*ret));
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        return lbx__fault_set(
            &ret->fault, LBX_NO_MEMORY,
            "the process that read it was killed, from outside or "
            "for want of memory");
    ret->report.damaged = 1;
    if (work->damage)
        work->damage(work->context, &part);
    return lbx__fault_set(&ret->fault, LBX_CORRUPT,
                          "a damaged page ended the process that read it");
}

lbx_status
lbx__check_store(const char *dir, const lbx_file_store_work *work,
                 lbx_file_store_report *ret, lbx_fault *fault)
{
    const pid_t self = getpid();
    lbx__check_message end;
    int pipes[2];
    int how = 0;
    lbx_status status;
    pid_t child;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return LBX_NO_MEMORY;
    child = fork();
    if (child == 0)
        lbx__check_child_run(dir, work->group, pipes[1], self);
    (void)close(pipes[1]);
    if (child < 0) {
        (void)close(pipes[0]);
        return LBX_NO_MEMORY;
    }
    status = check_receive_all(pipes[0], work, &end);
    if (status == LBX_CANCELLED)
        (void)kill(child, SIGKILL);
    (void)close(pipes[0]);
    // The program may have waited for it first, in a wait for any child.
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    if (status == LBX_CANCELLED)
        return status;
    status = status == LBX_OK ? end.status : check_judge_exit(how, work, &end);
    if (status == LBX_OK || status == LBX_CORRUPT)
        *ret = end.report;
    if (fault && status != LBX_OK)
        *fault = end.fault;
    return status;
}

lbx_status
lbx_file_store_check(const char *dir,
                     void (*damage)(void *context,
                                    const lbx_file_store_damage *part),
                     void *context, lbx_file_store_report *ret)
{
    lbx_file_store_work work = LBX_FILE_STORE_WORK_INIT;

    work.damage = damage;
    work.context = context;
    return lbx_file_store_check_with(dir, &work, ret);
}

lbx_status
lbx_file_store_check_with(const char *dir, const lbx_file_store_work *work,
                          lbx_file_store_report *ret)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    lbx_fault fault = {LBX_OK, ""};
    lbx_file_store_work own;
    lbx_status status;

    if (!ret || !LBX__SIZED_IS_WRITABLE(ret, lbx_file_store_report, fault))
        return LBX_INVALID;
    status = lbx__audit_progress_read(&own, work, &fault);
    if (status == LBX_OK && (!dir || !*dir))
        status = LBX_INVALID;
    if (status != LBX_OK)
        return lbx__audit_report_end(ret, NULL, status, &fault, "");
    status = lbx__check_store(dir, &own, &report, &fault);
    return lbx__audit_report_end(
        ret, status == LBX_OK || status == LBX_CORRUPT ? &report : NULL, status,
        &fault, dir);
}

/* The first part that a check finds, as a sentence. */
static void
check_note_damage(void *context, const lbx_file_store_damage *part)
{
    lbx_fault *fault = context;

    if (fault->text[0])
        return;
    if (strcmp(part->what, LBX__NO_JOURNAL) == 0) {
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             LBX__JOURNAL ": it is missing");
        return;
    }
    if (part->damaged_bytes > 0)
        (void)lbx__fault_set(fault, LBX_CORRUPT,
                             "%s: bytes %" PRIu64 " to %" PRIu64 " are damaged",
                             part->what, part->offset_bytes,
                             part->offset_bytes + part->damaged_bytes);
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
lbx__check_before_open(const char *path, bool group, lbx_fault *fault)
{
    lbx_fault found = {LBX_OK, ""}, said = {LBX_OK, ""};
    const lbx_file_store_work work = {
        .context = &found, .damage = check_note_damage, .group = group};
    lbx_file_store_report report;
    const lbx_status status = lbx__check_store(path, &work, &report, &said);

    if (status == LBX_OK || status == LBX_NOT_FOUND)
        return LBX_OK; // opening makes a store that is missing
    // These are of the folder, and name it.
    if (status == LBX_DENIED || status == LBX_INVALID)
        return lbx__fault_set(fault, status, "%s", said.text);
    return lbx__fault_set(fault, status, "%s: %s", path,
                          found.text[0]  ? found.text
                          : said.text[0] ? said.text
                                         : lbx_status_text(status));
}
