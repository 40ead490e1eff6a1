/* SPDX-License-Identifier: Apache-2.0 */
/* Refs: telling, stale refs, paths, senders, order per sender (ACTOR-2). */
#include <stdio.h>
#include <string.h>

#include "actor/fixture.h"

ACTOR_TEST("V-19 A-01", told_messages_arrive_in_order)
{
    part_spawn(a);
    for (int i = 0; i < 8; i++) // 0 is a NULL message: it arrives like any
        lbx_tell(a->self, letter(i));
    CHECK_DIARY(world, "a+ a:0 a:1 a:2 a:3 a:4 a:5 a:6 a:7");
    CHECK_INT(8, atomic_load(&world->ended)); // handled ones are ended once
    CHECK_INT(8, world_stats(world).handled);
    CHECK_INT(8, world_end_count(world));
    CHECK_INT(0, atomic_load(&world->dead_count));
}

ACTOR_TEST("", stale_ref_makes_a_dead_letter)
{
    part_spawn(a);
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "");
    CHECK(!lbx_ref_is_alive(a->self));
    lbx_tell(a->self, letter(5));
    CHECK_INT(1, atomic_load(&world->dead_count)); // at once
    world_check_dead(world, 0, 5, LBX_LOSS_NO_ACTOR);
    CHECK(lbx_ref_equal(a->self, world->dead[0].recipient));
    CHECK_INT(1, atomic_load(&world->ended));
}

// Also when another actor lives under the same name.
ACTOR_TEST("ACTOR-8", stale_ref_never_reaches_the_next_of_that_name)
{
    lbx_ref old;

    old = part_spawn(a);
    lbx_ref_stop(old);
    (void)world_run(world);
    part_spawn(a);
    CHECK(!lbx_ref_equal(old, a->self));
    lbx_tell(old, letter(1));
    lbx_tell(a->self, letter(2));
    CHECK_DIARY(world, "a+ a:2");
    world_check_dead(world, 0, 1, LBX_LOSS_NO_ACTOR);
}

ACTOR_TEST("", try_tell_says_what_happened)
{
    lbx_envelope envelope = lbx_envelope_of(letter(3), 10);
    lbx_envelope strange = envelope;

    part_spawn(a);
    CHECK_OK(lbx_try_tell(a->self, &envelope));
    CHECK_STATUS(LBX_INVALID, lbx_try_tell(a->self, NULL));
    strange.channel = 99;
    CHECK_STATUS(LBX_INVALID, lbx_try_tell(a->self, &strange));
    strange = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_USER), letter(1));
    CHECK_STATUS(LBX_INVALID, lbx_try_tell(a->self, &strange));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_try_tell(lbx_ref_nobody(), &envelope));
    CHECK_DIARY(world, "a+ a:3");
    lbx_ref_stop(a->self);
    (void)world_run(world);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_try_tell(a->self, &envelope));
    world_end(world);
    CHECK_INT(0, atomic_load(&world->dead_count)); // refused ones are ours
    CHECK_INT(1, atomic_load(&world->ended));
}

// The contract's LBX_CLOSED: it waits for its child, and takes nothing more.
ACTOR_TEST("", try_tell_to_an_ending_actor_is_closed)
{
    struct part parent;
    struct part child;
    lbx_envelope envelope = lbx_envelope_of(letter(3), 10);
    lbx_status status;

    part_init(&parent, world, "p");
    part_init(&child, world, "c");
    parent.children[0] = &child;
    part_spawn(&parent);
    CHECK_DIARY(world, "p+ c+");
    lbx_ref_stop(parent.self);
    CHECK_INT(1, world_run_most(world, 1)); // the parent; not yet the child
    CHECK(lbx_ref_is_alive(parent.self));
    status = lbx_try_tell(parent.self, &envelope);
    world_end(world);
    CHECK_STATUS(LBX_CLOSED, status);
}

