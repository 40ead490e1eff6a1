/* SPDX-License-Identifier: Apache-2.0 */
/* Why an actor has stopped; failures in words; back-off; deciders. */
#include <string.h>

#include "actor/fixture.h"

static lbx_status
do_fail_in_words(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    return lbx_context_fail(context, LBX_IO, "cannot read %s",
                            (const char *)argument);
}

/* Says something, and does not fail. */
static lbx_status
do_only_talk(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    (void)argument;
    CHECK_STATUS(LBX_IO, lbx_context_fail(context, LBX_IO, "nothing"));
    return LBX_OK;
}

/* A probe watches b, which is a child of a. */
struct watch {
    struct world world;
    struct part a;
    struct part b;
    struct part c; /* another child of a, if the test makes it one */
    lbx_probe *probe;
};

static void
watch_init(struct watch *watch)
{
    world_begin(&watch->world);
    part_init(&watch->a, &watch->world, "a");
    part_init(&watch->b, &watch->world, "b");
    part_init(&watch->c, &watch->world, "c");
    watch->a.silent = watch->b.silent = watch->c.silent = true;
    watch->a.children[0] = &watch->b;
}

/* Now, or else when the test has changed the parts. */
static void
watch_begin(struct watch *watch)
{
    CHECK_OK(lbx_probe_create(watch->world.system, "probe", &watch->probe));
    part_spawn(&watch->a);
    (void)world_run(&watch->world);
    lbx_probe_watch(watch->probe, watch->b.self);
    CHECK_OK(lbx_probe_expect_none(watch->probe, 0));
}

static void
watch_end(struct watch *watch)
{
    lbx_probe_destroy(watch->probe);
    world_end(&watch->world);
}

#define WATCH_TEST(name)                                                       \
    FIXTURE_TEST(watch, "", name, watch_init(watch), watch_end(watch))

/* The notice comes, and says this; `text` may be NULL. */
static void
check_why(struct watch *watch, lbx_termination_reason reason, lbx_status status,
          const char *text)
{
    const lbx_termination *why;

    CHECK_OK(lbx_probe_expect_end(watch->probe, watch->b.self, -1, &why));
    CHECK_INT(sizeof(*why), why->size_bytes);
    CHECK(lbx_ref_equal(watch->b.self, why->ref));
    CHECK_INT(reason, why->reason);
    CHECK_STATUS(status, why->status);
    CHECK_STR(text ? text : "", why->text ? why->text : "");
    CHECK(!why->text == !text);
}

WATCH_TEST(notice_of_one_that_was_stopped_says_so)
{
    watch_begin(watch);
    lbx_ref_stop(watch->b.self);
    check_why(watch, LBX_TERMINATION_STOPPED, LBX_OK, NULL);
}

WATCH_TEST(notice_of_one_that_failed_has_its_status_and_words)
{
    watch->a.strategy.directive = LBX_DIRECTIVE_STOP;
    watch_begin(watch);
    bid(&watch->b, do_only_talk, NULL);
    bid(&watch->b, do_fail_in_words, "the map");
    check_why(watch, LBX_TERMINATION_FAILED, LBX_IO, "cannot read the map");
}

// What was said about an earlier message is not the reason of a later failure.
WATCH_TEST(words_belong_to_one_message)
{
    lbx_status io = LBX_IO;

    watch->a.strategy.directive = LBX_DIRECTIVE_STOP;
    watch_begin(watch);
    bid(&watch->b, do_only_talk, NULL);
    bid(&watch->b, do_fail, &io);
    check_why(watch, LBX_TERMINATION_FAILED, LBX_IO, NULL);
    CHECK_STATUS(LBX_IO, lbx_context_fail(NULL, LBX_IO, "no context"));
}

WATCH_TEST(notice_after_too_many_restarts_says_so)
{
    watch->a.strategy.max_restarts = 1;
    watch_begin(watch);
    bid(&watch->b, do_fail_in_words, "it");
    CHECK_OK(lbx_probe_expect_none(watch->probe, 0));
    CHECK_INT(2, atomic_load(&watch->b.starts));
    bid(&watch->b, do_fail_in_words, "it again");
    check_why(watch, LBX_TERMINATION_RESTART_LIMIT, LBX_IO,
              "cannot read it again");
}

