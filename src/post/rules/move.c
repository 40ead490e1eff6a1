/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves: tasks that move letters from one box to another, a few at a time.
 *
 * A task is a row (move_task.h); the last ten of a box are kept. Any process
 * that has the store open advances it: a step is part of a batch, and batches
 * of all processes are serialized, so that a task needs no owner. Its rate is
 * measured in store time since it started.
 *
 * A task takes the letters that are ready, in the order of receives, and ends
 * when none is; also between two letters of its rate, so that it does not wait
 * for nothing. A moved letter gets a new id and starts with no deliveries;
 * except for its content it is a new letter of the other box.
 *
 * MOVE-1  A letter is in exactly one box at every commit.
 * MOVE-2  At most one task runs for a box.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/move_task.h"

void
lbx__move_forget(lbx__rules *rules, uint64_t uid)
{
    lbx__key from = lbx__key_2(uid, 0);
    lbx__move_task task;

    while (lbx__move_task_seek(rules, &from, 8, &task) == LBX_OK) {
        const lbx__key key = lbx__key_2(task.from, task.number);

        lbx__row_drop(rules->storage, LBX__TASKS, &key);
        from = lbx__key_2(uid, task.number + 1);
    }
}

/* ---- A step ---- */

/* The next letter of a box, plain or fifo. */
static lbx_status
move_next_letter(lbx__rules *rules, lbx__box_record *box,
                 lbx__letter_record *ret)
{
    lbx_status status = lbx__sweep_due(rules, box);

    if (status != LBX_OK)
        return status;
    return box->facts->options.fifo ? lbx__group_next(rules, box, ret)
                                    : lbx__receive_next(rules, box, ret);
}

/* The box a letter is moved to: OK; NOT_FOUND; INVALID: the same box, or one
 * that is fifo when the other is not. */
static lbx_status
move_find_target(lbx__rules *rules, const lbx__move_task *task,
                 const lbx__box_record *from, const lbx__letter_record *letter,
                 lbx__box_record **ret)
{
    lbx_status status;

    if (task->to != 0)
        status = lbx__box_record_open(rules, (lbx_box){task->to}, ret);
    else if (letter->body.source)
        status = lbx__box_record_find(rules, from->facts->space,
                                      letter->body.source, ret);
    else
        status = LBX_NOT_FOUND;
    if (status == LBX_CLOSED)
        status = LBX_NOT_FOUND;
    if (status != LBX_OK)
        return status;
    if (*ret == from ||
        (*ret)->facts->options.fifo != from->facts->options.fifo)
        return LBX_INVALID;
    return LBX_OK;
}

/* MOVE-1. */
static lbx_status
move_letter(lbx__rules *rules, lbx__box_record *from,
            lbx__letter_record *letter, lbx__box_record *to)
{
    const bool fifo = from->facts->options.fifo;
    lbx__need need = {.count = 0};
    lbx_sent_letter sent;
    lbx__sending sending = {.box = to, .sent = &sent};
    lbx_status status;

    if (fifo)
        lbx__group_need_requeue(&need);
    lbx__letter_record_need_remove(&need, from, letter);
    status =
        lbx__send_prepare_moved(rules, &sending, &letter->body.parcel, &need);
    if (status == LBX_OK)
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__SHRINKS);
    if (status != LBX_OK)
        return status;
    if (fifo)
        lbx__group_leave(rules, from, letter);
    lbx__letter_record_remove(rules, from, letter);
    if (fifo)
        lbx__group_requeue(rules, from, letter, LBX__GROUP_LAST, 0);
    else
        lbx__fair_taken(rules, from, letter);
    lbx__send_write(rules, &sending);
    return LBX_OK;
}

static lbx_status
move_fail(lbx__move_task *task, lbx_status reason)
{
    task->phase = LBX_MOVE_PHASE_FAILED;
    task->reason = reason;
    return LBX_OK;
}

/* Moves one letter. OK: moved, or the task has failed, which is its phase then;
 * NOT_FOUND: no letter is left. */