static void
count_end(void *message, void *context)
{
    (void)message;
    ++*(int *)context;
}

ACTOR_TEST("", telling_nobody_ends_a_typed_message_at_once)
{
    int ended = 0;
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    LOCAL_TYPE(type);

    options.name = "test.Letter";
    options.destroy = count_end;
    options.context = &ended;
    CHECK_OK(lbx_type_create(&options, &type));
    lbx_tell(lbx_ref_nobody(), letter(1));
    lbx_tell_typed(lbx_ref_nobody(), type, letter(2));
    CHECK_INT(1, ended);
    lbx_tell_envelope(lbx_ref_nobody(), NULL);
    lbx_ref_stop(lbx_ref_nobody());
    CHECK(!lbx_ref_is_alive(lbx_ref_nobody()));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_ref_nobody()));
    CHECK_INT(0, atomic_load(&world->dead_count));
    world_end(world);
}

// ---- Paths ----

static lbx_status
note_path(lbx_context *context, struct part *part, void *argument)
{
    char path[64];

    (void)argument;
    CHECK_OK(lbx_ref_path(lbx_context_self(context), path, sizeof(path)));
    world_write(part->world, "%s", path);
    CHECK_OK(lbx_ref_path(lbx_context_parent(context), path, sizeof(path)));
    world_write(part->world, "%s", path);
    return LBX_OK;
}

ACTOR_TEST("", path_names_the_ancestors)
{
    struct part shop;
    struct part till;
    char path[64];

    part_init(&shop, world, "shop");
    part_init(&till, world, "till");
    shop.children[0] = &till;
    part_spawn(&shop);
    CHECK_DIARY(world, "shop+ till+");
    CHECK_OK(lbx_ref_path(till.self, path, sizeof(path)));
    CHECK_STR("/user/shop/till", path);
    bid(&till, note_path, NULL);
    CHECK_DIARY(world, "/user/shop/till /user/shop");
    CHECK_OK(lbx_ref_path(till.self, path, 16));
    memset(path, 'x', sizeof(path));
    CHECK_STATUS(LBX_FULL, lbx_ref_path(till.self, path, 8));
    CHECK_STR("/user/s", path);
    CHECK_STATUS(LBX_INVALID, lbx_ref_path(till.self, NULL, 8));
    CHECK_STATUS(LBX_INVALID, lbx_ref_path(till.self, path, 0));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_ref_path(lbx_ref_nobody(), path, 8));
    lbx_ref_stop(till.self);
    (void)world_run(world);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_ref_path(till.self, path, 8));
    world_end(world); // the actors use what lies on this stack
}

enum {
    DEEP = 8,
    LONG_NAME = 190,
};

// A tree of long names: eight of 190 are more than 1024.
ACTOR_TEST("", deep_path_is_written_whole)
{
    static struct part parts[DEEP];
    static char names[DEEP][LONG_NAME + 1];
    static char path[DEEP * (LONG_NAME + 1) + 16];

    for (int i = 0; i < DEEP; i++) {
        memset(names[i], 'a' + i, LONG_NAME);
        part_init(&parts[i], world, names[i]);
        parts[i].silent = true;
        if (i > 0)
            parts[i - 1].children[0] = &parts[i];
    }
    part_spawn(&parts[0]);
    (void)world_run(world);
    CHECK_OK(lbx_ref_path(parts[DEEP - 1].self, path, sizeof(path)));
    CHECK_INT(5 + DEEP * (LONG_NAME + 1), strlen(path));
    memset(path, 'x', sizeof(path));
    CHECK_STATUS(LBX_FULL, lbx_ref_path(parts[DEEP - 1].self, path, 10));
    CHECK_STR("/user/aaa", path);
}

