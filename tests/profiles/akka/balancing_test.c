/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Balancing dispatchers (BalancingDispatcherSpec): actors of one
 * behaviour share a mailbox, and what one has no time for another does.
 */
#include "stage.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "support/threads.h"

static const char conf[] = "b { type = BalancingDispatcher }\n"
                           "four { type = BalancingDispatcher\n"
                           "  mailbox-type = bounded, mailbox-capacity = 4\n"
                           "  mailbox-push-timeout-time = 0 }\n"
                           "other { mailbox-type = bounded }";

enum {
    HOLDS = 1000, /* its receiver waits at the gate */
    FAILS = 1001,
    MOST = 8,
};

static struct {
    _Atomic int handled[MOST];
    _Atomic int total;
    _Atomic int held; /* at the gate now */
    _Atomic bool open;
} crew;

static lbx_status
work(lbx_context *context, void *state, void *message)
{
    int number = *(int *)state;

    (void)context;
    if ((intptr_t)message == FAILS)
        return LBX_CLOSED;
    if ((intptr_t)message == HOLDS) {
        crew.held++;
        while (!crew.open)
            sched_yield();
        crew.held--;
    }
    crew.handled[number]++;
    crew.total++;
    return LBX_OK;
}

static lbx_status
begin(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(int *)state = (int)(intptr_t)argument;
    return LBX_OK;
}

static const lbx_behaviour worker = {sizeof(lbx_behaviour), "worker",
                                     .state_bytes = sizeof(int), .start = begin,
                                     .receive = work};
static const lbx_behaviour clerk = {sizeof(lbx_behaviour), "clerk",
                                    .state_bytes = sizeof(int), .start = begin,
                                    .receive = work};

static lbx_status
try_hire(struct stage *stage, const lbx_behaviour *behaviour,
         const char *dispatcher, const char *mailbox, intptr_t number,
         lbx_ref *ret)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = behaviour;
    props.argument = (void *)number;
    props.dispatcher = dispatcher;
    props.mailbox = mailbox;
    props.fault = &stage->fault;
    return lbx_system_spawn(stage->system, &props, NULL, ret);
}

static lbx_ref
hire(struct stage *stage, const lbx_behaviour *behaviour,
     const char *dispatcher, intptr_t number)
{
    lbx_ref ref;

    CHECK_OK(try_hire(stage, behaviour, dispatcher, NULL, number, &ref));
    return ref;
}

static void
begin_threads(struct stage *stage, int64_t threads)
{
    char text[512];

    (void)snprintf(text, sizeof(text),
                   "%s\nb.executor = thread-pool-executor\n"
                   "b.thread-pool-executor.fixed-pool-size = %d",
                   conf, (int)threads);
    stage_prepare(stage, text);
    stage->options.threads = 1;
    stage_open(stage);
}

static uint64_t
waiting(lbx_ref ref)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    CHECK_OK(lbx_ref_stats_read(ref, &stats));
    return stats.depth;
}

// BalancingDispatcherSpec: the fast one does what the slow one was told, and
// both mailboxes are empty in the end.
STAGE_TEST("A-01 R-37 5.4", fast_worker_takes_over_from_the_slow_one)
{
    lbx_ref slow, fast;

    begin_threads(stage, 2);
    slow = hire(stage, &worker, "b", 0);
    stage_tell(slow, HOLDS);
    EVENTUALLY(crew.held == 1);
    fast = hire(stage, &worker, "b", 1);
    for (int i = 0; i < 100; i++)
        stage_tell(i % 2 ? slow : fast, i);
    EVENTUALLY(crew.total == 100);
    CHECK_INT(100, crew.handled[1]);
    crew.open = true;
    EVENTUALLY(crew.total == 101);
    CHECK_INT(1, crew.handled[0]);
    CHECK_INT(0, waiting(slow));
    CHECK_INT(0, waiting(fast));
    CHECK_INT(0, stage->dead);
}

