/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bank: supervision.
 *
 * The bank is an actor, its accounts and its teller are its children. When a
 * child's handler answers anything but LBX_OK it has failed, and its parent
 * decides what becomes of it: an account that was asked for too much goes on
 * with the next order, a teller who stumbles starts again with a clean desk.
 * Nobody else notices; the mailboxes stay.
 *
 * Messages have types, and a match table finds the handler by the type. The
 * system has no threads here: main() runs it, so that the output is always the
 * same.
 */
#include <letterbox/letterbox.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ACCOUNTS = 2
};

struct order {
    int account;
    int amount; // below zero: to take out
};

static lbx_type *order_type;
static lbx_type *report_type;

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "bank: %s\n", lbx_status_text(status));
        exit(1);
    }
}

static void
end_order(void *message, void *context)
{
    (void)context;
    free(message);
}

/* ---- Accounts ---- */

struct account {
    int number;
    int balance;
};

static lbx_status
open_account(lbx_context *context, void *state, void *argument)
{
    struct account *account = state;

    (void)context;
    account->number = *(const int *)argument;
    return LBX_OK;
}

static lbx_status
book(lbx_context *context, void *state, void *message)
{
    struct account *account = state;
    const struct order *order = message;

    (void)context;
    if (account->balance + order->amount < 0)
        return LBX_REFUSED; // for the bank to decide
    account->balance += order->amount;
    printf("  account %d: %+d, now %d\n", account->number, order->amount,
           account->balance);
    return LBX_OK;
}

static lbx_status
report(lbx_context *context, void *state, void *message)
{
    const struct account *account = state;

    (void)context;
    (void)message;
    printf("  account %d has %d\n", account->number, account->balance);
    return LBX_OK;
}

/* The types do not exist yet when this table is made: it says where they will
 * be. */
static const lbx_match account_handlers[] = {
    LBX_MATCH(order_type, book),
    LBX_MATCH(report_type, report),
};

static const lbx_behaviour account_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "account",
    .state_bytes = sizeof(struct account),
    .start = open_account,
    LBX_MATCHES(account_handlers),
};

/* ---- The teller, who stumbles over every third order ---- */

struct teller {
    int served;
    lbx_ref bank;
};

static lbx_status
sit_down(lbx_context *context, void *state, void *argument)
{
    struct teller *teller = state;

    (void)argument;
    teller->bank = lbx_context_parent(context);
    printf("  a teller sits down\n");
    return LBX_OK;
}

static lbx_status
serve(lbx_context *context, void *state, void *message)
{
    struct teller *teller = state;

    (void)message;
    if (++teller->served == 3)
        return LBX_BUSY;
    lbx_context_forward(context, teller->bank);
    return LBX_OK;
}

static void
stand_up(lbx_context *context, void *state)
{
    const struct teller *teller = state;

    (void)context;
    printf("  the teller leaves after %d orders\n", teller->served);
}

static const lbx_behaviour teller_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "teller",
    .state_bytes = sizeof(struct teller),
    .start = sit_down,
    .receive = serve,
    .stop = stand_up,
};

/* ---- The bank ---- */

struct bank {
    lbx_ref accounts[ACCOUNTS];
};

static lbx_status
open_bank(lbx_context *context, void *state, void *argument)
{
    static const int numbers[ACCOUNTS] = {1, 2};
    struct bank *bank = state;
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref teller;

    (void)argument;
    props.behaviour = &account_behaviour;
    for (int i = 0; i < ACCOUNTS; i++) {
        lbx_status status;

        props.argument = (void *)(uintptr_t)&numbers[i];
        status = lbx_context_spawn(context, &props, NULL, &bank->accounts[i]);
        if (status != LBX_OK)
            return status;
    }
    props.behaviour = &teller_behaviour;
    return lbx_context_spawn(context, &props, "teller", &teller);
}

static lbx_status
dispatch(lbx_context *context, void *state, void *message)
{
    const struct bank *bank = state;
    const struct order *order = message;

    lbx_context_forward(context, bank->accounts[order->account - 1]);
    return LBX_OK;
}

static lbx_status
ask_for_reports(lbx_context *context, void *state, void *message)
{
    const struct bank *bank = state;

    (void)context;
    (void)message;
    for (int i = 0; i < ACCOUNTS; i++)
        lbx_tell_typed(bank->accounts[i], report_type, NULL);
    return LBX_OK;
}

static lbx_directive
supervise(lbx_context *context, void *state, lbx_child_failure *failure)
{
    (void)context;
    (void)state;
    printf("  %s failed: %s\n", failure->name,
           lbx_status_text(failure->status));
    if (failure->status == LBX_REFUSED)
        return LBX_DIRECTIVE_DEAD_LETTER; // the order; the account goes on
    return LBX_DIRECTIVE_RESTART; // a fresh teller; the order that it dropped
                                  // is lost
}

static const lbx_match bank_handlers[] = {
    LBX_MATCH(order_type, dispatch),
    LBX_MATCH(report_type, ask_for_reports),
};

static const lbx_behaviour bank_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "bank",
    .state_bytes = sizeof(struct bank),
    .start = open_bank,
    LBX_MATCHES(bank_handlers),
    .supervise = supervise,
};

/* Hears of every message that nobody handled. */
static void
hear(void *context, const lbx_dead_letter_event *letter)
{
    const struct order *order = letter->envelope->message;

    (void)context;
    printf("  not done: account %d, %+d\n", order->account, order->amount);
}

static void
tell_order(lbx_ref teller, int account, int amount)
{
    struct order *order = malloc(sizeof(*order));

    if (!order)
        must(LBX_NO_MEMORY);
    order->account = account;
    order->amount = amount;
    lbx_tell_typed(teller, order_type, order); // the system's from here on
}

int
main(void)
{
    lbx_type_options type = LBX_TYPE_OPTIONS_INIT;
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_system *system;
    lbx_ref bank;
    lbx_ref teller;

    type.name = "bank.Report";
    must(lbx_type_create(&type, &report_type));
    type.name = "bank.Order";
    type.destroy = end_order;
    must(lbx_type_create(&type, &order_type));

    options.threads = 0;
    options.dead_letters.on_dead_letter = hear;
    must(lbx_system_create(&options, &system));
    props.behaviour = &bank_behaviour;
    must(lbx_system_spawn(system, &props, "bank", &bank));
    printf("the bank opens\n");
    must(lbx_system_run(system, UINT64_MAX, NULL));
    must(lbx_system_find(system, "/user/bank/teller", &teller));

    printf("four orders\n");
    tell_order(teller, 1, 100);
    tell_order(teller, 2, 50);
    tell_order(teller, 1, -30); // the third
    tell_order(teller, 1, -60);
    must(lbx_system_run(system, UINT64_MAX, NULL));

    printf("too much\n");
    tell_order(teller, 2, -80);
    must(lbx_system_run(system, UINT64_MAX, NULL));

    printf("reports\n");
    lbx_tell_typed(bank, report_type, NULL);
    must(lbx_system_run(system, UINT64_MAX, NULL));

    printf("the bank closes\n");
    must(lbx_system_terminate(system, LBX_FOREVER));
    lbx_system_destroy(system);
    lbx_type_destroy(order_type);
    lbx_type_destroy(report_type);
    return 0;
}
