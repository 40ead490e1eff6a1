/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving letters, and reading them without a lease (peek).
 *
 * The wait of a receive is the deadline of its operation. A receive that does
 * not wait has no deadline: it returns what the store returns, however long
 * that takes, because a call that was cut short does not mean an empty box.
 */
#include "post/postbox.h"

#include "base/sized.h"
#include "base/time.h"

/* The deadline of a receive that does not wait: no clock is read. A negative
 * one would be LBX_FOREVER (lbx__op_set_deadline()). */
#define RECEIVE_NO_WAIT (LBX_FOREVER - 1)

/* Returns the letters to the caller; letters over `max` are put back. */
static lbx_status
receive_return(lbx_letter *letter, size_t max, lbx_letter **ret,
               size_t *ret_count)
{
    size_t count = 0;

    for (; letter && count < max; count++) {
        ret[count] = letter;
        letter = letter->next;
        ret[count]->next = NULL;
    }
    if (letter)
        lbx__letter_undo(letter);
    *ret_count = count;
    return count > 0 ? LBX_OK : LBX_EMPTY;
}

/* All of a batch must be decodable; otherwise all stay leased. */
static bool
receive_decodable(lbx_letter *letter)
{
    for (; letter; letter = letter->next) {
        if (!lbx_letter_is_decodable(letter))
            return false;
    }
    return true;
}

static lbx_letter *
receive_take(lbx__call_op *call_op)
{
    lbx_letter *first = call_op->first;

    call_op->first = NULL;
    call_op->last = NULL;
    return first;
}

/* How long the receive may wait; negative: for ever. */
static int64_t
receive_time_left(const lbx__op *op)
{
    if (op->deadline_ns == LBX_FOREVER || op->deadline_ns == RECEIVE_NO_WAIT)
        return op->deadline_ns == LBX_FOREVER ? -1 : 0;
    return lbx__time_left(op->deadline_ns, lbx_clock_now(op->clock));
}

static lbx_status
receive_begin(lbx__op *op)
{
    lbx_receive_request *request = &lbx__call_op_of(op)->u.receive.request;
    lbx_postbox *postbox = lbx__postbox_of(op);

    *lbx__call_op_of(op)->u.receive.ret_count = 0;
    if (lbx__postbox_closed(postbox))
        return LBX_CLOSED;
    request->wait_ns = receive_time_left(op);
    if (request->wait_ns == 0)
        op->poll_by_ns = LBX_FOREVER;
    lbx__call_op_next(op, postbox->store, LBX_CALL_RECEIVE, request);
    return LBX_PENDING;
}

static lbx_status
postbox_receive_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    lbx_letter *letters;

    if (last == LBX_PENDING)
        return receive_begin(op);
    letters = receive_take(call_op);
    if (last != LBX_OK) {
        lbx__letter_destroy_all(letters);
        return lbx__postbox_note_status(postbox, last);
    }
    if (call_op->cancelled == LBX_CANCELLED) { // CALL-3
        lbx__letter_undo(letters);
        return LBX_CANCELLED;
    }
    if (postbox->options.refuse_undecodable && !receive_decodable(letters)) {
        lbx__letter_destroy_all(letters);
        return LBX_ENCODING;
    }
    return receive_return(letters, call_op->u.receive.request.max_letters,
                          call_op->u.receive.ret, call_op->u.receive.ret_count);
}

static void
receive_drop(lbx__op *op)
{
    (void)op;
}

static const lbx__call_steps receive_steps =
    LBX__CALL_STEPS(postbox_receive_step, receive_drop, LBX_EMPTY, true, true);

/* `letters`, limited to 1 to LBX_MAX_BATCH. */
static uint32_t
receive_clamp(uint32_t letters)
{
    return letters < 1 ? 1 : letters > LBX_MAX_BATCH ? LBX_MAX_BATCH : letters;
}

/* OK, with the request and the deadline; INVALID. */
static lbx_status
receive_read_options(const lbx_postbox *postbox,
                     const lbx_receive_options *options,
                     lbx_receive_request *ret, int64_t *ret_deadline_ns)
{
    const lbx_box_options *rules = &postbox->rules;
    const lbx_clock *clock = lbx__store_private_of(postbox->store)->clock;
    const int64_t lease =
        options->lease_ns == LBX_DEFAULT ? rules->lease_ns : options->lease_ns;
    const int64_t wait =
        options->wait_ns == LBX_DEFAULT ? rules->wait_ns : options->wait_ns;

    if (lease < 0 || lease > rules->limits.max_lease_ns ||
        (wait < 0 && (postbox->options.refuse_endless_wait ||
                      rules->limits.max_wait_ns != LBX_UNLIMITED)) ||
        wait > rules->limits.max_wait_ns)
        return LBX_INVALID;
    *ret = (lbx_receive_request){
        .box = postbox->box,
        .max_letters = receive_clamp(options->max_letters),
        .min_letters = receive_clamp(options->min_letters),
        .lease_ns = lease,
        .attempt_id = options->attempt_id,
    };
    if (ret->min_letters > ret->max_letters)
        ret->min_letters = ret->max_letters;
    *ret_deadline_ns =
        wait == 0 ? RECEIVE_NO_WAIT : lbx_deadline_after(clock, wait);
    return LBX_OK;
}