// A failure that was settled is not why it stops later.
WATCH_TEST(failure_that_was_settled_is_not_the_reason)
{
    watch_begin(watch);
    bid(&watch->b, do_fail_in_words, "it");
    CHECK_OK(lbx_probe_expect_none(watch->probe, 0));
    lbx_tell(watch->b.self, lbx_poison_pill());
    check_why(watch, LBX_TERMINATION_STOPPED, LBX_OK, NULL);
}

WATCH_TEST(notice_of_a_child_names_the_end_of_its_parent)
{
    watch_begin(watch);
    lbx_ref_stop(watch->a.self);
    check_why(watch, LBX_TERMINATION_BY_PARENT, LBX_OK, NULL);
}

WATCH_TEST(notice_of_a_child_names_the_restart_of_its_parent)
{
    lbx_ref first;
    lbx_status io = LBX_IO;

    watch_begin(watch);
    first = watch->b.self;
    bid(&watch->a, do_fail, &io);
    (void)world_run(&watch->world);
    watch->b.self = first; // not the new one
    check_why(watch, LBX_TERMINATION_BY_PARENT, LBX_OK, NULL);
}

WATCH_TEST(notice_of_a_sibling_that_had_not_failed_names_the_parent)
{
    watch->a.strategy.directive = LBX_DIRECTIVE_STOP;
    watch->a.strategy.all_for_one = true;
    watch->a.children[1] = &watch->c;
    watch_begin(watch);
    bid(&watch->c, do_fail_in_words, "it");
    check_why(watch, LBX_TERMINATION_BY_PARENT, LBX_OK, NULL);
}

WATCH_TEST(notice_of_one_that_had_stopped_before_says_so)
{
    watch_begin(watch);
    lbx_ref_stop(watch->b.self);
    check_why(watch, LBX_TERMINATION_STOPPED, LBX_OK, NULL);
    lbx_probe_watch(watch->probe, watch->b.self);
    check_why(watch, LBX_TERMINATION_GONE, LBX_OK, NULL);
}

TEST(message_that_is_no_notice_has_no_reason)
{
    CHECK_PTR(NULL, lbx_terminated_why(NULL));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_terminated_ref(NULL)));
}

// ---- What supervisors hear ----

static lbx_directive
write_failure(lbx_context *context, struct part *part,
              lbx_child_failure *failure)
{
    (void)context;
    world_write(part->world, "%s<%s>", part->name,
                failure->text ? failure->text : "-");
    return part->context ? LBX_DIRECTIVE_ESCALATE : LBX_DIRECTIVE_STOP;
}

ACTOR_TEST("", words_reach_the_supervisor_and_are_escalated)
{
    lbx_status io = LBX_IO;

    a->decide = b->decide = write_failure;
    b->context = b; // escalates
    a->children[0] = b;
    b->children[0] = c;
    part_spawn(a);
    CHECK_DIARY(world, "a+ b+ c+");
    bid(c, do_fail_in_words, "it");
    CHECK_DIARY(world, "b<cannot read it> a<cannot read it> c- b-");
    bid(a, do_fail, &io); // nobody says anything
    CHECK_DIARY(world, "a- a+ b+ c+");
}

static lbx_directive
count_and_resume(void *context, lbx_child_failure *failure)
{
    (*(int *)context)++;
    return failure->status == LBX_IO ? LBX_DIRECTIVE_RESUME
                                     : LBX_DIRECTIVE_STOP;
}

TEST(user_has_a_decider)
{
    lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;
    lbx_status refused = LBX_REFUSED;
    struct cast cast;
    lbx_system_options options = world_options(&cast.world);
    int decided = 0;

    supervisor.decide = count_and_resume;
    supervisor.context = &decided;
    options.supervisor = &supervisor;
    cast_begin_with(&cast, &options);
    memset(&supervisor, 0, sizeof(supervisor)); // it was copied
    part_spawn(&cast.a);
    bid(&cast.a, do_fail_in_words, "it");
    lbx_tell(cast.a.self, letter(1));
    CHECK_DIARY(&cast.world, "a+ a:1");
    bid(&cast.a, do_fail, &refused);
    CHECK_DIARY(&cast.world, "a-");
    CHECK_INT(2, decided);
    world_end(&cast.world);
}

ACTOR_TEST("", pool_has_a_decider)
{
    lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;
    lbx_props props = part_props(a);
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;
    int decided = 0;

    supervisor.decide = count_and_resume;
    supervisor.context = &decided;
    pool.props = &props;
    pool.supervisor = &supervisor;
    CHECK_OK(lbx_system_spawn_pool(world->system, &pool, "pool", &ref));
    memset(&supervisor, 0, sizeof(supervisor));
    lbx_tell(ref, letter(FAILS)); // REFUSED: stopped, and the pool with it
    CHECK_DIARY(world, "a+ a:1000 a-");
    CHECK_INT(1, decided);
    CHECK(!lbx_ref_is_alive(ref));
}

