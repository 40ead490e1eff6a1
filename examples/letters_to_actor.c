/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letters into an actor: what must not be lost waits in a postbox, and is
 * handled by an actor, whose state is in memory.
 *
 * The courier tells the actor each letter's message, and acknowledges the
 * letter when the actor's handler has returned LBX_OK. A failure is a failed
 * letter: it comes back, and after three times it is put aside.
 */
#include <letterbox/actor.h>
#include <letterbox/compat/wink.h>
#include <letterbox/courier.h>
#include <letterbox/post.h>

#include <stdio.h>
#include <stdlib.h>

static void
must(lbx_status status, const char *what)
{
    if (status == LBX_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, lbx_status_text(status));
    exit(1);
}

/* A till adds up what it is paid, and refuses what is no payment. */
struct till {
    long total;
};

static lbx_status
take_payment(lbx_context *context, void *state, void *message)
{
    struct till *till = state;
    const lbx_wink_request *request = message;
    long amount = strtol(request->payload, NULL, 10);

    (void)context;
    if (amount <= 0)
        return LBX_REFUSED;
    till->total += amount;
    printf("paid %ld, %ld in all\n", amount, till->total);
    return LBX_OK;
}

/* A till that failed goes on: a restart would lose its total. */
static lbx_directive
resume(lbx_context *context, void *state, lbx_child_failure *failure)
{
    (void)context;
    (void)state;
    (void)failure;
    return LBX_DIRECTIVE_RESUME;
}

static const lbx_behaviour till_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "till",
    .state_bytes = sizeof(struct till),
    .receive = take_payment,
};

/* Its parent, which decides what happens when it fails. */
static lbx_status
open_shop(lbx_context *context, void *state, void *argument)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref *till = argument;

    (void)state;
    props.behaviour = &till_behaviour;
    return lbx_context_spawn(context, &props, "till", till);
}

static lbx_status
ignore(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return LBX_OK;
}

static const lbx_behaviour shop_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "shop",
    .start = open_shop,
    .receive = ignore,
    .supervise = resume,
};

static void
pay(lbx_postbox *payments, const char *amount)
{
    lbx_wink_request request = lbx_wink_request_of(amount);
    lbx_draft draft = lbx_draft_of_message(lbx_wink_request_type(), &request);

    must(lbx_postbox_send_draft(payments, &draft, NULL), "sending");
}

int
main(void)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_courier_options couriers = LBX_COURIER_OPTIONS_INIT;
    lbx_system_options systems = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_courier_actor to = {NULL, {0}};
    lbx_postbox *payments, *dead;
    lbx_dead_letter_record *record;
    lbx_courier *courier;
    lbx_letter *letter;
    lbx_type_registry *types;
    lbx_ref shop;
    lbx_operation opened;
    lbx_envelope hello = lbx_envelope_with_default_priority(NULL);

    must(lbx_type_registry_create(NULL, &types), "types");
    must(lbx_type_registry_add(types, lbx_wink_request_type()), "types");
    must(lbx_type_registry_add(types, lbx_dead_letter_record_type()), "types");
    options.types = types;
    must(lbx_postbox_open("memory:payments", &options, &payments), "opening");
    must(lbx_postbox_open("memory:payments-dlq", &options, &dead), "opening");

    systems.threads = 2;
    must(lbx_system_create(&systems, &to.system), "system");
    props.behaviour = &shop_behaviour;
    props.argument = &to.ref;
    must(lbx_system_spawn(to.system, &props, "shop", &shop), "spawning");
    // When the shop has handled its first message it has a till.
    must(lbx_tell_handled_init(&opened, to.system, shop, &hello, LBX_FOREVER),
         "hello");
    must(lbx_operation_wait(&opened), "hello");
    lbx_operation_fini(&opened);

    pay(payments, "20");
    pay(payments, "-3"); // no payment
    pay(payments, "22");

    couriers.postbox = payments;
    couriers.handle = lbx_courier_tell_actor;
    couriers.context = &to;
    couriers.wait_ns = 0;
    couriers.retry_ns = 0; // at once, for the example's sake
    couriers.dead_letters.postbox = dead;
    couriers.dead_letters.deliveries = 3;
    must(lbx_courier_create(&couriers, &courier), "courier");
    must(lbx_courier_run(courier, 6), "running");

    must(lbx_postbox_receive(dead, 0, &letter), "receiving");
    must(lbx_letter_message(letter, (void **)&record), "reading");
    printf("put aside after %u deliveries: %s\n",
           (unsigned)record->delivery_count, record->last_error_type);
    must(lbx_letter_acknowledge(letter), "acknowledging");
    lbx_letter_destroy(letter);

    lbx_courier_destroy(courier);
    must(lbx_system_terminate(to.system, LBX_FOREVER), "terminating");
    lbx_system_destroy(to.system);
    lbx_postbox_unref(dead);
    lbx_postbox_unref(payments);
    lbx_type_registry_destroy(types);
    return 0;
}
