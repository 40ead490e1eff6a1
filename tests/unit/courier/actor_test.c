/* SPDX-License-Identifier: Apache-2.0 */
/* Letters into an actor: acknowledged when its handler has returned OK. */
#include <letterbox/actor.h>

#include "fixture.h"

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
    .size_bytes = sizeof(lbx_behaviour),
    .name = "till",
    .state_bytes = sizeof(struct till *),
    .start = start,
    .receive = take,
};

struct bridge {
    struct fixture fx;
    struct till till;
    lbx_courier_actor actor;
};

static void
bridge_open(struct bridge *bridge)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;

    fixture_open(&bridge->fx);
    bridge->till = (struct till){.may_go_on = true};
    options.threads = 1;
    CHECK_OK(lbx_system_create(&options, &bridge->till.system));
    props.behaviour = &behaviour;
    props.argument = &bridge->till;
    CHECK_OK(lbx_system_spawn(bridge->till.system, &props, "till",
                              &bridge->till.ref));
    bridge->actor = (lbx_courier_actor){bridge->till.system, bridge->till.ref};
    bridge->fx.options.handle = lbx_courier_tell_actor;
    bridge->fx.options.context = &bridge->actor;
}

static void
bridge_close(struct bridge *bridge)
{
    lbx_courier_destroy(bridge->fx.courier);
    bridge->fx.courier = NULL;
    lbx_system_destroy(bridge->till.system);
    fixture_close(&bridge->fx);
}

static void
bridge_send(struct bridge *bridge, const char *payload)
{
    lbx_wink_request request = lbx_wink_request_of(payload);

    fixture_send_draft(&bridge->fx,
                       lbx_draft_of_message(lbx_wink_request_type(), &request));
}

TEST(a_letter_is_acknowledged_when_the_actor_has_handled_it)
{
    struct bridge bridge;

    bridge_open(&bridge);
    bridge_send(&bridge, "{\"book\":1}");
    fixture_run(&bridge.fx, 1);
    CHECK_INT(1, atomic_load(&bridge.till.handled));
    CHECK_STR("{\"book\":1}", bridge.till.last);
    CHECK_INT(1, fixture_stats(&bridge.fx)->acknowledged);
    CHECK_COUNTS(&bridge.fx, "requests", 0, 0, 0);
    bridge_close(&bridge);
}

TEST(a_letter_is_not_acknowledged_while_the_actor_is_at_it)
{
    struct bridge bridge;

    bridge_open(&bridge);
    atomic_store(&bridge.till.may_go_on, false);
    bridge_send(&bridge, "1");
    CHECK_OK(lbx_courier_start(fixture_courier(&bridge.fx)));
    EVENTUALLY(atomic_load(&bridge.till.reached));
    CHECK_COUNTS(&bridge.fx, "requests", 0, 1, 0);
    CHECK_INT(0, fixture_stats(&bridge.fx)->acknowledged);
    atomic_store(&bridge.till.may_go_on, true);
    CHECK_OK(lbx_courier_stop(bridge.fx.courier, LBX_FOREVER));
    CHECK_INT(1, fixture_stats(&bridge.fx)->acknowledged);
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
    bridge.fx.options.dead_letters.postbox = bridge.fx.dead;
    bridge.fx.options.dead_letters.deliveries = 2;
    bridge_send(&bridge, "1");
    fixture_run(&bridge.fx, 1);
    CHECK_COUNTS(&bridge.fx, "requests", 0, 0, 1); // the actor restarted
    fixture_advance(&bridge.fx, 60 * LBX_SECOND);
    fixture_run(&bridge.fx, 1);
    CHECK_INT(2, atomic_load(&bridge.till.handled));
    letter = fixture_take(bridge.fx.dead);
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
    lbx_ref_stop(bridge.till.ref);
    CHECK_OK(
        lbx_ref_ended_until(bridge.till.system, bridge.till.ref, LBX_FOREVER));
    bridge_send(&bridge, "1");
    fixture_run(&bridge.fx, 1);
    CHECK_COUNTS(&bridge.fx, "requests", 0, 0, 1);
    CHECK(fixture_has_logged(&bridge.fx, "LBX_NOT_FOUND"));
    bridge_close(&bridge);
}

TEST(letters_that_cannot_be_decoded_fail)
{
    lbx_draft draft = lbx_draft_of_text("no JSON");
    struct bridge bridge;

    bridge_open(&bridge);
    fixture_send(&bridge.fx, "without a type");
    draft.type_name = "letterbox.Request";
    fixture_send_draft(&bridge.fx, draft);
    fixture_run(&bridge.fx, 2);
    CHECK_INT(0, atomic_load(&bridge.till.handled));
    CHECK_COUNTS(&bridge.fx, "requests", 0, 0, 2);
    CHECK(fixture_has_logged(&bridge.fx, "LBX_UNSUPPORTED"));
    CHECK(fixture_has_logged(&bridge.fx, "LBX_ENCODING"));
    bridge_close(&bridge);
}

TEST(several_handlers_have_several_letters_with_the_actor)
{
    struct bridge bridge;

    bridge_open(&bridge);
    bridge.fx.options.handlers = 4;
    bridge.fx.options.wait_ns = -1;
    for (int i = 0; i < 100; i++)
        bridge_send(&bridge, "1");
    CHECK_OK(lbx_courier_start(fixture_courier(&bridge.fx)));
    EVENTUALLY(fixture_stats(&bridge.fx)->acknowledged == 100);
    CHECK_OK(lbx_courier_stop(bridge.fx.courier, LBX_FOREVER));
    CHECK_INT(100, atomic_load(&bridge.till.handled));
    CHECK_COUNTS(&bridge.fx, "requests", 0, 0, 0);
    bridge_close(&bridge);
}