// The same with all but one of five at the gate.
STAGE_TEST("R-37 5.4", the_free_one_of_five_does_the_work)
{
    lbx_ref refs[5];
    int idle = 0;

    begin_threads(stage, 5);
    for (int i = 0; i < 5; i++)
        refs[i] = hire(stage, &worker, "b", i);
    for (int i = 0; i < 4; i++)
        stage_tell(refs[0], HOLDS);
    EVENTUALLY(crew.held == 4);
    for (int i = 0; i < 96; i++)
        stage_tell(refs[i % 5], i);
    EVENTUALLY(crew.total == 96);
    for (int i = 0; i < 5; i++)
        idle += crew.handled[i] == 0;
    CHECK_INT(4, idle);
    crew.open = true;
    EVENTUALLY(crew.total == 100);
}

// What one that ends has not done, the others do; what the last one leaves is
// dead letters.
STAGE_TEST("A-24 R-37", shared_mailboxes_keep_their_messages)
{
    lbx_ref refs[3];

    stage_begin(stage, conf);
    for (int i = 0; i < 3; i++)
        refs[i] = hire(stage, &worker, "b", i);
    stage_run(stage);
    for (int i = 0; i < 10; i++)
        stage_tell(refs[0], i);
    lbx_ref_stop(refs[0]);
    stage_run(stage);
    CHECK_INT(10, crew.total);
    CHECK_INT(0, stage->dead);
    // The order of turns is the order of waking: these stop first.
    lbx_ref_stop(refs[1]);
    lbx_ref_stop(refs[2]);
    for (int i = 0; i < 10; i++)
        stage_tell(refs[1], i);
    stage_run(stage);
    CHECK_INT(10, crew.total);
    CHECK_INT(10, stage->dead);
    // A new team, with a mailbox of its own.
    refs[0] = hire(stage, &worker, "b", 5);
    stage_tell(refs[0], 1);
    stage_run(stage);
    CHECK_INT(1, crew.handled[5]);
    CHECK_INT(10, stage->dead);
}

// A member that waits for its supervisor, or is suspended, holds up no other.
STAGE_TEST("R-37 A-20", deaf_members_leave_the_work_to_others)
{
    lbx_ref a, b;

    stage_begin(stage, conf);
    a = hire(stage, &worker, "b", 0);
    b = hire(stage, &worker, "b", 1);
    stage_run(stage);
    CHECK_OK(lbx_ref_suspend(a));
    stage_run(stage);
    for (int i = 0; i < 20; i++)
        stage_tell(a, i);
    stage_run(stage);
    CHECK_INT(20, crew.handled[1]);
    CHECK_OK(lbx_ref_suspend(b));
    stage_run(stage);
    stage_tell(b, 1);
    stage_run(stage);
    CHECK_INT(20, crew.total);
    CHECK_INT(1, waiting(a));
    CHECK_OK(lbx_ref_resume(a));
    stage_run(stage);
    CHECK_INT(1, crew.handled[0]);
    stage_tell(b, FAILS); // by either; it restarts, and nothing is lost
    stage_tell(b, 2);
    stage_run(stage);
    CHECK_INT(22, crew.total);
}

// Akka trusts that all on such a dispatcher understand each other's messages;
// here those of another behaviour have a mailbox of their own.
STAGE_TEST("A-01", teams_are_of_one_behaviour)
{
    lbx_ref a, b;

    stage_begin(stage, conf);
    a = hire(stage, &worker, "b", 0);
    b = hire(stage, &clerk, "b", 1);
    stage_run(stage);
    CHECK_OK(lbx_ref_suspend(a));
    stage_run(stage);
    stage_tell(a, 1);
    stage_tell(b, 2);
    stage_run(stage);
    CHECK_INT(0, crew.handled[0]);
    CHECK_INT(1, crew.handled[1]);
    CHECK_INT(1, waiting(a));
    CHECK_INT(0, waiting(b));
}

