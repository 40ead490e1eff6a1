/* SPDX-License-Identifier: Apache-2.0 */
/* The shelf: any storage under a lock. */
#include "queue/locked_queue.h"

#include "queue/fixture.h"

/* A storage that does as it is told and holds one envelope. */
static struct {
    lbx_status answer;
    lbx_envelope kept;
    bool full;
    int pushes;
    int fronts;
    int pops;
    int evictions;
    int destroyed;
} puppet;

static lbx_status
puppet_push(void *storage, const lbx_envelope *envelope)
{
    CHECK_PTR(&puppet, storage);
    puppet.pushes++;
    if (puppet.answer == LBX_OK) {
        puppet.kept = *envelope;
        puppet.full = true;
    }
    return puppet.answer;
}

static lbx_status
puppet_push_front(void *storage, const lbx_envelope *envelope)
{
    puppet.fronts++;
    return puppet_push(storage, envelope);
}

static bool
puppet_pop(void *storage, lbx_envelope *ret)
{
    bool found = puppet.full;

    CHECK_PTR(&puppet, storage);
    puppet.pops++;
    puppet.full = false;
    if (found)
        *ret = puppet.kept;
    return found;
}

static bool
puppet_evict(void *storage, lbx_envelope *ret)
{
    puppet.evictions++;
    return puppet_pop(storage, ret);
}

static void
puppet_destroy(void *storage)
{
    CHECK_PTR(&puppet, storage);
    puppet.destroyed++;
}

static const lbx__locked_ops ops = {
    .destroy = puppet_destroy,
    .push = puppet_push,
    .pop = puppet_pop,
    .push_front = puppet_push_front,
    .evict = puppet_evict,
};

static lbx__locked_queue shelf;

static void
make(void)
{
    lbx__locked_queue_init(&shelf, &ops, &puppet);
}

static int
push(uint64_t number)
{
    return lbx__locked_queue_push(&shelf, item_of(number).words, false);
}

static uint64_t
pop(bool evict)
{
    struct item item;
    unsigned notes = 0;

    if (!lbx__locked_queue_pop(&shelf, item.words, evict, &notes))
        return NOTHING;
    return item_number(item.words, LBX__ENVELOPE);
}

static uint64_t
accepted(void)
{
    return lbx__peek(&shelf.accepted);
}

/* FULL from a storage is final, unlike FULL from a capacity; what a storage
 * may not say is a refusal. */
TEST_CITING("MSG-5", statuses_of_a_storage_are_translated)
{
    static const struct {
        lbx_status answer;
        int expected;
    } rows[] = {
        {LBX_OK, 0},
        {LBX_FULL, LBX__STORAGE_FULL},
        {LBX_NO_MEMORY, LBX_NO_MEMORY},
        {LBX_REFUSED, LBX_REFUSED},
        {LBX_INVALID, LBX_REFUSED},
        {LBX_TIMEOUT, LBX_REFUSED},
        {LBX_EMPTY, LBX_REFUSED},
        {(lbx_status)-77, LBX_REFUSED},
        {(lbx_status)5, LBX_REFUSED},
    };

    make();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        puppet.answer = rows[i].answer;
        CHECK_INT(rows[i].expected, push(1));
        puppet.answer = rows[i].answer;
        CHECK_INT(rows[i].expected,
                  lbx__locked_queue_push(&shelf, item_of(1).words, true));
    }
    CHECK_INT(2, accepted()); // a refused one leaves no trace
    CHECK_INT(1, lbx__peek(&shelf.fronts));
    lbx__locked_queue_fini(&shelf);
    CHECK_INT(1, puppet.destroyed);
}

/* A storage that answers CLOSED has not closed the mailbox. */
TEST(closed_from_a_storage_is_a_refusal)
{
    make();
    puppet.answer = LBX_CLOSED;
    CHECK_INT(LBX_REFUSED, push(1));
}

