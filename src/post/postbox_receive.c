/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving, and looking without receiving.
 *
 * The wait of a receive is its operation's deadline. One that does not wait is
 * answered by the store itself, however long that takes: a call that was never
 * looked at is no empty box.
 */
#include "post/postbox.h"

/* The deadline of a receive that does not wait: it need not ask for the time. */
#define PAST INT64_MIN

/* Gives the letters to the caller; what is more than was asked for goes back. */
static lbx_status
hand_over(lbx_letter *letter, size_t most, lbx_letter **ret, size_t *ret_count)
{
    size_t count = 0;

    for (; letter && count < most; count++) {
        ret[count] = letter;
        letter = letter->next;
        ret[count]->next = NULL;
    }
    lbx__letter_undo(letter);
    *ret_count = count;
    return count > 0 ? LBX_OK : LBX_EMPTY;
}

/* W-39: all that were leased stay so. */
static bool
is_decodable(lbx_letter *letter)
{
    for (; letter; letter = letter->next) {
        if (!lbx_letter_is_decodable(letter))
            return false;
    }
    return true;
}

static lbx_letter *
take_letters(lbx__called *called)
{
    lbx_letter *first = called->first;

    called->first = NULL;
    called->last = NULL;
    return first;
}

/* How long it may wait; negative: for ever. */
static int64_t
time_left(const lbx__op *op)
{
    int64_t now;

    if (op->deadline_ns == LBX_FOREVER)
        return -1;
    if (op->deadline_ns == PAST)
        return 0;
    now = lbx_clock_now(op->clock);
    return op->deadline_ns > now ? op->deadline_ns - now : 0;
}

static lbx_status
begin(lbx__op *op)
{
    lbx_receive_request *request = &lbx__called_of(op)->u.receive.request;
    lbx_postbox *postbox = lbx__postbox_of(op);

    *lbx__called_of(op)->u.receive.ret_count = 0;
    if (lbx__postbox_closed(postbox))
        return LBX_CLOSED;
    request->wait_ns = time_left(op);
    if (request->wait_ns == 0)
        op->poll_by_ns = LBX_FOREVER;
    lbx__called_next(op, postbox->store, LBX_VERB_RECEIVE, request);
    return LBX_PENDING;
}

static lbx_status
receive_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);
    lbx_letter *letters;

    if (last == LBX_PENDING)
        return begin(op);
    letters = take_letters(called);
    if (last != LBX_OK) {
        lbx__letter_destroy_all(letters);
        return lbx__postbox_heard(postbox, last);
    }
    if (called->gave_up == LBX_CANCELLED) { // F7
        lbx__letter_undo(letters);
        return LBX_CANCELLED;
    }
    if (postbox->options.wink && !is_decodable(letters)) {
        lbx__letter_destroy_all(letters);
        return LBX_ENCODING;
    }
    return hand_over(letters, called->u.receive.request.letters_most,
                     called->u.receive.ret, called->u.receive.ret_count);
}

static void
drop_nothing(lbx__op *op)
{
    (void)op;
}

static const lbx__steps receive_steps =
    LBX__STEPS(receive_step, drop_nothing, LBX_EMPTY, true, true);

/* The nearer of 1 and LBX_BATCH_MOST. */
static uint32_t
clamp(uint32_t letters)
{
    return letters < 1                ? 1
           : letters > LBX_BATCH_MOST ? LBX_BATCH_MOST
                                      : letters;
}

