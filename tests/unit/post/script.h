/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that does what the test says, written against
 * <letterbox/store_driver.h>.
 *
 * It keeps boxes by name and no letters. Sends, receives and settles answer
 * `answer` at once, or are held until the test finishes them; each leaves a
 * line in the log. Receives deliver `letters` letters with an OK.
 */
#ifndef LBX_TEST_POST_SCRIPT_H
#define LBX_TEST_POST_SCRIPT_H

#include <letterbox/post.h>
#include <letterbox/store_driver.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
    SCRIPT_BOXES = 16,
    SCRIPT_HELD = 16
};

/* What a cancelled call does. */
enum script_cancel {
    SCRIPT_CANCELS,  /* finishes with CANCELLED, inside cancel() */
    SCRIPT_HAPPENED, /* finishes with what had happened, inside cancel() */
    SCRIPT_LATER,    /* goes on; the test finishes it */
};

struct script {
    lbx_store base;
    pthread_mutex_t lock;
    lbx_box_options rules[SCRIPT_BOXES];
    char boxes[SCRIPT_BOXES][LBX_BOX_NAME_BYTES]; /* "": deleted */
    size_t box_count;
    _Atomic bool closed; /* close() was called */

    /* Yours to set. */
    lbx_status answer;         /* of sends, receives, settles, purges */
    lbx_status box_answer;     /* of create and describe, unless OK */
    bool hold;                 /* they are held instead */
    unsigned letters;          /* a receive that is OK delivers so many */
    const lbx_parcel *content; /* of these; NULL: "hello" */
    enum script_cancel cancel;
    unsigned forget; /* entries of a batch, by bit, that get no status */

    /* To read. */
    lbx_call *held[SCRIPT_HELD];
    size_t held_count;
    _Atomic unsigned cancels;
    unsigned creates;
    _Atomic unsigned sequence;
    lbx_receive_request received; /* the latest */
    char log[2048];
};

/* Starts a store; the script must stay until it is closed, and be ended
 * then. */
void script_init(struct script *script);
void script_fini(struct script *script);

/* Finishes the held call of this index, if it is there, with its work done when
 * the status is OK. */
void script_finish(struct script *script, size_t index, lbx_status status);

/* How many calls are held now; for other threads. */
size_t script_held(struct script *script);

/* Empties the log. */
void script_clear(struct script *script);

extern const lbx_store_ops script_ops;

#endif