TEST_CITING("LOCKQ-1", closed_shelf_does_not_ask_its_storage)
{
    make();
    CHECK_INT(0, push(1));
    lbx__locked_queue_raise(&shelf, LBX__FLAG_CLOSED);
    CHECK_INT(1, accepted());
    CHECK_INT(LBX_CLOSED, push(2));
    CHECK_INT(LBX_CLOSED,
              lbx__locked_queue_push(&shelf, item_of(2).words, true));
    CHECK_INT(1, puppet.pushes);
    CHECK_INT(1, accepted());
    CHECK_INT(1, pop(false)); // what was accepted is still there
    CHECK_INT(NOTHING, pop(false));
}

TEST_CITING("LOCKQ-1", counts_and_flags_change_with_each_step)
{
    make();
    CHECK_INT(0, push(1));
    lbx__locked_queue_raise(&shelf, LBX__FLAG_WAITING);
    CHECK_INT(1, accepted());
    CHECK_INT(LBX__FLAG_WAITING, push(2));
    lbx__locked_queue_raise(&shelf, LBX__FLAG_OBSERVED);
    CHECK_INT(2, accepted());
    CHECK_INT(LBX__FLAG_WAITING | LBX__FLAG_OBSERVED, push(3));
    lbx__locked_queue_lower(&shelf, LBX__FLAG_WAITING);
    CHECK_INT(LBX__FLAG_OBSERVED, push(4));
    lbx__locked_queue_lower(&shelf, LBX__FLAG_OBSERVED);
    CHECK_INT(0, push(5));
    CHECK_INT(5, accepted());
    CHECK_INT(5, pop(false));
    CHECK_INT(1, lbx__peek(&shelf.taken));
    CHECK_INT(NOTHING, pop(false));
    CHECK_INT(1, lbx__peek(&shelf.taken));
}

/* A storage sees messages as they were sent: NULL is NULL. */
TEST_CITING("MSG-2", envelope_goes_through_a_storage_unchanged)
{
    make();
    CHECK_INT(0, push(0));
    CHECK_PTR(NULL, puppet.kept.message);
    CHECK_INT(0, pop(false));
    CHECK_INT(0, push(12345));
    CHECK_PTR((void *)12345, puppet.kept.message);
    CHECK_INT(12345, pop(false));
}

TEST(eviction_falls_back_on_pop)
{
    make();
    CHECK_INT(0, push(1));
    CHECK_INT(1, pop(true));
    CHECK_INT(1, puppet.evictions);
    shelf.ops.evict = NULL;
    CHECK_INT(0, push(2));
    CHECK_INT(2, pop(true));
    CHECK_INT(NOTHING, pop(true));
    CHECK_INT(1, puppet.evictions);
    CHECK_INT(2, lbx__peek(&shelf.taken));
}

TEST(front_goes_to_the_front)
{
    make();
    CHECK_INT(0, lbx__locked_queue_push(&shelf, item_of(1).words, true));
    CHECK_INT(1, puppet.fronts);
    CHECK_INT(1, lbx__peek(&shelf.fronts));
    CHECK_INT(0, push(2));
    CHECK_INT(1, puppet.fronts);
    CHECK_INT(2, accepted());
}

static void
push_and_pop(unsigned index, void *context)
{
    (void)context;
    for (uint64_t i = 0; i < 3000; i++) {
        CHECK_INT(0, push(index * 10000 + i));
        (void)pop(index % 2);
    }
}

/* The puppet has no lock of its own: ThreadSanitizer would notice. */
TEST_CITING("LOCKQ-1", storage_is_entered_by_one_thread_at_a_time)
{
    make();
    threads_run(3, push_and_pop, NULL);
    CHECK_INT(9000, accepted());
    CHECK_INT(9000, puppet.pushes);
    CHECK_INT(9000, puppet.pops);
    CHECK(lbx__peek(&shelf.taken) <= 9000);
}
