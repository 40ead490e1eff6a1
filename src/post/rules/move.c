/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves: letters that go from one box to another, a few at a time.
 *
 * A task is a row, {from, number}; the last ten of a box are kept. It is stepped
 * by whoever has the store open: a step is part of a group, and groups of all
 * processes come one after the other, so that no task needs an owner. Its pace
 * is the store's time: by now, so many should have been moved.
 *
 * It takes what is ready, in the order it would be received, and ends when
 * nothing is. A letter gets a new id and starts with no deliveries; it is a new
 * letter of the other box, but for its content.
 *
 * M1  One letter is in one box at every commit.
 * M2  One task at most runs for a box.
 */
#include "post/rules/internal.h"

#include <string.h>

enum {
    TASK_BYTES = 64,
    KEPT_MOST = 10
};

struct task {
    uint64_t from, number;
    uint64_t to; /* 0: where each came from */
    int64_t rate;
    int64_t started_ns, started_ms;
    uint64_t moved;
    lbx_move_phase phase;
    lbx_status reason;
};

static void
write_task(lbx__rules *rules, const struct task *task)
{
    const lbx__key key = lbx__key_2(task->from, task->number);
    uint8_t bytes[TASK_BYTES] = {0};
    uint8_t *at = bytes;

    at = lbx__put_le64(at, task->to);
    at = lbx__put_le64(at, (uint64_t)task->rate);
    at = lbx__put_le64(at, (uint64_t)task->started_ns);
    at = lbx__put_le64(at, (uint64_t)task->started_ms);
    at = lbx__put_le64(at, task->moved);
    at = lbx__put_le32(at, (uint32_t)task->phase);
    lbx__put_le32(at, (uint32_t)task->reason);
    lbx__row_put(rules->storage, LBX__TASKS, &key,
                 &(lbx__bytes){bytes, sizeof(bytes)}, 1);
}

/* The first task at `from` or behind it, of one box if `prefix` is 8. */
static lbx_status
seek_task(lbx__rules *rules, const lbx__key *from, size_t prefix,
          struct task *ret)
{
    lbx__bytes at, value;
    const uint8_t *bytes;
    lbx_status status =
        lbx__row_seek(rules->storage, LBX__TASKS, from, prefix, &at, &value);

    if (status != LBX_OK || value.size != TASK_BYTES)
        return status == LBX_OK ? LBX_CORRUPT : status;
    bytes = value.data;
    *ret = (struct task){
        .from = lbx__key_number(at, 0),
        .number = lbx__key_number(at, 1),
        .to = lbx__get_le64(bytes),
        .rate = (int64_t)lbx__get_le64(bytes + 8),
        .started_ns = (int64_t)lbx__get_le64(bytes + 16),
        .started_ms = (int64_t)lbx__get_le64(bytes + 24),
        .moved = lbx__get_le64(bytes + 32),
        .phase = (lbx_move_phase)lbx__get_le32(bytes + 40),
        .reason = (lbx_status)(int32_t)lbx__get_le32(bytes + 44),
    };
    return LBX_OK;
}