static lbx_status
move_one(lbx__rules *rules, lbx__move_task *task)
{
    lbx__box_record *from, *to;
    lbx__letter_record letter;
    lbx_status status =
        lbx__box_record_open(rules, (lbx_box){task->from}, &from);

    if (status != LBX_OK)
        return status == LBX_CLOSED ? LBX_CORRUPT : status;
    status = move_next_letter(rules, from, &letter);
    if (status == LBX_CORRUPT && rules->damaged)
        return move_fail(task, status); // all intact letters have been moved
    if (status == LBX_OK)
        status = lbx__letter_record_copy(rules, &letter);
    if (status != LBX_OK)
        return status;
    status = move_find_target(rules, task, from, &letter, &to);
    if (status == LBX_OK)
        status = move_letter(rules, from, &letter, to);
    if (status == LBX_OK)
        task->moved++;
    if (status == LBX_NOT_FOUND || status == LBX_FULL || status == LBX_INVALID)
        return move_fail(task, status);
    return status;
}

/* When the rate allows the next letter. */
static int64_t
move_next_due(const lbx__move_task *task)
{
    const uint64_t seconds =
        task->rate > 0 ? task->moved / (uint64_t)task->rate : 0;
    const uint64_t rest =
        task->rate > 0 ? task->moved % (uint64_t)task->rate : 0;
    int64_t due = task->started_ns;

    if (task->rate > 0) {
        due = lbx__time_add(due, (int64_t)(seconds * LBX_SECOND));
        due = lbx__time_add(
            due, (int64_t)(rest * LBX_SECOND / (uint64_t)task->rate));
    }
    return due;
}

/* OK: there is a letter to move; NOT_FOUND: none. */
static lbx_status
move_look_ahead(lbx__rules *rules, const lbx__move_task *task)
{
    lbx__box_record *from;
    lbx__letter_record letter;
    lbx_status status =
        lbx__box_record_open(rules, (lbx_box){task->from}, &from);

    if (status == LBX_OK)
        status = move_next_letter(rules, from, &letter);
    // What is damaged is the matter of the next step.
    return status == LBX_NOT_FOUND ? status : LBX_OK;
}