// One capacity for all, and one mailbox for all.
STAGE_TEST("A-05 A-25 R-37", team_has_one_capacity_and_one_mailbox)
{
    lbx_ref a, b, c;

    stage_begin(stage, conf);
    a = hire(stage, &worker, "four", 0);
    b = hire(stage, &worker, "four", 1);
    for (int i = 0; i < 3; i++) {
        stage_tell(a, i);
        stage_tell(b, i);
    }
    CHECK_INT(2, stage->dead);
    CHECK_INT(4, waiting(a));
    stage_run(stage);
    CHECK_INT(4, crew.total);
    CHECK_STATUS(LBX_UNSUPPORTED,
                 try_hire(stage, &worker, "four", "other", 2, &c));
    CHECK(strstr(stage->fault.text, "is not what others of behaviour worker "
                                    "share on this balancing dispatcher"));
    CHECK_STATUS(LBX_UNSUPPORTED, try_hire(stage, &worker, "b",
                                           "unbounded-single-consumer", 2, &c));
}

static void
count_loss(void *context, const lbx_loss *loss)
{
    (void)loss;
    ++*(int *)context;
}

static void
count_loss_twice(void *context, const lbx_loss *loss)
{
    (void)loss;
    *(int *)context += 2;
}

static lbx_status
try_hire_with(struct stage *stage, const lbx_mailbox_options *options,
              lbx_ref *ret)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &worker;
    props.dispatcher = "b";
    props.mailbox = LBX_KIND_BOUNDED;
    props.mailbox_options = options;
    props.fault = &stage->fault;
    return lbx_system_spawn(stage->system, &props, NULL, ret);
}

// One mailbox has one set of options: members that ask for others are refused,
// and what is lost goes to the sink of all.
STAGE_TEST("R-37", team_has_one_loss_sink_and_one_policy)
{
    static int lost, other;
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_mailbox_options others[6];
    lbx_ref a, b;

    stage_begin(stage, conf);
    options.capacity_messages = 2;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.wait_ns = 0;
    options.after_wait = LBX_OVERFLOW_DROP_NEWEST;
    options.loss_sink = (lbx_loss_sink){count_loss, &lost};
    CHECK_OK(try_hire_with(stage, &options, &a));
    CHECK_OK(try_hire_with(stage, &options, &b));
    for (int i = 0; i < 6; i++)
        others[i] = options;
    others[0].loss_sink.lost = count_loss_twice;
    others[1].loss_sink.context = &other;
    others[2].capacity_messages = 3;
    others[3].overflow = LBX_OVERFLOW_DROP_OLDEST;
    others[4].wait_ns = 5 * LBX_MS;
    others[5].after_wait = LBX_OVERFLOW_REJECT;
    for (int i = 0; i < 6; i++) {
        const lbx_status status = try_hire_with(stage, &others[i], &b);

        if (status != LBX_UNSUPPORTED)
            FAIL("options %d: %s", i, lbx_status_name(status));
    }
    for (int i = 0; i < 5; i++)
        stage_tell(a, 1);
    CHECK_INT(3, lost);
    stage_run(stage);
    CHECK_INT(2, crew.total);
    CHECK_INT(0, other);
    CHECK_INT(0, stage->dead);
}

STAGE_TEST("R-27", explanation_tells_who_shares)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref a;

    stage_begin(stage, conf);
    props.behaviour = &worker;
    props.dispatcher = "b";
    CHECK_OK(stage_foretell(stage, &props, "/a"));
    CHECK(strstr(stage->said, "shared by all of behaviour worker on the "
                              "dispatcher\n"));
    CHECK(!strstr(stage->said, "in the cell"));
    a = hire(stage, &worker, "b", 0);
    (void)hire(stage, &worker, "b", 1);
    CHECK(strstr(stage_explain(stage, a), "shared by 2 on the dispatcher\n"));
}

