/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a store, as the promises make them. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

/* ---- Ends and deliveries ---- */

/* A call that is not cancelled. */
struct plain {
    lbx_call call; /* first */
    lbx_status status;
    _Atomic int over;
};

static void
finish_plain(lbx_call *call, lbx_status status)
{
    struct plain *plain = (struct plain *)call;

    plain->status = status;
    CHECK(atomic_fetch_add(&plain->over, 1) == 0);
}

static lbx_status
deliver_nothing(lbx_call *call, const lbx_delivery *delivery)
{
    (void)delivery;
    FAIL("a delivery to a call of kind %d", (int)call->kind);
}

static const lbx_call_sink plain_caller = {finish_plain, deliver_nothing};

static void
finish_getting(lbx_call *call, lbx_status status)
{
    struct getting *mine = (struct getting *)call;
    void (*then)(struct getting *) = mine->then;

    CHECK(status != LBX_PENDING);
    mine->status = status;
    if (then)
        then(mine);
    // Last: the waiting thread may reuse it.
    CHECK(atomic_fetch_add(&mine->over, 1) == 0);
}

static void
copy_text(char *to, size_t size, const char *text)
{
    CHECK(!text || strlen(text) < size);
    snprintf(to, size, "%s", text ? text : "");
}

static lbx_status
deliver_getting(lbx_call *call, const lbx_delivery *delivery)
{
    struct getting *mine = (struct getting *)call;
    struct taken *letter = &mine->letters[mine->count];

    CHECK(mine->count < mine->request.max_letters);
    CHECK(atomic_load(&mine->over) == 0);
    CHECK(delivery->parcel.body_bytes < sizeof(letter->body));
    *letter = (struct taken){
        .sequence = delivery->sequence,
        .delivery_count = delivery->delivery_count,
        .receipt_bytes = delivery->receipt_bytes,
    };
    memcpy(letter->body, delivery->parcel.body, delivery->parcel.body_bytes);
    copy_text(letter->id, sizeof(letter->id), delivery->id.text);
    copy_text(letter->group, sizeof(letter->group), delivery->parcel.group);
    copy_text(letter->source, sizeof(letter->source),
              delivery->dead_letter_source);
    CHECK(delivery->receipt_bytes <= sizeof(letter->receipt));
    if (delivery->receipt_bytes > 0)
        memcpy(letter->receipt, delivery->receipt, delivery->receipt_bytes);
    mine->count++;
    return LBX_OK;
}

static const lbx_call_sink getting_caller = {finish_getting, deliver_getting};

lbx_status
run(struct trial *trial, lbx_call_kind kind, void *request)
{
    struct plain plain = {.status = LBX_PENDING};
    lbx_status status;

    lbx_call_init(&plain.call, &plain_caller, kind, request);
    status = backend_start(trial->store, &plain.call);
    if (status != LBX_PENDING) {
        CHECK_INT(0, atomic_load(&plain.over));
        return status;
    }
    EVENTUALLY(atomic_load(&plain.over) > 0);
    return plain.status;
}

void
contract_run(const struct backend *backend,
             void (*promise)(struct trial *trial, lbx_box box))
{
    struct trial trial = {.backend = backend};

    trial.store = backend->open(&trial.context);
    CHECK(trial.store != NULL);
    promise(&trial, make_box(&trial, "orders", NULL));
    backend->close(trial.store, trial.context);
}

void
advance(struct trial *trial, int64_t duration_ns)
{
    trial->backend->advance(trial->store, trial->context, duration_ns);
}

/* ---- Boxes ---- */

lbx_box
make_box(struct trial *trial, const char *name, const lbx_box_options *options)
{
    const lbx_box_options plain = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {
        .name = name,
        .options = options ? options : &plain,
    };

    CHECK_OK(run(trial, LBX_CALL_CREATE, &request));
    CHECK(request.ret_box.uid != 0);
    return request.ret_box;
}

lbx_box_counts
count(struct trial *trial, lbx_box box)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_box_request request = {.box = box, .ret_counts = &counts};

    CHECK_OK(run(trial, LBX_CALL_DESCRIBE, &request));
    return counts;
}

lbx_status
delete_box(struct trial *trial, lbx_box box)
{
    lbx_box_request request = {.box = box};

    return run(trial, LBX_CALL_DELETE, &request);
}

uint64_t
purge(struct trial *trial, lbx_box box)
{
    lbx_box_request request = {.box = box};

    CHECK_OK(run(trial, LBX_CALL_PURGE, &request));
    return request.ret_purged;
}