/* OK, and the request and the deadline. */
static lbx_status
read_options(const lbx_postbox *postbox, const lbx_receive_options *options,
             lbx_receive_request *ret, int64_t *ret_deadline_ns)
{
    const lbx_box_options *rules = &postbox->rules;
    const lbx_clock *clock = lbx__store_own_of(postbox->store)->clock;
    const int64_t lease =
        options->lease_ns == LBX_DEFAULT ? rules->lease_ns : options->lease_ns;
    const int64_t wait =
        options->wait_ns == LBX_DEFAULT ? rules->wait_ns : options->wait_ns;

    if (options->version != LBX_RECEIVE_OPTIONS_VERSION || lease < 0 ||
        lease > rules->limits.lease_most_ns ||
        (wait < 0 && (postbox->options.wink ||
                      rules->limits.wait_most_ns != LBX_UNLIMITED)) ||
        wait > rules->limits.wait_most_ns)
        return LBX_INVALID;
    *ret = (lbx_receive_request){
        .box = postbox->box,
        .letters_most = clamp(options->letters_most),
        .letters_least = clamp(options->letters_least),
        .lease_ns = lease,
        .attempt_id = options->attempt_id,
    };
    if (ret->letters_least > ret->letters_most)
        ret->letters_least = ret->letters_most;
    *ret_deadline_ns = wait == 0 ? PAST : lbx_deadline_after(clock, wait);
    return LBX_OK;
}

static lbx_status
start(lbx__op *op, lbx_postbox *postbox, const lbx_receive_options *options,
      lbx_letter **ret_letters, size_t *ret_count)
{
    static const lbx_receive_options defaults = LBX_RECEIVE_OPTIONS_INIT;
    lbx_receive_request request;
    int64_t deadline;
    lbx_status status;

    if (!op || !postbox || !ret_letters || !ret_count)
        return LBX_INVALID;
    *ret_count = 0;
    status = read_options(postbox, options ? options : &defaults, &request,
                          &deadline);
    if (status != LBX_OK)
        return status;
    lbx__postbox_op(op, &receive_steps, postbox, deadline);
    lbx__called_of(op)->u.receive.request = request;
    lbx__called_of(op)->u.receive.ret = ret_letters;
    lbx__called_of(op)->u.receive.ret_count = ret_count;
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
    status = start(op, postbox, options, ret_letters, ret_count);
    if (status == LBX_OK)
        lbx__called_of(op)->keeps = lbx_postbox_ref(postbox);
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
    status =
        start(lbx__op_of(&operation), postbox, options, ret_letters, ret_count);
    return status == LBX_OK ? lbx__called_run(lbx__op_of(&operation)) : status;
}

lbx_status
lbx_postbox_receive(lbx_postbox *postbox, int64_t wait_ns, lbx_letter **ret)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    size_t count;

    options.wait_ns = wait_ns;
    return lbx_postbox_receive_batch(postbox, &options, ret, &count);
}

/* Looking. */

static lbx_status
peek_step(lbx__op *op, lbx_status last)
{
    lbx__called *called = lbx__called_of(op);
    lbx_postbox *postbox = lbx__postbox_of(op);

    if (last == LBX_PENDING) {
        if (lbx__postbox_closed(postbox))
            return LBX_CLOSED;
        lbx__called_next(op, postbox->store, LBX_VERB_PEEK, called->u.box.job);
        return LBX_PENDING;
    }
    return lbx__postbox_heard(postbox, last);
}

static const lbx__steps peek_steps =
    LBX__STEPS(peek_step, drop_nothing, LBX_TIMEOUT, true, false);

lbx_status
lbx_postbox_peek(lbx_postbox *postbox, uint64_t from, size_t letters_most,
                 lbx_letter **ret_letters, size_t *ret_count)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx_peek_request request;
    lbx_letter *letters;
    lbx_status status;

    if (!postbox || !ret_letters || !ret_count || letters_most < 1 ||
        letters_most > UINT32_MAX)
        return LBX_INVALID;
    *ret_count = 0;
    request = (lbx_peek_request){
        .box = postbox->box,
        .from = from,
        .letters_most = (uint32_t)letters_most,
    };
    lbx__postbox_op(op, &peek_steps, postbox, LBX_FOREVER);
    lbx__called_of(op)->u.box.job = &request;
    status = lbx__called_run(op);
    letters = take_letters(lbx__called_of(op));
    if (status != LBX_OK) {
        lbx__letter_destroy_all(letters);
        return status;
    }
    return hand_over(letters, letters_most, ret_letters, ret_count);
}
