/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ping-pong: two actors and a ball.
 *
 * An actor is a function with a state of its own. It is called for one message
 * at a time, whatever the number of threads, so that the state needs no lock.
 * Actors know each other by refs, small values that are told around like
 * anything else; the sender of a message comes with it.
 */
#include <letterbox/letterbox.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STROKES = 6
};

struct player {
    const char *name;
    int strokes;
};

static void
must(lbx_status status)
{
    if (status != LBX_OK) {
        fprintf(stderr, "pingpong: %s\n", lbx_status_text(status));
        exit(1);
    }
}

/* The first call of every actor; `argument` is what its props say. */
static lbx_status
step_up(lbx_context *context, void *state, void *argument)
{
    struct player *player = state;

    (void)context;
    player->name = argument;
    return LBX_OK;
}

static lbx_status
play(lbx_context *context, void *state, void *message)
{
    struct player *player = state;
    intptr_t ball = (intptr_t)message;

    player->strokes++;
    printf("%s %d\n", player->name, (int)ball);
    if (ball < STROKES)
        lbx_context_reply(context, (void *)(ball + 1));
    else
        lbx_context_stop(context);
    return LBX_OK;
}

/* The last call. */
static void
step_down(lbx_context *context, void *state)
{
    struct player *player = state;

    (void)context;
    printf("%s played %d times\n", player->name, player->strokes);
}

static const lbx_behaviour player = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "player",
    .state_bytes = sizeof(struct player),
    .start = step_up,
    .receive = play,
    .stop = step_down,
};

/* Watches the game, and tells main() when one of the players has left. */
struct umpire {
    lbx_ref asked_by;
};

static lbx_status
judge(lbx_context *context, void *state, void *message)
{
    struct umpire *umpire = state;

    if (lbx_context_type(context) == lbx_terminated_type()) {
        lbx_tell(umpire->asked_by, message);
        return LBX_OK;
    }
    umpire->asked_by = lbx_context_sender(context);
    return lbx_context_watch(context, lbx_ref_of_sender(message));
}

static const lbx_behaviour umpire = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "umpire",
    .state_bytes = sizeof(struct umpire),
    .receive = judge,
};

static lbx_ref
spawn(lbx_system *system, const lbx_behaviour *behaviour, char *name)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref ref;

    props.behaviour = behaviour;
    props.argument = name;
    must(lbx_system_spawn(system, &props, name, &ref));
    return ref; // works at once: what is told now waits for the actor
}

int
main(void)
{
    static char names[][8] = {"ping", "pong", "umpire"};
    lbx_envelope ball = lbx_envelope_of((void *)(intptr_t)1, 0);
    lbx_envelope question;
    lbx_envelope answer;
    lbx_operation ask;
    lbx_system *system;
    lbx_ref ping;
    lbx_ref pong;

    must(lbx_system_create(NULL, &system));
    ping = spawn(system, &player, names[0]);
    pong = spawn(system, &player, names[1]);

    // An ask is a tell whose answer can be waited for. The umpire answers when
    // pong, who gets the last ball, has ended.
    question = lbx_envelope_of(lbx_ref_as_sender(pong), 0);
    must(lbx_ask_init(&ask, system, spawn(system, &umpire, names[2]), &question,
                      &answer, LBX_FOREVER));

    ball.sender = lbx_ref_as_sender(pong); // ping's reply goes there
    lbx_tell_envelope(ping, &ball);
    must(lbx_operation_wait(&ask));
    lbx_operation_fini(&ask);

    must(lbx_system_terminate(system, LBX_FOREVER));
    lbx_system_destroy(system);
    return 0;
}