static lbx_status
move_run(lbx__rules *rules, lbx__move_task *task, uint32_t *budget,
         int64_t *ret_due)
{
    const uint64_t moved = task->moved;
    lbx_status status = LBX_OK;

    while (*budget > 0 && task->phase == LBX_MOVE_PHASE_RUNNING) {
        const bool is_early = move_next_due(task) > rules->now;

        if (is_early && task->moved == moved)
            break; // nothing has changed: it was looked at before
        status =
            is_early ? move_look_ahead(rules, task) : move_one(rules, task);
        (void)lbx__box_record_close_all(rules,
                                        LBX_OK); // there may be many sources
        if (status == LBX_NOT_FOUND)
            task->phase = LBX_MOVE_PHASE_COMPLETED;
        else if (is_early || status != LBX_OK)
            break;
        (*budget)--;
    }
    // Only a change: every write notifies the other processes.
    if (task->moved != moved || task->phase != LBX_MOVE_PHASE_RUNNING)
        lbx__move_task_write(rules, task);
    if (task->phase == LBX_MOVE_PHASE_RUNNING && move_next_due(task) < *ret_due)
        *ret_due = move_next_due(task);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

lbx_status
lbx__move_step(lbx__rules *rules, uint32_t *budget, int64_t *ret_due)
{
    lbx__key from = lbx__key_2(0, 0);
    lbx_status status;
    lbx__move_task task;

    while ((status = lbx__move_task_seek(rules, &from, 0, &task)) == LBX_OK) {
        from = lbx__key_2(task.from, task.number + 1);
        if (task.phase == LBX_MOVE_PHASE_RUNNING)
            status = move_run(rules, &task, budget, ret_due);
        if (status != LBX_OK)
            return status;
    }
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* ---- The rule ---- */

static void
move_report(const lbx__box_record *box, const lbx__move_task *task,
            lbx_move_progress *ret)
{
    if (!ret)
        return;
    *ret = (lbx_move_progress){
        .size_bytes = sizeof(*ret),
        .task = task->number,
        .phase = task->phase,
        .reason = task->reason,
        .moved = task->moved,
        .left = box->letters,
        .started_ms = task->started_ms,
    };
}

/* Checks that the first letter of a move has a target. A task that would fail
 * at once is better refused: few callers read its state later. Those that do
 * start it unchecked. */
static lbx_status
move_check_first(lbx__rules *rules, lbx__box_record *box,
                 const lbx__move_task *task)
{
    lbx__box_record *to;
    lbx__letter_record letter;
    lbx_status status = move_next_letter(rules, box, &letter);

    if (status == LBX_NOT_FOUND)
        return LBX_OK; // nothing to move: the task completes at once
    if (status == LBX_OK)
        status = lbx__letter_record_decode(rules, &letter);
    return status == LBX_OK ? move_find_target(rules, task, box, &letter, &to)
                            : status;
}

static lbx_status
move_start(lbx__rules *rules, lbx__box_record *box, const lbx__move_task *tasks,
           size_t count, lbx_move_request *request)
{
    lbx__need need = {.count = 0};
    lbx__box_record *to = NULL;
    lbx_status status = LBX_OK;
    lbx__move_task task = {
        .from = box->uid,
        .to = request->to.uid,
        .rate = request->letters_per_second,
        .started_ns = rules->now,
        .started_ms = lbx__rules_wall(rules),
    };

    if (count > 0 && tasks[count - 1].phase == LBX_MOVE_PHASE_RUNNING)
        return LBX_BUSY; // MOVE-2
    if (request->letters_per_second < 0)
        return LBX_INVALID;
    if (request->to.uid != 0)
        status = lbx__box_record_open(rules, request->to, &to);
    if (status == LBX_CLOSED)
        status = LBX_NOT_FOUND;
    if (status == LBX_OK && to &&
        (to == box || to->facts->options.fifo != box->facts->options.fifo))
        status = LBX_INVALID;
    if (status == LBX_OK && !to && request->action == LBX_MOVE_ACTION_START)
        status = move_check_first(rules, box, &task);
    lbx__need_row(&need, 16, LBX__MOVE_TASK_BYTES);
    if (status == LBX_OK)
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__SHRINKS);
    if (status == LBX_OK)
        status = lbx__rules_number(rules, &task.number);
    if (status != LBX_OK)
        return status;
    if (count == LBX__MOVE_TASKS_MAX) {
        const lbx__key oldest = lbx__key_2(box->uid, tasks[0].number);

        lbx__row_drop(rules->storage, LBX__TASKS, &oldest);
    }
    lbx__move_task_write(rules, &task);
    move_report(box, &task, request->ret);
    return LBX_OK;
}

static lbx_status
move_cancel(lbx__rules *rules, const lbx__box_record *box,
            lbx__move_task *tasks, size_t count, lbx_move_request *request)
{
    if (count == 0 || tasks[count - 1].phase != LBX_MOVE_PHASE_RUNNING)
        return LBX_NOT_FOUND;
    tasks[count - 1].phase = LBX_MOVE_PHASE_CANCELLED;
    lbx__move_task_write(rules, &tasks[count - 1]);
    move_report(box, &tasks[count - 1], request->ret);
    return LBX_OK;
}

lbx_status
lbx__move_apply(lbx__rules *rules, lbx_move_request *request)
{
    lbx__move_task tasks[LBX__MOVE_TASKS_MAX];
    size_t count;
    lbx__box_record *box;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_open(rules, request->from, &box);
    if (status == LBX_CLOSED)
        status = LBX_NOT_FOUND;
    if (status == LBX_OK)
        status = lbx__sweep_age(rules, box);
    if (status == LBX_OK)
        status = lbx__move_task_read_all(rules, box->uid, tasks, &count);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    switch (request->action) {
    case LBX_MOVE_ACTION_START:
    case LBX_MOVE_ACTION_START_UNCHECKED:
        status = move_start(rules, box, tasks, count, request);
        break;
    case LBX_MOVE_ACTION_CANCEL:
        status = move_cancel(rules, box, tasks, count, request);
        break;
    case LBX_MOVE_ACTION_DESCRIBE:
        status = request->index < count ? LBX_OK : LBX_NOT_FOUND;
        if (status == LBX_OK)
            move_report(box, &tasks[count - 1 - request->index], request->ret);
        break;
    default:
        status = LBX_INVALID;
    }
    return lbx__box_record_close_all(rules, status);
}
