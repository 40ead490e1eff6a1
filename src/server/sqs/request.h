/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request: one action under way, from its input to its reply.
 *
 * front.c reads the input, lets the gate decide whose request it is, finds the
 * queue if the action has one, and calls the action's `start`. An action makes
 * calls of the store, one after the other, and ends with lbx__request_done() or
 * lbx__request_fail(), once:
 *
 *     static void
 *     purge_start(lbx__request *request)
 *     {
 *         lbx_box_request *purge = lbx__arena_take(&request->arena, ...);
 *
 *         purge->box = request->queue->box;
 *         lbx__request_call(request, LBX_CALL_PURGE, purge, purge_purged);
 *     }
 *
 *     static void
 *     purge_purged(lbx__request *request, lbx_status status)
 *     {
 *         if (status != LBX_OK)
 *             return lbx__request_fail_status(request, status);
 *         lbx__request_done(request);
 *     }
 *
 * REQ-1  All of it runs in the loop of the request's connection. A step may be
 *        called before lbx__request_call() has returned: a call is the last
 *        thing a function does.
 * REQ-2  At most one call is running. When the client has gone, a receive is
 *        cancelled; anything else goes on to its end.
 * REQ-3  Letters that were delivered and not written to the client are put
 *        back (LBX_CALL_UNDO).
 * REQ-4  After done or fail the request does not exist.
 */
#ifndef LBX_SERVER_SQS_REQUEST_H
#define LBX_SERVER_SQS_REQUEST_H

#include "base/arena.h"
#include "base/list.h"
#include "http/exchange.h"
#include "server/sqs/action.h"
#include "server/sqs/change_lock.h"
#include "server/sqs/input.h"
#include "server/sqs/polls.h"
#include "server/sqs/queue.h"
#include "server/sqs/received_copy.h"
#include "server/sqs/reply.h"
#include <letterbox/store_driver.h>

typedef void lbx__request_step(lbx__request *request, lbx_status status);

/* The part of the server that actions see. */
typedef struct lbx__sqs {
    const lbx_allocator *allocator;
    lbx_store *store;
    lbx__queues *queues;
    lbx__change_locks change_locks;
    lbx__world home;
    const char *url;          /* what queue URLs begin with, "https://q.shop";
                                NULL: the request's Host */
    bool trusts_forwarded;    /* X-Forwarded-Proto and -Host */
    bool allows_quick_purge;  /* no 60 seconds between purges, */
    bool allows_quick_create; /* nor between deletion and creation */
    int64_t max_leased;       /* of new queues; 120,000 */
    lbx__polls polls;         /* that wait, of each queue */

    /* The server's part; all in the loop of the request. */
    void (*wait)(lbx__request *request); /* it is in a list, to be cancelled
                                            when the server stops */
    bool (*is_stopping)(const struct lbx__sqs *sqs);
    bool (*is_open)(const struct lbx__sqs *sqs); /* it has no keys: a caller
                                                    sees every account */
    void (*answered)(lbx__request *request, int status); /* for metrics */
    void (*freed)(struct lbx__sqs *sqs); /* a request does not exist any more */
    void *context;
} lbx__sqs;

struct lbx__request {
    lbx__sqs *sqs;
    lbx__http_exchange *exchange;
    lbx__loop *loop;
    const lbx__action *action;
    lbx__sqs_format format;
    char id[40];      /* a UUID */
    lbx__world world; /* of the caller; of the queue, when there is one */
    bool is_signed;   /* it names its region */
    lbx__arena arena; /* freed with the request */
    lbx__sqs_input input;
    lbx__queue *queue; /* a reference; NULL: none */
    lbx_buffer body;
    lbx__sqs_reply reply;
    void *state; /* the action's, in the arena */

    /* The call that is running. */
    lbx_call call;
    lbx__request_step *step;
    lbx_status status;
    lbx__task task;
    lbx__timer timer; /* of a wait */
    lbx__request_step *receive_step;
    lbx__link waiting; /* in the server's list of long polls */
    int64_t start_ns;
    lbx__sqs_error error;    /* what it failed with */
    int status_override;     /* of HTTP, for a failure; 0: its own */
    lbx__received *put_back; /* letters that are being put back */
    lbx__request_step *put_back_step;
    lbx__change_ticket change;
    lbx__request_step *change_step;
    bool has_change_lock; /* or waits for it */
    bool is_receive;      /* its letters count until they are written: REQ-3 */
    bool is_poll;         /* its receive waits, and counts: POLLS-1 */
    bool is_running;
    bool is_gone;
    bool has_timer;

    /* What a receive or peek was given, in order. */
    lbx__received *received;
    lbx__received *last_received;
    size_t received_count;
};

/* Makes a call of the store; `store_request` is in the arena. */
void lbx__request_call(lbx__request *request, lbx_call_kind kind,
                       void *store_request, lbx__request_step *step);

/* The same for a receive that waits: it is cancelled when its wait is over,
 * and its step gets EMPTY. */
void lbx__request_receive(lbx__request *request, lbx_receive_request *receive,
                          lbx__request_step *step);

/* Puts letters back that were cut off; they are the request's from now on. */
void lbx__request_put_back(lbx__request *request, lbx__received *first,
                           lbx__request_step *step);

/* Ends the wait of a receive; anything else goes on. */
void lbx__request_cancel_receive(lbx__request *request);

/* What became of an answer that had letters (EXCH-3). */
void lbx__request_written(lbx__request *request, lbx_status status);

/* Forgets what was received, without putting it back. */
void lbx__request_drop_received(lbx__request *request);

/* Frees it, after it was answered. */
void lbx__request_destroy(lbx__request *request);

/* ---- request_answer.c ---- */

/* The reply is complete: answers and frees. */
void lbx__request_done(lbx__request *request);

/* The same for what is no reply of SQS: `body` is the answer. */
void lbx__request_page(lbx__request *request, const char *content_type);

/* Answers with an error and frees. */
void lbx__request_fail(lbx__request *request, lbx__sqs_error error,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with what is wrong with its input. */
void lbx__request_fail_fault(lbx__request *request,
                             const lbx__sqs_fault *fault);

/* The same for a status of the store: no such queue, no space, ... */
void lbx__request_fail_status(lbx__request *request, lbx_status status);

/* The error and the text of a status, for entries of a batch. */
lbx__sqs_error lbx__request_error_of(lbx_status status, const char **ret_text);

#endif
