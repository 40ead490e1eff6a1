/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools and selection: the mailbox that routees share is chosen like any other,
 * for them, and serves several.
 */
#include "stage.h"
#include <letterbox/compat/vela.h>

#include <stdio.h>
#include <string.h>

static lbx_status
spawn_pool(struct stage *stage, lbx_pool_routing routing, struct wish wish,
           const char *name, lbx_ref *ret)
{
    const lbx_props props = stage_props(stage, wish);
    lbx_pool pool = LBX_POOL_INIT;

    pool.routing = routing;
    pool.routees = 2;
    pool.props = &props;
    return lbx_system_spawn_pool(stage->system, &pool, name, ret);
}

// BalancingPool: deployment, what the routees need, the default map.
STAGE_TEST("A-01 R-37", balancing_pool_shares_a_selected_mailbox)
{
    lbx_ref pool;

    stage_begin(stage, "m { mailbox-type = bounded, mailbox-capacity = 9 }\n"
                       "akka.actor.deployment { /deployed { mailbox = m } }");
    CHECK_OK(
        spawn_pool(stage, LBX_POOL_ROUTING_BALANCING, ANY, "plain", &pool));
    CHECK(strstr(stage_explain(stage, pool),
                 "4 behaviour's requirement: decided: mailbox "
                 "letterbox.actor.mailbox.unbounded-queue-based"));
    CHECK(!strstr(stage->said, "in the cell"));
    CHECK_OK(
        spawn_pool(stage, LBX_POOL_ROUTING_BALANCING, ANY, "deployed", &pool));
    CHECK(strstr(stage_explain(stage, pool), "1 deployment: decided"));
    CHECK(strstr(stage->said, "capacity 9,"));
    for (int i = 1; i <= 4; i++)
        stage_tell(pool, i);
    CHECK_RECEIVED(stage, 1, 2, 3, 4);
}

// What the routees need is asked of the mailbox that they will share.
STAGE_TEST("A-05 R-37", balancing_pool_is_refused_what_cannot_be_shared)
{
    lbx_ref pool;

    stage_begin(stage, NULL);
    CHECK_STATUS(LBX_UNSUPPORTED,
                 spawn_pool(stage, LBX_POOL_ROUTING_BALANCING,
                            MAILBOX("unbounded-single-consumer"), "a", &pool));
    CHECK(strstr(stage->fault.text, "it is for one consumer only"));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 spawn_pool(stage, LBX_POOL_ROUTING_BALANCING,
                            (struct wish){.mailbox = "unbounded",
                                          .needs = LBX_CAPABILITY_BOUND},
                            "a", &pool));
    CHECK(strstr(stage->fault.text, "it is not bounded"));
    CHECK_OK(spawn_pool(stage, LBX_POOL_ROUTING_BALANCING,
                        SEMANTICS("akka.dispatch.BoundedMessageQueueSemantics"),
                        "a", &pool));
    CHECK(strstr(stage_explain(stage, pool), "mailbox.bounded-queue-based"));
    stage_tell(pool, 1);
    CHECK_RECEIVED(stage, 1);
}

static void
collect(void *context, const char *line)
{
    strcat(context, line);
    strcat(context, "\n");
}

// Routees say that they share; they are found by their paths.
STAGE_TEST("A-01 R-27", routees_explain_that_they_share)
{
    char tree[4096] = "";
    char path[64] = "";
    const char *at;
    lbx_ref pool, routee;

    stage_begin(stage, "d {}");
    CHECK_OK(spawn_pool(stage, LBX_POOL_ROUTING_BALANCING, DISPATCHER("d"), "p",
                        &pool));
    stage_run(stage);
    CHECK_OK(lbx_system_print(stage->system, collect, tree));
    at = strstr(tree, "/user/p/$");
    CHECK(at);
    memcpy(path, at, strcspn(at, " \n"));
    CHECK_OK(lbx_system_find(stage->system, path, &routee));
    CHECK(strstr(stage_explain(stage, routee), "dispatcher: d\n"
                                               "7 pool: decided: mailbox "));
}

// A pool that compares what waits needs mailboxes that can be looked at.
STAGE_TEST("", smallest_mailbox_pool_counts_what_settings_choose)
{
    lbx_ref pool;

    stage_begin(stage, NULL);
    CHECK_OK(
        spawn_pool(stage, LBX_POOL_ROUTING_SMALLEST_MAILBOX, ANY, "p", &pool));
    for (int i = 1; i <= 3; i++)
        stage_tell(pool, i);
    stage_run(stage);
    CHECK_INT(3, stage->received_count);
}