/* ---- Sending ---- */

lbx_parcel
parcel_of(const char *body)
{
    return (lbx_parcel){.body = body, .body_bytes = strlen(body)};
}

lbx_sent_letter
send_parcel(struct trial *trial, lbx_box box, const lbx_parcel *parcel)
{
    lbx_sent_letter sent = {.status = LBX_PENDING};
    lbx_send_request request = {box, parcel, 1, &sent};

    CHECK_OK(run(trial, LBX_CALL_SEND, &request));
    CHECK_OK(sent.status);
    return sent;
}

lbx_sent_letter
mail(struct trial *trial, lbx_box box, const char *body)
{
    const lbx_parcel parcel = parcel_of(body);

    return send_parcel(trial, box, &parcel);
}

void
mail_each(struct trial *trial, lbx_box box, const char *bodies)
{
    for (; *bodies; bodies++)
        (void)mail(trial, box, (char[]){*bodies, '\0'});
}

void
send_later(struct trial *trial, lbx_box box, const char *body, int64_t delay_ns)
{
    lbx_parcel parcel = parcel_of(body);

    parcel.delay_ns = delay_ns;
    (void)send_parcel(trial, box, &parcel);
}

lbx_status
try_send(struct trial *trial, lbx_box box, const char *body)
{
    const lbx_parcel parcel = parcel_of(body);
    lbx_sent_letter sent = {.status = LBX_PENDING};
    lbx_send_request request = {box, &parcel, 1, &sent};
    const lbx_status status = run(trial, LBX_CALL_SEND, &request);

    CHECK_STATUS(status, sent.status);
    return status;
}

/* ---- Receiving ---- */

static void
prepare(struct getting *mine, struct trial *trial, lbx_box box, uint32_t max)
{
    void (*then)(struct getting *) = mine->then;
    void *context = mine->context;

    *mine = (struct getting){
        .request =
            {
                .box = box,
                .max_letters = max,
                .min_letters = 1,
                .lease_ns = LEASE_NS,
            },
        .trial = trial,
        .status = LBX_PENDING,
        .then = then,
        .context = context,
    };
    lbx_call_init(&mine->call, &getting_caller, LBX_CALL_RECEIVE,
                  &mine->request);
}

/* A status that an entry returns at once finishes the call as well. */
static void
begin(struct getting *mine)
{
    const lbx_status status = backend_start(mine->trial->store, &mine->call);

    if (status != LBX_PENDING)
        finish_getting(&mine->call, status);
}

lbx_status
receive_some(struct trial *trial, lbx_box box, uint32_t max, int64_t lease_ns,
             struct getting *ret)
{
    *ret = (struct getting){.count = 0};
    prepare(ret, trial, box, max);
    ret->request.lease_ns = lease_ns;
    begin(ret);
    return end_wait(ret);
}

struct taken
receive(struct trial *trial, lbx_box box, const char *body)
{
    struct getting mine;

    CHECK_OK(receive_some(trial, box, 1, LEASE_NS, &mine));
    CHECK_INT(1, mine.count);
    CHECK_STR(body, mine.letters[0].body);
    return mine.letters[0];
}

void
receive_each(struct trial *trial, lbx_box box, const char *bodies)
{
    for (; *bodies; bodies++)
        (void)receive(trial, box, (char[]){*bodies, '\0'});
}

static lbx_status
peek_request(struct trial *trial, lbx_peek_request *request,
             struct getting *ret)
{
    *ret = (struct getting){.count = 0};
    prepare(ret, trial, request->box, request->max_letters);
    lbx_call_init(&ret->call, &getting_caller, LBX_CALL_PEEK, request);
    begin(ret);
    return end_wait(ret);
}

lbx_status
peek(struct trial *trial, lbx_box box, uint64_t from, uint32_t max,
     struct getting *ret)
{
    lbx_peek_request request = {.box = box, .from = from, .max_letters = max};

    return peek_request(trial, &request, ret);
}

lbx_status
peek_bytes(struct trial *trial, lbx_box box, uint32_t max_bytes,
           struct getting *ret)
{
    lbx_peek_request request = {
        .box = box, .max_letters = LBX_MAX_BATCH, .max_bytes = max_bytes};

    return peek_request(trial, &request, ret);
}

void
receive_none(struct trial *trial, lbx_box box)
{
    struct getting mine;

    CHECK_STATUS(LBX_EMPTY,
                 receive_some(trial, box, LBX_MAX_BATCH, LEASE_NS, &mine));
    CHECK_INT(0, mine.count);
}