// ---- Back-off ----

static void
spawn_backing_off(struct world *world, struct part *a, struct part *b)
{
    lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;
    lbx_props props = part_props(a);

    supervisor.strategy.max_restarts = -1;
    supervisor.min_backoff_ns = 10;
    supervisor.max_backoff_ns = 35;
    props.supervisor = &supervisor;
    a->silent = true;
    a->children[0] = b;
    CHECK_OK(lbx_system_spawn(world->system, &props, "a", &a->self));
    CHECK_DIARY(world, "b+");
}

ACTOR_TEST("", restarts_back_off)
{
    static const int64_t pauses[] = {10, 20, 35, 35};
    static const char *const diaries[] = {"b+ b:1", "b+ b:2", "b+ b:3",
                                          "b+ b:4"};

    spawn_backing_off(world, a, b);
    for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
        lbx_tell(b->self, letter(FAILS));
        lbx_tell(b->self, letter((int)i + 1));
        CHECK_DIARY(world, "b:1000 b-"); // it stops at once
        CHECK_DIARY_AFTER(world, pauses[i] - 1, "");
        world_advance(world, 1);
        CHECK_DIARY(world, diaries[i]);
    }
    // A child that has done well for a while begins at the bottom.
    world_advance(world, 36);
    lbx_tell(b->self, letter(FAILS));
    CHECK_DIARY(world, "b:1000 b-");
    CHECK_DIARY_AFTER(world, 10, "b+");
}

ACTOR_TEST("", child_may_be_stopped_while_it_backs_off)
{
    spawn_backing_off(world, a, b);
    lbx_tell(b->self, letter(FAILS));
    lbx_tell(b->self, letter(1));
    CHECK_DIARY(world, "b:1000 b-");
    lbx_ref_stop(b->self);
    CHECK_DIARY(world, "");
    CHECK(!lbx_ref_is_alive(b->self));
    CHECK_INT(1, atomic_load(&world->dead_count)); // 1 was not handled
    CHECK_DIARY_AFTER(world, 100, "");
    CHECK_INT(1, atomic_load(&b->starts));
    CHECK_INT(1, atomic_load(&b->stops));
}

ACTOR_TEST("", back_off_that_cannot_be_is_refused)
{
    struct {
        int64_t min_ns;
        int64_t max_ns;
        double factor;
    } bad[] = {{-1, 1, 2}, {2, 1, 2}, {1, 2, 0.5}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;
        lbx_props props = part_props(a);
        lbx_fault fault = {0};
        lbx_ref ref;

        supervisor.min_backoff_ns = bad[i].min_ns;
        supervisor.max_backoff_ns = bad[i].max_ns;
        supervisor.backoff_factor = bad[i].factor;
        props.supervisor = &supervisor;
        props.fault = &fault;
        CHECK_STATUS(LBX_INVALID,
                     lbx_system_spawn(world->system, &props, "a", &ref));
        CHECK(strstr(fault.text, "backoff"));
    }
}

// ---- Children ----

static lbx_status
list_children(lbx_context *context, struct part *part, void *argument)
{
    lbx_ref refs[2] = {{0}, {0}};
    const size_t *expected = argument;

    CHECK_INT(*expected, lbx_context_children(context, refs, 2));
    for (size_t i = 0; i < 2; i++)
        CHECK(lbx_ref_is_alive(refs[i]) == (i < *expected));
    CHECK_INT(*expected, lbx_context_children(context, NULL, 0));
    world_write(part->world, "listed");
    return LBX_OK;
}

ACTOR_TEST("", children_are_listed)
{
    size_t three = 3;
    size_t one = 1;

    b->silent = c->silent = d->silent = true;
    a->children[0] = b;
    a->children[1] = c;
    a->children[2] = d;
    part_spawn(a);
    bid(a, list_children, &three);
    CHECK_DIARY(world, "a+ listed");
    lbx_ref_stop(c->self);
    lbx_ref_stop(d->self);
    CHECK_DIARY(world, "");
    bid(a, list_children, &one);
    CHECK_DIARY(world, "listed");
    CHECK_INT(0, lbx_context_children(NULL, NULL, 0));
}
