/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MailboxConfigSpec, its queue half, for every kind of A-10
 * and 2.4: what Akka's mailboxes promise about their queues.
 *
 * Akka's words in ours: push timeout is BLOCK with wait_ns and then
 * DROP_NEWEST; dead letters are a mailbox that keeps envelopes; enqueue is
 * lbx_producer_send(), dequeue is lbx_consumer_try_receive().
 */
#include "fixture.h"
#include <letterbox/compat/akka.h>

static int sender; // its address stands for one
static int owner;  // the actor that the mailbox belongs to

// A mailbox as Akka would make it, with its dead letters.
struct cell {
    struct box box;
    struct box dead;
};

static struct cell
cell_make(const char *kind, int64_t capacity, int64_t push_timeout_ns,
          const lbx_clock *clock)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    lbx_mailbox_options keep = envelope_options();
    struct cell cell = {.dead = box_make(LBX_KIND_UNBOUNDED, &keep)};

    if (kind_is_limited(kind))
        options.capacity_messages = capacity;
    options.wait_ns = push_timeout_ns;
    options.owner = &owner;
    options.clock = clock;
    options.dead_letters = cell.dead.in;
    cell.box = box_make(kind, &options);
    return cell;
}

static void
cell_end(struct cell *cell)
{
    box_end(&cell->box);
    box_end(&cell->dead);
}

// "create an unbounded / a bounded mailbox": it is empty.
static void
is_created_empty(const char *kind)
{
    struct cell cell = cell_make(kind, 10, 10 * LBX_MS, NULL);

    CHECK(lbx_mailbox_is_empty(cell.box.mailbox));
    CHECK_INT(0, lbx_mailbox_depth(cell.box.mailbox));
    CHECK_NOTHING(&cell.box);
    CHECK(!lbx_mailbox_is_closed(cell.box.mailbox));
    cell_end(&cell);
}

EVERY_KIND(KIND_CITING, "A-10", is_created_empty)

// "numberOfMessages must be consistent with queue size", 100 in, 100 out.
static void
counts_its_messages_consistently(const char *kind)
{
    struct cell cell = cell_make(kind, 1000, 10 * LBX_SECOND, NULL);

    for (int i = 1; i <= 100; i++) {
        CHECK_OK(lbx_producer_send(cell.box.in, letter(i)));
        CHECK_INT(i, lbx_mailbox_depth(cell.box.mailbox));
        CHECK(!lbx_mailbox_is_empty(cell.box.mailbox));
    }
    for (int i = 99; i >= 0; i--) {
        CHECK_INT(100 - i, box_next(&cell.box));
        CHECK_INT(i, lbx_mailbox_depth(cell.box.mailbox));
        CHECK_INT(i == 0, lbx_mailbox_is_empty(cell.box.mailbox));
    }
    cell_end(&cell);
}

EVERY_KIND(KIND_CITING, "A-10 R-41", counts_its_messages_consistently)

// "create a bounded mailbox with 10 capacity and with push timeout": the 11th
// becomes a dead letter with sender and recipient, then dequeue leaves 9.
static void
sends_the_eleventh_to_dead_letters(const char *kind)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    struct cell cell = cell_make(kind, 10, 10 * LBX_MS, &clock);
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(11));
    lbx_operation send;

    box_send_numbers(&cell.box, 1, 10);
    CHECK_INT(10, lbx_mailbox_depth(cell.box.mailbox));

    envelope.sender = &sender;
    CHECK_OK(lbx_producer_send_envelope_init(&send, cell.box.in, &envelope,
                                             LBX_FOREVER, NULL));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
    test_clock_advance(&time, 10 * LBX_MS);
    CHECK_OK(lbx_operation_poll(&send, NULL)); // the sender sees nothing
    lbx_operation_fini(&send);

    CHECK_OK(lbx_consumer_try_receive_envelope(cell.dead.out, &envelope));
    CHECK_INT(11, number_of(envelope.message));
    CHECK_PTR(&sender, envelope.sender);
    CHECK_PTR(&owner, envelope.recipient);
    CHECK_INT(LBX_LOSS_DROPPED_NEWEST, envelope.lost);
    CHECK_NOTHING(&cell.dead);

    CHECK_INT(10, lbx_mailbox_depth(cell.box.mailbox));
    CHECK_INT(1, box_next(&cell.box));
    CHECK_INT(9, lbx_mailbox_depth(cell.box.mailbox));
    cell_end(&cell);
}

LIMITED_KINDS(KIND_CITING, "A-25 R-20", sends_the_eleventh_to_dead_letters)