/* ---- Pools by deployment ---- */

static unsigned
count_routees(struct stage *stage, const char *name)
{
    char tree[8192] = "";
    char path[64];
    unsigned count = 0;

    stage_run(stage);
    CHECK_OK(lbx_system_print(stage->system, collect, tree));
    (void)snprintf(path, sizeof(path), "/user/%s/$", name);
    for (const char *at = tree; (at = strstr(at, path)); at++)
        count++;
    return count;
}

static lbx_ref
find_routee(struct stage *stage, const char *name)
{
    char tree[8192] = "";
    char path[64];
    const char *at;
    lbx_ref routee;

    CHECK_OK(lbx_system_print(stage->system, collect, tree));
    (void)snprintf(path, sizeof(path), "/user/%s/$", name);
    at = strstr(tree, path);
    CHECK(at);
    (void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " \n"), at);
    CHECK_OK(lbx_system_find(stage->system, path, &routee));
    return routee;
}

static const char routed[] =
    "m { mailbox-type = bounded, mailbox-capacity = 9 }, d {}\n"
    "akka.actor.deployment {\n"
    "  /robin { router = round-robin-pool, nr-of-instances = 3 }\n"
    "  /small { router = akka.routing.SmallestMailboxPool\n"
    "    nr-of-instances = 2 }\n"
    "  /cast { router = broadcast-pool, nr-of-instances = 4 }\n"
    "  /balance { router = balancing-pool, nr-of-instances = 5\n"
    "    mailbox = m, dispatcher = d }\n"
    "  /sent { router = round-robin-pool, mailbox = m, dispatcher = d }\n"
    "  /code { router = from-code, nr-of-instances = 7 }\n"
    "}";

// As in Akka's files: an actor that is made there is a pool of such actors.
STAGE_TEST("", deployment_makes_a_pool_of_an_actor)
{
    const struct wish any = {.mailbox = NULL};
    lbx_ref ref;

    stage_begin(stage, routed);
    ref = stage_spawn(stage, any, "robin");
    CHECK_INT(3, count_routees(stage, "robin"));
    for (int i = 1; i <= 3; i++)
        stage_tell(ref, i);
    CHECK_RECEIVED(stage, 1, 2, 3);
    ref = stage_spawn(stage, any, "small");
    CHECK_INT(2, count_routees(stage, "small"));
    stage_tell(ref, 1);
    CHECK_RECEIVED(stage, 1);
    ref = stage_spawn(stage, any, "cast");
    CHECK_INT(4, count_routees(stage, "cast"));
    stage_tell(ref, 2);
    CHECK_RECEIVED(stage, 2, 2, 2, 2);
    (void)stage_spawn(stage, any, "code");
    CHECK_INT(0, count_routees(stage, "code"));
    (void)stage_spawn(stage, any, "elsewhere");
    CHECK_INT(0, count_routees(stage, "elsewhere"));
}

// Mailbox and dispatcher of the deployment are its routees'; a balancing
// pool's mailbox is shared, and must be one that can be.
TEST_CITING("A-01 A-05 R-37", deployed_pool_passes_on_mailbox_and_dispatcher)
{
    const struct wish any = {.mailbox = NULL};
    struct stage stage;
    lbx_ref ref;

    stage_begin(&stage, routed);
    ref = stage_spawn(&stage, any, "balance");
    CHECK_INT(5, count_routees(&stage, "balance"));
    CHECK(strstr(stage_explain(&stage, ref), "1 deployment: decided: mailbox "
                                             "m\n"));
    CHECK(strstr(stage_explain(&stage, find_routee(&stage, "balance")),
                 "dispatcher: d\n7 pool: decided: mailbox m\n"));
    for (int i = 1; i <= 4; i++)
        stage_tell(ref, i);
    CHECK_RECEIVED(&stage, 1, 2, 3, 4);
    (void)stage_spawn(&stage, any, "sent");
    CHECK_INT(1, count_routees(&stage, "sent"));
    CHECK(strstr(stage_explain(&stage, find_routee(&stage, "sent")),
                 "dispatcher: d\n1 deployment: did not decide\n"
                 "2 props: decided: mailbox m\n"));
    stage_end(&stage);

    stage_begin(&stage, "akka.actor.deployment { /a {\n"
                        "  router = balancing-pool\n"
                        "  mailbox = unbounded-single-consumer } }");
    CHECK_REFUSED(&stage, any, "a", LBX_UNSUPPORTED,
                  "it is for one consumer only");
    stage_end(&stage);
}