// The default dispatcher can be one as well.
STAGE_TEST("A-01", default_dispatcher_may_balance)
{
    lbx_ref a, b;

    stage_begin(stage, "akka.actor.default-dispatcher.type = "
                       "BalancingDispatcher");
    a = hire(stage, &worker, NULL, 0);
    b = hire(stage, &worker, NULL, 1);
    stage_run(stage);
    lbx_ref_stop(a);
    stage_tell(a, 1);
    stage_tell(b, 2);
    stage_run(stage);
    CHECK_INT(2, crew.handled[1]);
}

// What is told to one of them, poison pills included, is for any that is free.
STAGE_TEST("A-01 A-13", poison_pill_ends_who_finds_it)
{
    lbx_ref a, b;

    stage_begin(stage, conf);
    a = hire(stage, &worker, "b", 0);
    b = hire(stage, &worker, "b", 1);
    stage_run(stage);
    stage_tell(a, 1);
    lbx_tell(a, lbx_poison_pill());
    stage_tell(a, 2);
    stage_tell(b, 3);
    stage_run(stage);
    CHECK(lbx_ref_is_alive(a) != lbx_ref_is_alive(b));
    CHECK_INT(3, crew.total);
    lbx_tell(lbx_ref_is_alive(a) ? a : b, lbx_poison_pill());
    stage_run(stage);
    CHECK(!lbx_ref_is_alive(a) && !lbx_ref_is_alive(b));
    CHECK_INT(0, stage->dead);
}

static lbx_ref victim;

/* Whoever is told of the victim's end tells itself, which is all of them, and
 * ends. */
static lbx_status
bequeath(lbx_context *context, void *state, void *message)
{
    if ((intptr_t)message == HOLDS)
        return lbx_context_watch(context, victim);
    if (lbx_context_type(context) != lbx_terminated_type())
        return work(context, state, message);
    lbx_tell(lbx_context_self(context), (void *)(intptr_t)1);
    lbx_context_stop(context);
    return LBX_OK;
}

static const lbx_behaviour testator = {sizeof(lbx_behaviour), "testator",
                                       .state_bytes = sizeof(int),
                                       .start = begin, .receive = bequeath};

static void
check_heirs(struct stage *stage, lbx_ref some)
{
    victim = hire(stage, &clerk, NULL, 0);
    stage_run(stage);
    crew.total = 0;
    stage_tell(some, HOLDS);
    stage_run(stage);
    lbx_ref_stop(victim);
    stage_run(stage);
    CHECK_INT(1, crew.total);
    CHECK_INT(0, stage->dead);
}

// Idle ones hear of what a busy one has told itself.
STAGE_TEST("A-01 A-24 R-37", what_one_tells_itself_is_for_all)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_ref ref;

    stage_begin(stage, conf);
    (void)hire(stage, &testator, "b", 0);
    check_heirs(stage, hire(stage, &testator, "b", 1));
    props.behaviour = &testator;
    pool.props = &props;
    pool.routing = LBX_POOL_ROUTING_BALANCING;
    pool.routees = 2;
    CHECK_OK(lbx_system_spawn_pool(stage->system, &pool, NULL, &ref));
    check_heirs(stage, ref);
}

static _Atomic bool done;

/* Teams come and go while others send to them. */
static void
come_and_go(unsigned index, void *context)
{
    struct stage *stage = context;
    lbx_ref ref;

    for (int i = 0; i < 200; i++) {
        CHECK_OK(try_hire(stage, &worker, "b", NULL, index, &ref));
        for (int j = 0; j < 5; j++)
            stage_tell(ref, j);
        lbx_ref_stop(ref);
    }
    done = true;
}

// Every message is handled or a dead letter, once.
STAGE_TEST("A-24", teams_come_and_go_and_lose_nothing)
{
    begin_threads(stage, 2);
    threads_run(4, come_and_go, stage);
    CHECK(done);
    CHECK_OK(lbx_system_terminate(stage->system, LBX_FOREVER));
    CHECK_INT(4 * 200 * 5, crew.total + (int)stage->dead);
}