// "dequeue what was enqueued properly for bounded mailboxes with zero
// pushTimeout": 20 in, 10 out, 10 dead letters.
static void
with_zero_timeout_loses_what_does_not_fit(const char *kind)
{
    struct cell cell = cell_make(kind, 10, 0, NULL);

    for (int i = 1; i <= 20; i++)
        CHECK_OK(lbx_producer_send(cell.box.in, letter(i)));
    CHECK_RECEIVES(&cell.box, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    CHECK_RECEIVES(&cell.dead, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
    cell_end(&cell);
}

LIMITED_KINDS(KIND_CITING, "A-25", with_zero_timeout_loses_what_does_not_fit)

// ---- 10,000 messages, producers of 500, four consumers ----

enum {
    MESSAGES = 10000,
    PER_PRODUCER = 500,
    SENDERS = MESSAGES / PER_PRODUCER,
    RECEIVERS = 4,
};

struct traffic {
    struct cell cell;
    unsigned receivers;
    _Atomic int sending;
    _Atomic unsigned char seen[MESSAGES];
};

static void
take_part(unsigned index, void *context)
{
    struct traffic *traffic = context;
    void *message = NULL;

    if (index < traffic->receivers) {
        while (lbx_consumer_receive(traffic->cell.box.out, &message) == LBX_OK)
            atomic_fetch_add(&traffic->seen[number_of(message)], 1);
        return;
    }
    for (int i = 0; i < PER_PRODUCER; i++) {
        int number = (int)(index - traffic->receivers) * PER_PRODUCER + i;

        CHECK_OK(lbx_producer_send(traffic->cell.box.in, letter(number)));
    }
    if (atomic_fetch_sub(&traffic->sending, 1) == 1)
        CHECK_OK(lbx_mailbox_close(traffic->cell.box.mailbox, LBX_CLOSE_DRAIN));
}

static void
run_traffic(const char *kind, int64_t capacity, int64_t push_timeout_ns)
{
    static struct traffic traffic;
    unsigned capabilities = lbx_kind_registry_capabilities(NULL, kind);

    traffic.cell = cell_make(kind, capacity, push_timeout_ns, NULL);
    traffic.receivers =
        capabilities & LBX_CAPABILITY_MULTI_CONSUME ? RECEIVERS : 1;
    traffic.sending = SENDERS;
    threads_run(traffic.receivers + SENDERS, take_part, &traffic);
    for (int i = 0; i < MESSAGES; i++) {
        if (traffic.seen[i] != 1)
            FAIL("message %d came out %d times", i, traffic.seen[i]);
    }
    CHECK_NOTHING(&traffic.cell.dead);
    cell_end(&traffic.cell);
}

static void
passes_ten_thousand_through_unlimited(const char *kind)
{
    run_traffic(kind, LBX_DEFAULT, 10 * LBX_SECOND);
}

UNLIMITED_KINDS(KIND_CITING, "A-10 MSG-1",
                passes_ten_thousand_through_unlimited)

// "bounded mailbox with infinite push timeout", and small enough to wait.
static void
passes_ten_thousand_waiting_for_ever(const char *kind)
{
    run_traffic(kind, 100, -1);
}

LIMITED_KINDS(KIND_CITING, "A-10 MSG-1", passes_ten_thousand_waiting_for_ever)

// "bounded mailbox with 100 ms push timeout": Akka's is as large as this.
static void
passes_ten_thousand_with_a_short_timeout(const char *kind)
{
    run_traffic(kind, MESSAGES, 100 * LBX_MS);
}

LIMITED_KINDS(KIND_CITING, "A-10 MSG-1",
              passes_ten_thousand_with_a_short_timeout)

// ---- CustomMailboxSpec ----

struct closet {
    lbx_envelope envelopes[8];
    int first;
    int count;
};

static int closets_made;
static void *owner_seen;

static lbx_status
closet_create(void *kind_context, const lbx_mailbox_options *options,
              void **ret_storage)
{
    struct closet *closet = kind_context;

    closets_made++;
    owner_seen = options->owner;
    *ret_storage = closet;
    return LBX_OK;
}

static void
closet_destroy(void *storage)
{
    struct closet *closet = storage;

    CHECK_INT(0, closet->count);
}

static lbx_status
closet_push(void *storage, const lbx_envelope *envelope)
{
    struct closet *closet = storage;

    if (closet->count == 8)
        return LBX_FULL;
    closet->envelopes[(closet->first + closet->count++) % 8] = *envelope;
    return LBX_OK;
}

static bool
closet_pop(void *storage, lbx_envelope *ret)
{
    struct closet *closet = storage;

    if (closet->count == 0)
        return false;
    *ret = closet->envelopes[closet->first];
    closet->first = (closet->first + 1) % 8;
    closet->count--;
    return true;
}

static const lbx_kind_ops closet_ops = {
    .size_bytes = sizeof(lbx_kind_ops),
    .create = closet_create,
    .destroy = closet_destroy,
    .push = closet_push,
    .pop = closet_pop,
};

// "Dispatcher configuration must support custom mailboxType": it is used, and
// is told whose mailbox it is.
TEST_CITING("A-15 A-16", custom_mailbox_type_is_used_and_told_its_owner)
{
    struct closet closet = {.count = 0};
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    lbx_kind_registry *kinds;
    struct box box;

    CHECK_OK(lbx_kind_registry_create(NULL, &kinds));
    CHECK_OK(lbx_kind_registry_add(kinds, "my.Closet", &closet_ops, &closet));
    options.kinds = kinds;
    options.owner = &owner;
    box = box_make("my.Closet", &options);
    CHECK_INT(1, closets_made);
    CHECK_PTR(&owner, owner_seen);
    box_send_numbers(&box, 1, 3);
    CHECK_INT(3, closet.count);
    CHECK_RECEIVES(&box, 1, 2, 3);
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// cleanUp moves everything left into the dead letters with the
// owner as recipient; system messages first.
static void
cleans_up_into_dead_letters(const char *kind)
{
    struct cell cell = cell_make(kind, 10, 0, NULL);
    lbx_envelope envelope;

    box_send_numbers(&cell.box, 2, 4);
    box_send_system(&cell.box, 1);
    CHECK_OK(lbx_mailbox_close(cell.box.mailbox, LBX_CLOSE_DEAD_LETTER));
    for (int number = 1; number <= 4; number++) {
        CHECK_OK(lbx_consumer_try_receive_envelope(cell.dead.out, &envelope));
        CHECK_INT(number, number_of(envelope.message));
        CHECK_PTR(&owner, envelope.recipient);
    }
    CHECK_NOTHING(&cell.dead);
    cell_end(&cell);
}

EVERY_KIND(KIND_CITING, "A-15 A-24", cleans_up_into_dead_letters)

TEST_CITING("A-15", custom_mailbox_type_cleans_up_into_dead_letters)
{
    struct closet closet = {.count = 0};
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    lbx_mailbox_options keep = envelope_options();
    struct box dead = box_make(LBX_KIND_UNBOUNDED, &keep);
    lbx_kind_registry *kinds;
    struct box box;

    CHECK_OK(lbx_kind_registry_create(NULL, &kinds));
    CHECK_OK(lbx_kind_registry_add(kinds, "my.Closet", &closet_ops, &closet));
    options.kinds = kinds;
    options.dead_letters = dead.in;
    box = box_make("my.Closet", &options);
    box_send_numbers(&box, 1, 3);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DEAD_LETTER));
    CHECK_RECEIVES(&dead, 1, 2, 3);
    box_end(&box);
    box_end(&dead);
    lbx_kind_registry_destroy(kinds);
}

// negative is an error; the heap kinds need a positive value.
static void
refuses_capacities_below_one(const char *kind)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    lbx_producer *in;
    lbx_consumer *out;

    options.capacity_messages = -1;
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_create(kind, &options, &in, &out));
    options.capacity_messages = 0;
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_create(kind, &options, &in, &out));
}