/* The tasks of a box, the oldest first. */
static lbx_status
read_tasks(lbx__rules *rules, uint64_t from, struct task ret[KEPT_MOST],
           size_t *ret_count)
{
    uint64_t number = 0;
    lbx_status status = LBX_OK;

    for (*ret_count = 0; *ret_count < KEPT_MOST; ++*ret_count) {
        const lbx__key key = lbx__key_2(from, number);

        status = seek_task(rules, &key, 8, &ret[*ret_count]);
        if (status != LBX_OK)
            break;
        number = ret[*ret_count].number + 1;
    }
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

void
lbx__move_forget(lbx__rules *rules, uint64_t uid)
{
    lbx__key from = lbx__key_2(uid, 0);
    struct task task;

    while (seek_task(rules, &from, 8, &task) == LBX_OK) {
        const lbx__key key = lbx__key_2(task.from, task.number);

        lbx__row_drop(rules->storage, LBX__TASKS, &key);
        from = lbx__key_2(uid, task.number + 1);
    }
}

/* ---- A step ---- */

/* The letter that is next, whatever the box. */
static lbx_status
next_letter(lbx__rules *rules, lbx__box_record *head, lbx__letter_record *ret)
{
    lbx_status status = lbx__sweep(rules, head);

    if (status != LBX_OK)
        return status;
    return head->facts->options.fifo ? lbx__group_next(rules, head, ret)
                                     : lbx__receive_next(rules, head, ret);
}

/* Where a letter goes: OK; NOT_FOUND; INVALID: the same box, or one that is not of
 * the same order. */
static lbx_status
find_target(lbx__rules *rules, const struct task *task,
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

/* M1. */
static lbx_status
move_letter(lbx__rules *rules, lbx__box_record *from,
            lbx__letter_record *letter, lbx__box_record *to)
{
    const bool fifo = from->facts->options.fifo;
    lbx__need need = {.count = 0};
    lbx_sent_letter sent;
    lbx__sending posting = {.head = to, .sent = &sent};
    lbx_status status;

    if (fifo)
        lbx__group_need_requeue(&need);
    status =
        lbx__send_prepare_moved(rules, &posting, &letter->body.parcel, &need);
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
    lbx__send_write(rules, &posting);
    return LBX_OK;
}

static lbx_status
fail(struct task *task, lbx_status reason)
{
    task->phase = LBX_MOVE_PHASE_FAILED;
    task->reason = reason;
    return LBX_OK;
}

/* One letter of a task. OK: moved; NOT_FOUND: there is none. A task that cannot
 * go on is failed, and that is OK. */
static lbx_status
step(lbx__rules *rules, struct task *task)
{
    lbx__box_record *from, *to;
    lbx__letter_record letter;
    lbx_status status =
        lbx__box_record_open(rules, (lbx_box){task->from}, &from);

    if (status != LBX_OK)
        return status == LBX_CLOSED ? LBX_CORRUPT : status;
    status = next_letter(rules, from, &letter);
    if (status == LBX_CORRUPT && rules->damaged)
        return fail(task, status); // what could be moved has been
    if (status == LBX_OK)
        status = lbx__letter_record_copy(rules, &letter);
    if (status != LBX_OK)
        return status;
    status = find_target(rules, task, from, &letter, &to);
    if (status == LBX_OK)
        status = move_letter(rules, from, &letter, to);
    if (status == LBX_OK)
        task->moved++;
    if (status == LBX_NOT_FOUND || status == LBX_FULL || status == LBX_INVALID)
        return fail(task, status);
    return status;
}

/* When the next letter may go. */
static int64_t
next_due(const struct task *task)
{
    const uint64_t seconds =
        task->rate > 0 ? task->moved / (uint64_t)task->rate : 0;
    const uint64_t rest =
        task->rate > 0 ? task->moved % (uint64_t)task->rate : 0;
    int64_t due = task->started_ns;

    if (task->rate > 0) {
        due = lbx__later(due, (int64_t)(seconds * LBX_SECOND));
        due = lbx__later(due,
                         (int64_t)(rest * LBX_SECOND / (uint64_t)task->rate));
    }
    return due;
}

static lbx_status
run(lbx__rules *rules, struct task *task, uint32_t *budget, int64_t *ret_due)
{
    const uint64_t moved = task->moved;
    lbx_status status = LBX_OK;

    while (*budget > 0 && task->phase == LBX_MOVE_PHASE_RUNNING) {
        if (next_due(task) > rules->now)
            break;
        status = step(rules, task);
        (void)lbx__box_record_close_all(rules, LBX_OK); // sources may be many
        if (status == LBX_NOT_FOUND)
            task->phase = LBX_MOVE_PHASE_COMPLETED;
        else if (status != LBX_OK)
            break;
        (*budget)--;
    }
    // Only what changed: other processes are told of each write, and look.
    if (task->moved != moved || task->phase != LBX_MOVE_PHASE_RUNNING)
        write_task(rules, task);
    if (task->phase == LBX_MOVE_PHASE_RUNNING && next_due(task) < *ret_due)
        *ret_due = next_due(task);
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

lbx_status
lbx__move_step(lbx__rules *rules, uint32_t *budget, int64_t *ret_due)
{
    lbx__key from = lbx__key_2(0, 0);
    lbx_status status;
    struct task task;

    while ((status = seek_task(rules, &from, 0, &task)) == LBX_OK) {
        from = lbx__key_2(task.from, task.number + 1);
        if (task.phase == LBX_MOVE_PHASE_RUNNING)
            status = run(rules, &task, budget, ret_due);
        if (status != LBX_OK)
            return status;
    }
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

/* ---- The verb ---- */

static void
tell(const lbx__box_record *head, const struct task *task,
     lbx_move_progress *ret)
{
    *ret = (lbx_move_progress){
        .task = task->number,
        .phase = task->phase,
        .reason = task->reason,
        .moved = task->moved,
        .left = head->letters,
        .started_ms = task->started_ms,
    };
}

/* Whether the first letter of a move has somewhere to go, as far as that can be
 * known before it goes. A task that is going to fail is better not begun: its
 * state is looked at by few. */
static lbx_status
check_first(lbx__rules *rules, lbx__box_record *head, const struct task *task)
{
    lbx__box_record *to;
    lbx__letter_record letter;
    lbx_status status = next_letter(rules, head, &letter);

    if (status == LBX_NOT_FOUND)
        return LBX_OK; // nothing to do, and that is done
    if (status == LBX_OK)
        status = lbx__letter_record_decode(rules, &letter);
    return status == LBX_OK ? find_target(rules, task, head, &letter, &to)
                            : status;
}

static lbx_status
start(lbx__rules *rules, lbx__box_record *head, const struct task *tasks,
      size_t count, lbx_move_request *request)
{
    lbx__need need = {.count = 0};
    lbx__box_record *to = NULL;
    lbx_status status = LBX_OK;
    struct task task = {
        .from = head->uid,
        .to = request->to.uid,
        .rate = request->letters_per_second,
        .started_ns = rules->now,
        .started_ms = rules->options.wall_ms(rules->options.wall_context),
    };

    if (count > 0 && tasks[count - 1].phase == LBX_MOVE_PHASE_RUNNING)
        return LBX_BUSY; // M2
    if (request->letters_per_second < 0)
        return LBX_INVALID;
    if (request->to.uid != 0)
        status = lbx__box_record_open(rules, request->to, &to);
    if (status == LBX_CLOSED)
        status = LBX_NOT_FOUND;
    if (status == LBX_OK && to &&
        (to == head || to->facts->options.fifo != head->facts->options.fifo))
        status = LBX_INVALID;
    if (status == LBX_OK && !to)
        status = check_first(rules, head, &task);
    lbx__need_row(&need, 16, TASK_BYTES);
    if (status == LBX_OK)
        status = lbx__storage_reserve(rules->storage, need.sizes, need.count,
                                      LBX__SHRINKS);
    if (status == LBX_OK)
        status = lbx__rules_number(rules, &task.number);
    if (status != LBX_OK)
        return status;
    if (count == KEPT_MOST) {
        const lbx__key oldest = lbx__key_2(head->uid, tasks[0].number);

        lbx__row_drop(rules->storage, LBX__TASKS, &oldest);
    }
    write_task(rules, &task);
    tell(head, &task, &request->ret);
    return LBX_OK;
}

static lbx_status
cancel(lbx__rules *rules, const lbx__box_record *head, struct task *tasks,
       size_t count, lbx_move_request *request)
{
    if (count == 0 || tasks[count - 1].phase != LBX_MOVE_PHASE_RUNNING)
        return LBX_NOT_FOUND;
    tasks[count - 1].phase = LBX_MOVE_PHASE_CANCELLED;
    write_task(rules, &tasks[count - 1]);
    tell(head, &tasks[count - 1], &request->ret);
    return LBX_OK;
}

lbx_status
lbx__move_apply(lbx__rules *rules, lbx_move_request *request)
{
    struct task tasks[KEPT_MOST];
    size_t count;
    lbx__box_record *head;
    lbx_status status;

    lbx__rules_start(rules);
    status = lbx__box_record_open(rules, request->from, &head);
    if (status == LBX_CLOSED)
        status = LBX_NOT_FOUND;
    if (status == LBX_OK)
        status = lbx__sweep_age(rules, head);
    if (status == LBX_OK)
        status = read_tasks(rules, head->uid, tasks, &count);
    if (status != LBX_OK)
        return lbx__box_record_close_all(rules, status);
    switch (request->action) {
    case LBX_MOVE_ACTION_START:
        status = start(rules, head, tasks, count, request);
        break;
    case LBX_MOVE_ACTION_CANCEL:
        status = cancel(rules, head, tasks, count, request);
        break;
    case LBX_MOVE_ACTION_DESCRIBE:
        status = request->index < count ? LBX_OK : LBX_NOT_FOUND;
        if (status == LBX_OK)
            tell(head, &tasks[count - 1 - request->index], &request->ret);
        break;
    default:
        status = LBX_INVALID;
    }
    return lbx__box_record_close_all(rules, status);
}
