/* SPDX-License-Identifier: Apache-2.0 */
/* Actors under test: what all their scenarios share. */
#include "explorer/scenarios/stage.h"

#include "actor/core/system.h"
#include "explorer.h"
#include <letterbox/compat/akka.h>

#include <string.h>

enum {
    MESSAGES = 128
};

lbx_system *stage;

/* The actor each message is for: written before it is told. */
static const struct player *meant_for[MESSAGES];

static lbx_status
start(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(struct player **)state = argument;
    return LBX_OK;
}

static lbx_status
receive(lbx_context *context, void *state, void *message)
{
    struct player *player = *(struct player **)state;
    uint64_t word = (uint64_t)(uintptr_t)message;

    EXPECT(!player->busy); // ACTOR-1
    player->busy = true;
    (void)lbx__add(&player->visits, 1, seq_cst);
    player->busy = false;
    if (lbx_context_type(context) == lbx_terminated_type()) {
        player->notices++;
        return LBX_OK;
    }
    EXPECT(meant_for[word % MESSAGES] == player); // ACTOR-8
    EXPECT(word % 16 > player->last[word / 16]);  // ACTOR-2
    player->last[word / 16] = word % 16;
    ledger_received(word);
    player->handled++;
    if (player->plays)
        player->plays(context);
    return LBX_OK;
}

static const lbx_behaviour behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "player",
    .state_bytes = sizeof(struct player *),
    .start = start,
    .receive = receive,
};

static void
heard(void *context, const lbx_dead_letter_event *letter)
{
    (void)context;
    if (!letter->suppressed)
        ledger_lost((uint64_t)(uintptr_t)letter->envelope->message);
}

static void
create(int64_t threads, const lbx_clock *clock, const lbx_settings *settings)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;

    ledger_reset();
    memset(meant_for, 0, sizeof(meant_for));
    options.allocator = &explorer_memory;
    options.clock = clock;
    options.threads = threads;
    options.settings = settings;
    options.dead_letters.on_dead_letter = heard;
    EXPECT_OK(lbx_system_create(&options, &stage));
}

void
stage_create(void)
{
    create(0, &explorer_clock, NULL);
}

void
stage_create_with_threads(int64_t threads)
{
    create(threads, &explorer_clock, NULL);
}

void
stage_create_with_clock(const lbx_clock *clock)
{
    create(0, clock, NULL);
}

void
stage_create_with_settings(const lbx_settings *settings)
{
    create(0, &explorer_clock, settings);
}

lbx_props
stage_props(struct player *player)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &behaviour;
    props.argument = player;
    return props;
}

void
stage_spawn(struct player *player)
{
    lbx_props props = stage_props(player);

    EXPECT_OK(lbx_system_spawn(stage, &props, NULL, &player->ref));
}

void
stage_spawn_boxed(struct player *player, const lbx_mailbox_options *options)
{
    lbx_mailbox_options usual = lbx_akka_mailbox_options();
    lbx_props props = stage_props(player);

    props.mailbox = LBX_KIND_UNBOUNDED;
    if (options)
        props.mailbox = LBX_KIND_BOUNDED;
    // With options of its own it gets a box, whatever its kind.
    props.mailbox_options = options ? options : &usual;
    EXPECT_OK(lbx_system_spawn(stage, &props, NULL, &player->ref));
}

void *
stage_message(const struct player *player)
{
    uint64_t message = ledger_message();

    meant_for[message % MESSAGES] = player;
    ledger_sent(message);
    return (void *)(uintptr_t)message;
}

void
stage_tell(const struct player *player)
{
    lbx_tell(player->ref, stage_message(player));
}

void
stage_run(void)
{
    (void)lbx__dispatcher_run(stage->dispatcher, UINT64_MAX);
}

void
stage_finish(void)
{
    stage_run();
    ledger_check(false);
    lbx__cell_stop(stage->user, lbx__generation_of(stage->user_ref));
    stage_run();
    EXPECT(lbx__peek(&stage->terminated) == 1);
    lbx_system_destroy(stage);
}
