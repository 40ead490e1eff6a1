/* SPDX-License-Identifier: Apache-2.0 */
/* Letters into an actor: acknowledged when its handler has returned OK. */
#include <letterbox/actor.h>

#include "shelf.h"

#include <letterbox/compat/wink.h>

#include <stdio.h>
#include <string.h>

struct till {
    lbx_system *system;
    lbx_ref ref;
    _Atomic int handled;
    _Atomic int answer; /* an lbx_status */
    _Atomic bool reached;
    _Atomic bool may_go_on;
    char last[64];
};

static lbx_status
start(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(struct till **)state = argument;
    return LBX_OK;
}

static lbx_status
take(lbx_context *context, void *state, void *message)
{
    struct till *till = *(struct till **)state;
    const lbx_wink_request *request = message;

    CHECK_PTR(lbx_wink_request_type(), lbx_context_type(context));
    snprintf(till->last, sizeof(till->last), "%s", request->payload);
    atomic_store(&till->reached, true);
    EVENTUALLY(atomic_load(&till->may_go_on));
    atomic_fetch_add(&till->handled, 1);
    return (lbx_status)atomic_load(&till->answer);
}

static const lbx_behaviour behaviour = {
    .version = LBX_BEHAVIOUR_VERSION,
    .name = "till",
    .state_bytes = sizeof(struct till *),
    .start = start,
    .receive = take,
};

struct bridge {
    struct desk desk;
    struct till till;
    lbx_courier_actor actor;
};

static void
bridge_open(struct bridge *bridge)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;

    desk_open(&bridge->desk);
    bridge->till = (struct till){.may_go_on = true};
    options.threads = 1;
    CHECK_OK(lbx_system_create(&options, &bridge->till.system));
    props.behaviour = &behaviour;
    props.argument = &bridge->till;
    CHECK_OK(lbx_system_spawn(bridge->till.system, &props, "till",
                              &bridge->till.ref));
    bridge->actor = (lbx_courier_actor){bridge->till.system, bridge->till.ref};
    bridge->desk.options.handle = lbx_courier_to_actor;
    bridge->desk.options.context = &bridge->actor;
}

static void
bridge_close(struct bridge *bridge)
{
    lbx_courier_destroy(bridge->desk.courier);
    bridge->desk.courier = NULL;
    lbx_system_destroy(bridge->till.system);
    desk_close(&bridge->desk);
}

static void
bridge_send(struct bridge *bridge, const char *payload)
{
    lbx_wink_request request = lbx_wink_request_of(payload);

    desk_send_draft(&bridge->desk,
                    lbx_draft_of_message(lbx_wink_request_type(), &request));
}

TEST(a_letter_is_acknowledged_when_the_actor_has_handled_it)
{
    struct bridge bridge;

    bridge_open(&bridge);
    bridge_send(&bridge, "{\"book\":1}");
    desk_run(&bridge.desk, 1);
    CHECK_INT(1, atomic_load(&bridge.till.handled));
    CHECK_STR("{\"book\":1}", bridge.till.last);
    CHECK_INT(1, desk_stats(&bridge.desk)->acknowledged);
    CHECK_COUNTS(&bridge.desk, "requests", 0, 0, 0);
    bridge_close(&bridge);
}

TEST(a_letter_is_not_acknowledged_while_the_actor_is_at_it)
{
    struct bridge bridge;

    bridge_open(&bridge);
    atomic_store(&bridge.till.may_go_on, false);
    bridge_send(&bridge, "1");
    CHECK_OK(lbx_courier_start(desk_courier(&bridge.desk)));
    EVENTUALLY(atomic_load(&bridge.till.reached));
    CHECK_COUNTS(&bridge.desk, "requests", 0, 1, 0);
    CHECK_INT(0, desk_stats(&bridge.desk)->acknowledged);
    atomic_store(&bridge.till.may_go_on, true);
    CHECK_OK(lbx_courier_stop(bridge.desk.courier, LBX_FOREVER));
    CHECK_INT(1, desk_stats(&bridge.desk)->acknowledged);
    bridge_close(&bridge);
}

TEST_CITING("R-44", a_failing_actor_fails_its_letter)
{
    const lbx_dead_letter_record *record;
    struct bridge bridge;
    lbx_letter *letter;
    void *message;

    bridge_open(&bridge);
    atomic_store(&bridge.till.answer, LBX_DENIED);
    bridge.desk.options.dead_letters.postbox = bridge.desk.dead;
    bridge.desk.options.dead_letters.deliveries = 2;
    bridge_send(&bridge, "1");
    desk_run(&bridge.desk, 1);
    CHECK_COUNTS(&bridge.desk, "requests", 0, 0, 1); // the actor restarted
    shelf_advance(&bridge.desk.shelf, 60 * LBX_SECOND);
    desk_run(&bridge.desk, 1);
    CHECK_INT(2, atomic_load(&bridge.till.handled));
    letter = desk_take(bridge.desk.dead);
    CHECK_OK(lbx_letter_message(letter, &message));
    record = message;
    CHECK_STR("LBX_DENIED", record->last_error_type);
    lbx_letter_destroy(letter);
    bridge_close(&bridge);
}

TEST(an_actor_that_has_ended_fails_letters)
{
    struct bridge bridge;

    bridge_open(&bridge);
    lbx_stop(bridge.till.ref);
    CHECK_OK(lbx_ended_until(bridge.till.system, bridge.till.ref, LBX_FOREVER));
    bridge_send(&bridge, "1");
    desk_run(&bridge.desk, 1);
    CHECK_COUNTS(&bridge.desk, "requests", 0, 0, 1);
    CHECK(desk_has_logged(&bridge.desk, "LBX_NOT_FOUND"));
    bridge_close(&bridge);
}

TEST(letters_that_cannot_be_decoded_fail)
{
    lbx_draft draft = lbx_draft_of_text("no JSON");
    struct bridge bridge;

    bridge_open(&bridge);
    desk_send(&bridge.desk, "without a type");
    draft.type_name = "letterbox.Request";
    desk_send_draft(&bridge.desk, draft);
    desk_run(&bridge.desk, 2);
    CHECK_INT(0, atomic_load(&bridge.till.handled));
    CHECK_COUNTS(&bridge.desk, "requests", 0, 0, 2);
    CHECK(desk_has_logged(&bridge.desk, "LBX_UNSUPPORTED"));
    CHECK(desk_has_logged(&bridge.desk, "LBX_ENCODING"));
    bridge_close(&bridge);
}

TEST(several_handlers_have_several_letters_with_the_actor)
{
    struct bridge bridge;

    bridge_open(&bridge);
    bridge.desk.options.handlers = 4;
    bridge.desk.options.wait_ns = -1;
    for (int i = 0; i < 100; i++)
        bridge_send(&bridge, "1");
    CHECK_OK(lbx_courier_start(desk_courier(&bridge.desk)));
    EVENTUALLY(desk_stats(&bridge.desk)->acknowledged == 100);
    CHECK_OK(lbx_courier_stop(bridge.desk.courier, LBX_FOREVER));
    CHECK_INT(100, atomic_load(&bridge.till.handled));
    CHECK_COUNTS(&bridge.desk, "requests", 0, 0, 0);
    bridge_close(&bridge);
}