struct taken
mail_and_receive(struct trial *trial, lbx_box box, const char *body)
{
    (void)mail(trial, box, body);
    return receive(trial, box, body);
}

void
consume(struct trial *trial, lbx_box box, const char *body)
{
    const struct taken letter = receive(trial, box, body);

    CHECK_OK(acknowledge(trial, box, &letter));
}

struct taken
receive_after(struct trial *trial, lbx_box box, int64_t duration_ns,
              const char *body)
{
    advance(trial, duration_ns - 1);
    receive_none(trial, box);
    advance(trial, 1);
    return receive(trial, box, body);
}

void
begin_wait(struct getting *getting, struct trial *trial, lbx_box box)
{
    begin_wait_for(getting, trial, box, 1, 1);
}

void
begin_wait_for(struct getting *getting, struct trial *trial, lbx_box box,
               uint32_t max, uint32_t min)
{
    prepare(getting, trial, box, max);
    getting->request.min_letters = min;
    getting->request.wait_ns = -1;
    begin(getting);
}

bool
is_over(struct getting *getting)
{
    return atomic_load(&getting->over) > 0;
}

lbx_status
end_wait(struct getting *getting)
{
    EVENTUALLY(is_over(getting));
    CHECK_INT(1, atomic_load(&getting->over));
    return getting->status;
}

lbx_status
cancel_wait(struct getting *getting)
{
    struct trial *trial = getting->trial;

    trial->store->ops->cancel(trial->store, &getting->call);
    return end_wait(getting);
}

void
got(struct getting *getting, const char *body)
{
    CHECK_OK(end_wait(getting));
    CHECK_INT(1, getting->count);
    CHECK_STR(body, getting->letters[0].body);
}

void
got_after(struct getting *getting, int64_t duration_ns, const char *body)
{
    advance(getting->trial, duration_ns - 1);
    CHECK(!is_over(getting));
    advance(getting->trial, 1);
    got(getting, body);
}

/* ---- Settling ---- */

static lbx_settle_request_entry
entry_of(const struct taken *letter, lbx_settle_action what, int64_t time_ns)
{
    return (lbx_settle_request_entry){
        .action = what,
        .time_ns = time_ns,
        .receipt = letter->receipt,
        .receipt_bytes = letter->receipt_bytes,
        .status = LBX_PENDING,
    };
}

static lbx_status
settle_one(struct trial *trial, lbx_call_kind kind, lbx_box box,
           lbx_settle_request_entry *entry)
{
    lbx_settle_request request = {box, entry, 1};
    const lbx_status status = run(trial, kind, &request);

    CHECK_STATUS(status, entry->status);
    return status;
}

static lbx_status
settle(struct trial *trial, lbx_box box, const struct taken *letter,
       lbx_settle_action what, int64_t time_ns)
{
    lbx_settle_request_entry entry = entry_of(letter, what, time_ns);

    return settle_one(trial, LBX_CALL_SETTLE, box, &entry);
}

lbx_status
acknowledge(struct trial *trial, lbx_box box, const struct taken *letter)
{
    return settle(trial, box, letter, LBX_SETTLE_ACKNOWLEDGE, 0);
}

lbx_status
nack(struct trial *trial, lbx_box box, const struct taken *letter,
     int64_t delay_ns)
{
    return settle(trial, box, letter, LBX_SETTLE_NACK, delay_ns);
}

lbx_status
extend(struct trial *trial, lbx_box box, const struct taken *letter,
       int64_t lease_ns)
{
    return settle(trial, box, letter, LBX_SETTLE_EXTEND, lease_ns);
}

lbx_status
undo(struct trial *trial, lbx_box box, const struct taken *letter)
{
    lbx_settle_request_entry entry = entry_of(letter, LBX_SETTLE_NACK, 0);

    return settle_one(trial, LBX_CALL_UNDO, box, &entry);
}

lbx_status
settle_and_send(struct trial *trial, lbx_box box, const struct taken *letter,
                lbx_box to, const char *body, lbx_sent_letter *ret)
{
    lbx_settle_request_entry entry =
        entry_of(letter, LBX_SETTLE_ACKNOWLEDGE, 0);
    const lbx_parcel parcel = parcel_of(body);
    const lbx_attachment attachment = {to, &parcel, ret};

    *ret = (lbx_sent_letter){.status = LBX_PENDING};
    entry.attachments = &attachment;
    entry.attachment_count = 1;
    return settle_one(trial, LBX_CALL_SETTLE, box, &entry);
}