// Settings go before the code, also for what the code makes a pool.
STAGE_TEST("A-06", deployed_router_beats_the_codes)
{
    lbx_ref ref;

    stage_begin(stage, routed);
    CHECK_OK(
        spawn_pool(stage, LBX_POOL_ROUTING_ROUND_ROBIN, ANY, "cast", &ref));
    CHECK_INT(4, count_routees(stage, "cast"));
    stage_tell(ref, 1);
    CHECK_RECEIVED(stage, 1, 1, 1, 1);
    CHECK_OK(spawn_pool(stage, LBX_POOL_ROUTING_BROADCAST, ANY, "code", &ref));
    CHECK_INT(2, count_routees(stage, "code"));
}

// Routees match the pattern too, and are no pools; children of actors and the
// unnamed are.
STAGE_TEST("A-06", deployed_routers_stop_at_routees)
{
    const struct wish any = {.mailbox = NULL};
    lbx_ref shop;

    stage_begin(stage, "akka.actor.deployment {\n"
                       "  /shop { }\n"
                       "  \"/**\" { router = round-robin-pool\n"
                       "    nr-of-instances = 2 } }");
    (void)stage_spawn(stage, any, "a");
    CHECK_INT(2, count_routees(stage, "a"));
    shop = stage_spawn(stage, any, "shop");
    CHECK_OK(stage_spawn_child(stage, shop, any, "till"));
    CHECK_INT(2, count_routees(stage, "shop/till"));
    CHECK_OK(stage_spawn_child(stage, shop, any, NULL));
    CHECK_INT(3, count_routees(stage, "shop")); // it, and its own two
}

TEST_CITING("R-27", explanation_tells_of_a_deployed_router)
{
    struct stage stage;
    lbx_props props;

    stage_begin(&stage, routed);
    props = stage_props(&stage, ANY);
    CHECK_OK(stage_foretell(&stage, &props, "/balance"));
    CHECK(strstr(stage.said, "deployment: /balance (my.conf:7)\n"
                             "router: balancing-pool of 5\n"
                             "dispatcher: d, by deployment\n"
                             "1 deployment: decides: mailbox m"));
    stage_end(&stage);
    stage_begin(&stage, "akka.actor.deployment { /a {\n"
                        "  router = balancing-pool\n"
                        "  mailbox = unbounded-single-consumer } }");
    props = stage_props(&stage, ANY);
    CHECK_STATUS(LBX_UNSUPPORTED, stage_foretell(&stage, &props, "/a"));
    stage_end(&stage);
}

TEST_CITING("A-30", deployed_routers_are_checked)
{
    struct stage stage;

    stage_check_refused(
        &stage, "akka.actor.deployment { /a {\n  router = random-pool } }",
        LBX_NOT_FOUND, "my.conf:2: ");
    CHECK(strstr(stage.fault.text, "there is no router 'random-pool'; allowed: "
                                   "balancing-pool, round-robin-pool"));
    stage_check_refused(
        &stage, "akka.actor.deployment { /a {\n  nr-of-instances = 2 } }",
        LBX_INVALID, "my.conf:2: ");
    CHECK(strstr(stage.fault.text, "says nothing without a router"));
    stage_check_refused(&stage,
                        "akka.actor.deployment { /a { router = broadcast-pool\n"
                        "  nr-of-instances = 0 } }",
                        LBX_INVALID, "my.conf:2: ");
}

// A message loop's pump is an actor without a name, and none of deployment's.
STAGE_TEST("V-28", message_loops_do_not_become_pools)
{
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;
    lbx_vela_loop *loop;

    stage_begin(stage, "akka.actor.deployment { \"/*\" {\n"
                       "  router = round-robin-pool\n"
                       "  nr-of-instances = 2 } }");
    CHECK_OK(lbx_vela_loop_create(stage->system, NULL, &loop));
    CHECK_OK(lbx_vela_loop_start(loop, NULL));
    CHECK_OK(lbx_vela_loop_send(loop, NULL));
    stage_run(stage);
    CHECK_OK(lbx_vela_loop_stats_read(loop, &stats));
    CHECK_INT(1, stats.processed);
    lbx_vela_loop_destroy(loop);
}