ACTOR_TEST("", find_goes_down_the_path)
{
    struct part shop;
    struct part till;
    lbx_ref found;

    part_init(&shop, world, "shop");
    part_init(&till, world, "till");
    shop.children[0] = &till;
    part_spawn(&shop);
    CHECK_OK(lbx_system_find(world->system, "/user/shop", &found));
    CHECK(lbx_ref_equal(shop.self, found)); // from the moment it was spawned
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_system_find(world->system, "/user/shop/till", &found));
    (void)world_run(world);
    CHECK_OK(lbx_system_find(world->system, "/user/shop/till", &found));
    CHECK(lbx_ref_equal(till.self, found));
    CHECK_OK(lbx_system_find(world->system, "/user", &found));
    for (unsigned i = 0; i < 8; i++) {
        static const char *const nowhere[] = {
            "",       "/",           "/user/till", "shop",
            "/users", "/user/shop/", "user/shop",  "/user//shop",
        };

        CHECK_STATUS(LBX_NOT_FOUND,
                     lbx_system_find(world->system, nowhere[i], &found));
    }
    CHECK_STATUS(LBX_INVALID, lbx_system_find(NULL, "/user", &found));
    CHECK_STATUS(LBX_INVALID, lbx_system_find(world->system, NULL, &found));
    CHECK_STATUS(LBX_INVALID, lbx_system_find(world->system, "/user", NULL));
    lbx_ref_stop(shop.self);
    (void)world_run(world);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_system_find(world->system, "/user/shop", &found));
    world_end(world); // the actors use what lies on this stack
}

// What lbx_ref_path() says, lbx_system_find() finds.
ACTOR_TEST("", unnamed_actor_is_found_by_its_path)
{
    lbx_props props;
    lbx_ref found;
    char path[64];

    props = part_props(a);
    CHECK_OK(lbx_system_spawn(world->system, &props, NULL, &a->self));
    CHECK_OK(lbx_ref_path(a->self, path, sizeof(path)));
    CHECK_OK(lbx_system_find(world->system, path, &found));
    CHECK(lbx_ref_equal(a->self, found));
}

// Only the whole of it: what merely begins like a path is none.
ACTOR_TEST("", path_like_that_of_an_unnamed_actor_is_not_found)
{
    lbx_props props;
    lbx_ref found;
    char path[64];
    char like[80];

    props = part_props(a);
    CHECK_OK(lbx_system_spawn(world->system, &props, NULL, &a->self));
    CHECK_OK(lbx_ref_path(a->self, path, sizeof(path)));
    snprintf(like, sizeof(like), "%s-and-more", path);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_system_find(world->system, like, &found));
    snprintf(like, sizeof(like), "/user/$ %s", path + 7);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_system_find(world->system, like, &found));
    snprintf(like, sizeof(like), "/user/$10000000%s", path + 7);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_system_find(world->system, like, &found));
}

// ---- Senders ----

static lbx_status
reply_twice(lbx_context *context, struct part *part, void *message)
{
    world_write(part->world, "%s:%d", part->name, number_of(message));
    lbx_context_reply(context, letter(number_of(message) * 2));
    return LBX_OK;
}

static lbx_status
tell_three(lbx_context *context, struct part *part, void *argument)
{
    (void)context;
    (void)part;
    lbx_tell(((struct part *)argument)->self, letter(3));
    return LBX_OK;
}

ACTOR_TEST("", actor_is_the_sender_of_what_it_tells)
{
    b->receive = reply_twice;
    part_spawn(a);
    part_spawn(b);
    bid(a, tell_three, b);
    CHECK_DIARY(world, "a+ b+ b:3 a:6");
}

ACTOR_TEST("", envelope_may_name_another_sender)
{
    lbx_envelope envelope = lbx_envelope_of(letter(4), 10);

    b->receive = reply_twice;
    part_spawn(a);
    part_spawn(b);
    envelope.sender = lbx_ref_as_sender(a->self);
    CHECK(lbx_ref_equal(a->self, lbx_ref_of_sender(envelope.sender)));
    lbx_tell_envelope(b->self, &envelope);
    CHECK_DIARY(world, "a+ b+ b:4 a:8");
}

