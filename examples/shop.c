/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small system as users of Akka write it: a shop with a till, and customers.
 *
 * Messages are structs with a type. The shop forwards orders to its child, the
 * till, which replies to the customer who asked with a receipt. A till that
 * fails is restarted by the shop, with no sales. An order to a shop that has
 * closed is a dead letter.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call) ((call) == LBX_OK ? (void)0 : (puts(#call), exit(1)))

struct order {
    const char *item;
    int64_t cents;
};

struct receipt {
    const char *item;
    int64_t sales;
};

LBX_RECORD(order_record, struct order, "shop.Order",
           LBX_FIELD(struct order, item, TEXT),
           LBX_FIELD(struct order, cents, INT64));
LBX_RECORD(receipt_record, struct receipt, "shop.Receipt",
           LBX_FIELD(struct receipt, item, TEXT),
           LBX_FIELD(struct receipt, sales, INT64));

static lbx_type *order_type, *receipt_type;

static lbx_envelope
envelope_of(lbx_type *type, const void *message)
{
    lbx_envelope envelope = lbx_envelope_of_type(NULL, type);

    MUST(lbx_type_clone(type, message, &envelope.message));
    return envelope;
}

/* ---- The till ---- */

static lbx_status
ring_up(lbx_context *context, void *sales, void *message)
{
    const struct order *order = message;
    struct receipt receipt = {order->item, *(int64_t *)sales += order->cents};
    void *reply;

    if (order->cents < 0)
        return LBX_INVALID; // the supervisor's business
    MUST(lbx_type_clone(receipt_type, &receipt, &reply));
    lbx_context_reply_typed(context, receipt_type, reply);
    return LBX_OK;
}

static const lbx_match till_matches[] = {LBX_MATCH(order_type, ring_up)};

static const lbx_behaviour till = {sizeof(till), "till", sizeof(int64_t),
                                   LBX_MATCHES(till_matches)};

/* ---- The shop ---- */

static lbx_status
open_shop(lbx_context *context, void *till_ref, void *argument)
{
    lbx_props props = LBX_PROPS_INIT;

    (void)argument;
    props.behaviour = &till;
    return lbx_context_spawn(context, &props, "till", till_ref);
}

static lbx_status
serve(lbx_context *context, void *till_ref, void *message)
{
    (void)message;
    lbx_context_forward(context, *(lbx_ref *)till_ref);
    return LBX_OK;
}

static lbx_directive
supervise(lbx_context *context, void *till_ref, lbx_child_failure *failure)
{
    (void)context;
    (void)till_ref;
    printf("%s failed: %s\n", failure->name, lbx_status_text(failure->status));
    return LBX_DIRECTIVE_RESTART;
}

static const lbx_behaviour shop = {sizeof(shop),    "shop",
                                   sizeof(lbx_ref), open_shop,
                                   serve,           .supervise = supervise};

/* ---- Its customers ---- */

static void
buy(lbx_system *system, lbx_ref from, const char *item, int64_t cents)
{
    const struct order order = {item, cents};
    lbx_envelope answer, question = envelope_of(order_type, &order);
    struct receipt *receipt;

    MUST(lbx_ask_until(system, from, &question, &answer, LBX_FOREVER));
    receipt = answer.message;
    printf("%s; sales %d\n", receipt->item, (int)receipt->sales);
    lbx_record_destroy(receipt);
}

static void
on_dead_letter(void *context, const lbx_dead_letter_event *letter)
{
    (void)context;
    if (letter->envelope->type == order_type)
        printf("not sold: %s\n",
               ((struct order *)letter->envelope->message)->item);
}

int
main(void)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_envelope order;
    lbx_system *system;
    lbx_ref ref;

    MUST(lbx_record_type_create(&order_record, NULL, &order_type, NULL));
    MUST(lbx_record_type_create(&receipt_record, NULL, &receipt_type, NULL));
    options.dead_letters.on_dead_letter = on_dead_letter;
    MUST(lbx_system_create(&options, &system));
    props.behaviour = &shop;
    MUST(lbx_system_spawn(system, &props, "shop", &ref));

    buy(system, ref, "a book", 1200);
    order = envelope_of(order_type, &(struct order){"a bad coin", -5});
    lbx_tell_envelope(ref, &order);
    buy(system, ref, "a map", 300);
    lbx_tell(ref, lbx_poison_pill());
    MUST(lbx_ref_ended_until(system, ref, LBX_FOREVER));
    order = envelope_of(order_type, &(struct order){"a pen", 100});
    lbx_tell_envelope(ref, &order);

    MUST(lbx_system_terminate(system, LBX_FOREVER));
    lbx_system_destroy(system);
    lbx_type_destroy(order_type);
    lbx_type_destroy(receipt_type);
    return 0;
}
