/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of selection have in common: a system without threads on given
 * settings, actors with wishes, and what they got.
 *
 *     STAGE_TEST("A-06", a_sentence_about_it)
 *     {
 *         stage_begin(stage, "my { mailbox-type = bounded }");
 *         CHECK_GETS(stage, MAILBOX("my"), "a", 2,
 *                    "bounded blocking multi-consumer");
 *     }
 */
#ifndef LBX_TEST_AKKA_STAGE_H
#define LBX_TEST_AKKA_STAGE_H

#include <letterbox/letterbox.h>
#include <stdatomic.h>

#include "support/test.h"

enum {
    STAGE_TEXT_BYTES = 8192,
    STAGE_LETTERS = 256,
};

struct stage {
    lbx_system_options options;
    lbx_settings *settings;
    lbx_system *system;
    lbx_fault fault;
    char said[STAGE_TEXT_BYTES]; /* by the last explanation, line by line */
    int received[STAGE_LETTERS]; /* what actors got, in order */
    unsigned received_count;
    atomic_flag hearing; /* guards the next two */
    unsigned dead;       /* letters */
    lbx_ref dead_recipient;
    lbx_status spawned; /* what a handler's spawn answered */
    lbx_ref child;
};

/* A system on settings that are this text, or none for NULL. The first makes
 * options to be changed, with the settings in them. */
void stage_prepare(struct stage *stage, const char *text);
void stage_open(struct stage *stage);
void stage_begin(struct stage *stage, const char *text);
void stage_end(struct stage *stage);

/* The same for a file below tests/fixtures. */
void stage_prepare_file(struct stage *stage, const char *name);

/* A system on these settings cannot be made, for that reason. */
void stage_refuses(const char *text, lbx_status status, const char *words);

/* The same with the options of a prepared stage, without a text. */
void stage_check_refused(struct stage *stage, const char *text,
                         lbx_status status, const char *words);

/* What an actor asks for. */
struct wish {
    const char *mailbox;
    const char *dispatcher;
    const char *semantics; /* of its behaviour */
    uint32_t needs;
    const lbx_mailbox_options *options;
    void *argument;
};

#define ANY             ((struct wish){.mailbox = NULL})
#define MAILBOX(id)     ((struct wish){.mailbox = (id)})
#define DISPATCHER(id)  ((struct wish){.dispatcher = (id)})
#define SEMANTICS(name) ((struct wish){.semantics = (name)})
#define NEEDS(ability)  ((struct wish){.needs = (ability)})

/* Props for it; a test has at most 64 of them. */
lbx_props stage_props(struct stage *stage, struct wish wish);
lbx_ref stage_spawn(struct stage *stage, struct wish wish, const char *name);

/* Spawned, it is given a mailbox that can do just this, by that step; an
 * explanation says the same before and after; and it receives messages. */
#define CHECK_GETS(stage, wish, name, step, able)                              \
    stage_check_gets(__FILE__, __LINE__, stage, wish, name, step, able)

lbx_ref stage_check_gets(const char *file, int line, struct stage *stage,
                         struct wish wish, const char *name, int step,
                         const char *able);

/* The spawn fails with this status and a fault that has these words. */
#define CHECK_REFUSED(stage, wish, name, status, words)                        \
    stage_check_spawn(__FILE__, __LINE__, stage, wish, name, status, words)

void stage_check_spawn(const char *file, int line, struct stage *stage,
                       struct wish wish, const char *name, lbx_status status,
                       const char *words);

/* A child of a living actor, made in its handler: what its spawn answered. */
lbx_status stage_spawn_child(struct stage *stage, lbx_ref parent,
                             struct wish wish, const char *name);

void stage_tell(lbx_ref to, int number);
void stage_run(struct stage *stage);

/* These came, in this order, since the last check. */
#define CHECK_RECEIVED(stage, ...)                                             \
    stage_check_received(__FILE__, __LINE__, stage,                            \
                         (const int[]){__VA_ARGS__},                           \
                         sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

void stage_check_received(const char *file, int line, struct stage *stage,
                          const int *numbers, size_t count);

/* What lbx_system_explain() answers for "/name"; it is in `said`. */
lbx_status stage_foretell(struct stage *stage, const lbx_props *props,
                          const char *path);

/* What lbx_ref_explain() says. */
const char *stage_explain(struct stage *stage, lbx_ref ref);

/* A test with a stage, which it begins or opens; it is ended afterwards. */
#define STAGE_TEST(behaviours, name)                                           \
    static void name##_on(struct stage *stage);                                \
                                                                               \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        struct stage stage;                                                    \
                                                                               \
        name##_on(&stage);                                                     \
        stage_end(&stage);                                                     \
    }                                                                          \
                                                                               \
    static void name##_on(struct stage *stage)

#endif