ACTOR_TEST("", reply_to_nobody_is_a_dead_letter)
{
    b->receive = reply_twice;
    lbx_tell(part_spawn(b), letter(4));
    CHECK_DIARY(world, "b+ b:4");
    CHECK_INT(1, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 8, LBX_LOSS_NO_ACTOR);
    CHECK(lbx_ref_equal(b->self, world->dead[0].sender));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), world->dead[0].recipient));
    CHECK_INT(2, atomic_load(&world->ended));
}

static lbx_status
forward(lbx_context *context, struct part *part, void *message)
{
    (void)message;
    lbx_context_forward(context, *(lbx_ref *)part->context);
    lbx_context_forward(context, *(lbx_ref *)part->context); // nothing is left
    return LBX_OK;
}

ACTOR_TEST("", forwarding_keeps_the_sender_and_all_else)
{
    b->receive = forward;
    b->context = &c->self;
    c->receive = reply_twice;
    part_spawn(a);
    part_spawn(b);
    part_spawn(c);
    bid(a, tell_three, b);
    CHECK_DIARY(world, "a+ b+ c+ c:3 a:6");
    CHECK_INT(3, atomic_load(&world->ended)); // the order, 3 and 6: once each
}

// It is the system's message then, and must be ended.
ACTOR_TEST("", forwarding_to_nobody_ends_the_message)
{
    lbx_ref nobody = lbx_ref_nobody();

    b->receive = forward;
    b->context = &nobody;
    lbx_tell(part_spawn(b), letter(3));
    (void)world_run(world);
    CHECK_INT(1, world_end_count(world));
}

static lbx_status
take(lbx_context *context, struct part *part, void *message)
{
    CHECK_PTR(message, lbx_context_take(context));
    part->context = message;
    return LBX_OK;
}

ACTOR_TEST("", taken_message_is_the_handlers)
{
    a->receive = take;
    lbx_tell(part_spawn(a), letter(3));
    (void)world_run(world);
    CHECK_INT(3, number_of(a->context));
    CHECK_INT(0, world_end_count(world));
}

ACTOR_TEST("R-17", message_past_its_deadline_is_a_dead_letter)
{
    lbx_envelope envelope = lbx_envelope_of(letter(4), 10);

    part_spawn(a);
    envelope.deadline_ns = test_clock_now(&world->time) + 10;
    lbx_tell_envelope(a->self, &envelope);
    CHECK_DIARY(world, "a+ a:4");
    lbx_tell_envelope(a->self, &envelope);
    CHECK_DIARY_AFTER(world, 10, "");
    world_check_dead(world, 0, 4, LBX_LOSS_EXPIRED);
    CHECK_INT(2, atomic_load(&world->ended));
}

// ---- Threads ----

enum {
    SENDERS = 4,
    EACH = 20000,
};

struct flood {
    lbx_ref to;
    uintptr_t last[SENDERS];
    uintptr_t wrong;
    _Atomic uintptr_t sum;
    _Atomic long count;
};

// The handler's own data is not atomic: ACTOR-1 makes that right.
static lbx_status
check_order(lbx_context *context, struct part *part, void *message)
{
    struct flood *flood = part->context;
    uintptr_t number = (uintptr_t)message / SENDERS;
    uintptr_t sender = (uintptr_t)message % SENDERS;

    (void)context;
    flood->wrong += number != flood->last[sender] + 1;
    flood->last[sender] = number;
    atomic_fetch_add(&flood->sum, number);
    atomic_fetch_add(&flood->count, 1);
    return LBX_OK;
}

static void
flood_send(unsigned index, void *context)
{
    struct flood *flood = context;
    long each = test_rounds(EACH, EACH * 10);

    for (uintptr_t i = 1; i <= (uintptr_t)each; i++)
        lbx_tell(flood->to, (void *)(i * SENDERS + index));
}

