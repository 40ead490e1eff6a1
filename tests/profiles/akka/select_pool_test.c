/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools and selection: the mailbox that routees share is chosen like any other,
 * for them, and serves several.
 */
#include "stage.h"

#include <string.h>

static lbx_status
spawn_pool(struct stage *stage, lbx_routing routing, struct wish wish,
           const char *name, lbx_ref *ret)
{
    lbx_pool pool = LBX_POOL_INIT;

    pool.routing = routing;
    pool.routees = 2;
    pool.props = stage_props(stage, wish);
    return lbx_system_spawn_pool(stage->system, &pool, name, ret);
}

// BalancingPool: deployment, what the routees need, the default map.
TEST_CITING("A-01 R-37", balancing_pool_shares_a_selected_mailbox)
{
    struct stage stage;
    lbx_ref pool;

    stage_begin(&stage, "m { mailbox-type = bounded, mailbox-capacity = 9 }\n"
                        "akka.actor.deployment { /deployed { mailbox = m } }");
    CHECK_OK(spawn_pool(&stage, LBX_BALANCING, (struct wish){.mailbox = NULL},
                        "plain", &pool));
    CHECK(strstr(stage_explain(&stage, pool),
                 "4 behaviour's requirement: decided: mailbox "
                 "letterbox.actor.mailbox.unbounded-queue-based"));
    CHECK(!strstr(stage.said, "in the cell"));
    CHECK_OK(spawn_pool(&stage, LBX_BALANCING, (struct wish){.mailbox = NULL},
                        "deployed", &pool));
    CHECK(strstr(stage_explain(&stage, pool), "1 deployment: decided"));
    CHECK(strstr(stage.said, "capacity 9,"));
    for (int i = 1; i <= 4; i++)
        stage_tell(pool, i);
    CHECK_RECEIVED(&stage, 1, 2, 3, 4);
    stage_end(&stage);
}

// What the routees need is asked of the mailbox that they will share.
TEST_CITING("A-05 R-37", balancing_pool_is_refused_what_cannot_be_shared)
{
    struct stage stage;
    lbx_ref pool;

    stage_begin(&stage, NULL);
    CHECK_STATUS(
        LBX_UNSUPPORTED,
        spawn_pool(&stage, LBX_BALANCING,
                   (struct wish){.mailbox = "unbounded-single-consumer"}, "a",
                   &pool));
    CHECK(strstr(stage.fault.text, "it is for one consumer only"));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 spawn_pool(&stage, LBX_BALANCING,
                            (struct wish){.mailbox = "unbounded",
                                          .needs = LBX_CAN_BOUND},
                            "a", &pool));
    CHECK(strstr(stage.fault.text, "it is not bounded"));
    CHECK_OK(spawn_pool(
        &stage, LBX_BALANCING,
        (struct wish){.semantics =
                          "akka.dispatch.BoundedMessageQueueSemantics"},
        "a", &pool));
    CHECK(strstr(stage_explain(&stage, pool), "mailbox.bounded-queue-based"));
    stage_tell(pool, 1);
    CHECK_RECEIVED(&stage, 1);
    stage_end(&stage);
}

static void
collect(void *context, const char *line)
{
    strcat(context, line);
    strcat(context, "\n");
}

// Routees say that they share; they are found by their paths.
TEST_CITING("A-01 R-27", routees_explain_that_they_share)
{
    struct stage stage;
    char tree[4096] = "";
    char path[64] = "";
    const char *at;
    lbx_ref pool, routee;

    stage_begin(&stage, "d {}");
    CHECK_OK(spawn_pool(&stage, LBX_BALANCING, (struct wish){.dispatcher = "d"},
                        "p", &pool));
    stage_run(&stage);
    CHECK_OK(lbx_system_print(stage.system, collect, tree));
    at = strstr(tree, "/user/p/$");
    CHECK(at);
    memcpy(path, at, strcspn(at, " \n"));
    CHECK_OK(lbx_system_find(stage.system, path, &routee));
    CHECK(strstr(stage_explain(&stage, routee), "dispatcher: d\n"
                                                "7 pool: decided: mailbox "));
    stage_end(&stage);
}

// A pool that compares what waits needs mailboxes that can be looked at.
TEST_CITING("2.4", smallest_mailbox_pool_counts_what_settings_choose)
{
    struct stage stage;
    lbx_ref pool;

    stage_begin(&stage, NULL);
    CHECK_OK(spawn_pool(&stage, LBX_SMALLEST_MAILBOX,
                        (struct wish){.mailbox = NULL}, "p", &pool));
    for (int i = 1; i <= 3; i++)
        stage_tell(pool, i);
    stage_run(&stage);
    CHECK_INT(3, stage.received_count);
    stage_end(&stage);
}