LBX__SIZED(receive_options_sized, lbx_receive_options, attempt_id,
           LBX_RECEIVE_OPTIONS_INIT);

static lbx_status
receive_start(lbx__op *op, lbx_postbox *postbox,
              const lbx_receive_options *options, lbx_letter **ret_letters,
              size_t *ret_count)
{
    lbx_receive_options own;
    lbx_receive_request request;
    int64_t deadline;
    lbx_status status;

    if (!op || !postbox || !ret_letters || !ret_count)
        return LBX_INVALID;
    *ret_count = 0;
    options = lbx__sized_view(options, &own, &receive_options_sized, NULL);
    if (!options)
        return LBX_INVALID;
    status = receive_read_options(postbox, options, &request, &deadline);
    if (status != LBX_OK)
        return status;
    lbx__postbox_op(op, &receive_steps, postbox, deadline);
    lbx__call_op_of(op)->u.receive.request = request;
    lbx__call_op_of(op)->u.receive.ret = ret_letters;
    lbx__call_op_of(op)->u.receive.ret_count = ret_count;
    return LBX_OK;
}

lbx_status
lbx_postbox_receive_init(lbx_operation *operation, lbx_postbox *postbox,
                         const lbx_receive_options *options,
                         lbx_letter **ret_letters, size_t *ret_count)
{
    lbx__op *op = lbx__op_of(operation);
    lbx_status status;

    if (postbox && postbox->options.send_only)
        return LBX_UNSUPPORTED;
    status = receive_start(op, postbox, options, ret_letters, ret_count);
    if (status == LBX_OK)
        lbx__call_op_of(op)->keeps = lbx__postbox_hold(postbox);
    return status;
}

lbx_status
lbx_postbox_receive_batch(lbx_postbox *postbox,
                          const lbx_receive_options *options,
                          lbx_letter **ret_letters, size_t *ret_count)
{
    lbx_operation operation;
    lbx_status status;

    if (postbox && postbox->options.send_only) {
        if (ret_count)
            *ret_count = 0;
        return LBX_UNSUPPORTED;
    }
    status = receive_start(lbx__op_of(&operation), postbox, options,
                           ret_letters, ret_count);
    return status == LBX_OK ? lbx__call_op_run(lbx__op_of(&operation)) : status;
}

lbx_status
lbx_postbox_receive(lbx_postbox *postbox, int64_t wait_ns, lbx_letter **ret)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    size_t count;

    options.wait_ns = wait_ns;
    return lbx_postbox_receive_batch(postbox, &options, ret, &count);
}

/* ---- Peek ---- */

static lbx_status
peek_step(lbx__op *op, lbx_status last)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);

    if (last == LBX_PENDING) {
        if (lbx__postbox_closed(postbox))
            return LBX_CLOSED;
        lbx__call_op_next(op, postbox->store, LBX_CALL_PEEK,
                          call_op->u.box.job);
        return LBX_PENDING;
    }
    return lbx__postbox_note_status(postbox, last);
}

static const lbx__call_steps peek_steps =
    LBX__CALL_STEPS(peek_step, receive_drop, LBX_TIMEOUT, true, false);

lbx_status
lbx_postbox_peek(lbx_postbox *postbox, uint64_t from, size_t max_letters,
                 lbx_letter **ret_letters, size_t *ret_count)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx_peek_request request;
    lbx_letter *letters;
    lbx_status status;

    if (!postbox || !ret_letters || !ret_count || max_letters < 1 ||
        max_letters > UINT32_MAX)
        return LBX_INVALID;
    *ret_count = 0;
    request = (lbx_peek_request){
        .box = postbox->box,
        .from = from,
        .max_letters = (uint32_t)max_letters,
    };
    lbx__postbox_op(op, &peek_steps, postbox, LBX_FOREVER);
    lbx__call_op_of(op)->u.box.job = &request;
    status = lbx__call_op_run(op);
    letters = receive_take(lbx__call_op_of(op));
    if (status != LBX_OK) {
        lbx__letter_destroy_all(letters);
        return status;
    }
    return receive_return(letters, max_letters, ret_letters, ret_count);
}