LIMITED_KINDS(KIND_CITING, "A-28 R-09", refuses_capacities_below_one)

// ---- Pathological ping-pong, without the actors ----

struct table {
    struct box ping;
    struct box pong;
};

static void
play(unsigned index, void *context)
{
    struct table *table = context;
    struct box *mine = index ? &table->ping : &table->pong;
    struct box *theirs = index ? &table->pong : &table->ping;
    void *message = NULL;

    if (index == 0)
        CHECK_OK(lbx_producer_send(theirs->in, letter(5000)));
    while (lbx_consumer_receive(mine->out, &message) == LBX_OK) {
        if (number_of(message) == 0) {
            (void)lbx_mailbox_close(theirs->mailbox, LBX_CLOSE_DRAIN);
            return;
        }
        CHECK_OK(lbx_producer_send(theirs->in, letter(number_of(message) - 1)));
    }
}

static void
play_ping_pong(const char *kind)
{
    struct cell ping = cell_make(kind, 1, -1, NULL);
    struct cell pong = cell_make(kind, 1, -1, NULL);
    struct table table = {ping.box, pong.box};

    threads_run(2, play, &table);
    cell_end(&ping);
    cell_end(&pong);
}

TEST_CITING("A-10", unbounded_pathological_ping_pong)
{
    play_ping_pong(LBX_KIND_UNBOUNDED);
}

TEST_CITING("A-10", bounded_to_one_pathological_ping_pong)
{
    play_ping_pong(LBX_KIND_BOUNDED);
}