ACTOR_TEST_THREADS("V-36 ACTOR-1 ACTOR-2", messages_of_one_sender_stay_in_order,
                   2)
{
    struct flood flood = {.wrong = 0};
    long each = test_rounds(EACH, EACH * 10);

    a->silent = true;
    a->receive = check_order;
    a->context = &flood;
    flood.to = part_spawn(a);
    threads_run(SENDERS, flood_send, &flood);
    EVENTUALLY(atomic_load(&flood.count) == SENDERS * each);
    world_end(world);
    CHECK_INT(0, flood.wrong);
    CHECK_INT(SENDERS * each * (each + 1) / 2, atomic_load(&flood.sum));
    CHECK_INT(0, atomic_load(&world->dead_count));
    CHECK_INT(SENDERS * each, atomic_load(&world->ended));
}

static void
tell_one(unsigned index, void *context)
{
    lbx_tell(*(lbx_ref *)context, letter((int)index));
}

// More threads than have a cache of their own at one time, again and again.
ACTOR_TEST_THREADS("", short_lived_threads_can_tell, 1)
{
    a->silent = true;
    part_spawn(a);
    for (int i = 0; i < 20; i++)
        threads_run(50, tell_one, &a->self);
    EVENTUALLY(atomic_load(&a->received) == 1000);
    CHECK_INT(1000, world_end_count(world));
}

enum {
    WORDS = 500
};

static pthread_key_t last_words;

static void
tell_some(void *to)
{
    for (int i = 0; i < WORDS; i++)
        lbx_tell(*(lbx_ref *)to, NULL);
}

static void
tell_and_end(unsigned index, void *context)
{
    (void)index;
    tell_some(context);
    CHECK(pthread_setspecific(last_words, context) == 0);
}

// What a thread tells while it ends, when its number may be another's already.
ACTOR_TEST_THREADS("", ending_threads_can_tell, 1)
{
    long rounds = test_rounds(20, 200);

    a->silent = true;
    part_spawn(a);
    tell_some(&a->self); // the library's own comes first, and goes first
    CHECK(pthread_key_create(&last_words, tell_some) == 0);
    for (long i = 0; i < rounds; i++)
        threads_run(8, tell_and_end, &a->self);
    EVENTUALLY(atomic_load(&a->received) == WORDS * (1 + 16 * rounds));
    world_end(world);
    CHECK(pthread_key_delete(last_words) == 0);
}

struct paths {
    struct world *world;
    _Atomic uint64_t word;
    _Atomic bool is_over;
};

static void
read_paths(void *context)
{
    struct paths *paths = context;

    while (!atomic_load(&paths->is_over)) {
        lbx_ref ref = {atomic_load(&paths->word)};
        lbx_ref found;
        char path[64];

        if (lbx_ref_path(ref, path, sizeof(path)) == LBX_OK)
            CHECK_STR("/user/somebody", path);
        if (lbx_system_find(paths->world->system, "/user/somebody", &found) ==
            LBX_OK)
            (void)lbx_ref_is_alive(found);
    }
}

// Any thread may ask for a path, also of an actor that is ending.
TEST(path_may_be_read_while_the_actor_ends)
{
    struct world world;
    struct part a;
    struct paths paths = {.world = &world};
    struct thread thread;
    lbx_props props;

    world_begin_threads(&world, 1);
    part_init(&a, &world, "somebody");
    a.silent = true;
    props = part_props(&a);
    thread_start(&thread, read_paths, &paths);
    for (long i = 0; i < test_rounds(20000, 1000000); i++) {
        lbx_ref ref;
        lbx_status status;

        while ((status = lbx_system_spawn(world.system, &props, a.name,
                                          &ref)) == LBX_EXISTS)
            sched_yield();
        CHECK_OK(status);
        atomic_store(&paths.word, ref.word);
        lbx_ref_stop(ref);
    }
    atomic_store(&paths.is_over, true);
    thread_join(&thread);
    world_end(&world);
}
