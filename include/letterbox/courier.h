/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Couriers: workers that pass letters from a postbox to a handler.
 *
 * A courier receives, calls your handler, and settles the letter by the status
 * it returned. It replies before it acknowledges, returns failed letters with a
 * growing delay, puts hopeless ones aside, extends leases while the handler
 * sends heartbeats, and returns what it has not begun when it is stopped.
 *
 *     static lbx_status
 *     work(lbx_job *job, void *context)
 *     {
 *         const char *order = lbx_letter_body(lbx_job_letter(job), NULL);
 *         lbx_draft result = lbx_draft_of_text(compute(order));
 *
 *         return lbx_job_reply_and_acknowledge(job, &result);
 *     }
 *
 *     lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
 *
 *     options.postbox = requests;
 *     options.handle = work;
 *     options.handlers = 4;
 *     lbx_courier_create(&options, &courier);
 *     lbx_courier_start(courier);
 *     ...
 *     lbx_courier_stop(courier, lbx_deadline_after(NULL, 30 * LBX_SECOND));
 *     lbx_courier_destroy(courier);
 *
 * What becomes of a letter, by what the handler returns:
 *
 *   LBX_OK          acknowledged
 *   LBX_NO_ROUTE,   logged and acknowledged: the reply is not wanted
 *   LBX_NO_REPLY
 *   anything else   a failure. With a dead-letter postbox: put aside if the
 *                   policy decides so. Otherwise returned for
 *                   min(60 s * deliveries, 900 s)
 *
 * A handler that settles the letter itself is not interfered with. A lease that
 * was lost meanwhile (LBX_EXPIRED, LBX_GONE) is logged and counted, and work
 * goes on with the next letter. So it does when the store cannot be reached:
 * the courier tries again, after a pause that grows from 10 ms to 10 s.
 *
 * Putting aside, in this order: a dead-letter record is made of the letter; an
 * error reply is tried, so that a program that waits for a reply gets one; the
 * record is sent to the dead-letter postbox; the letter is acknowledged. If the
 * record cannot be sent, the letter is returned like any other failure.
 *
 * An error reply is what `reply_error` sends. Without it, it is a JSON object
 * of the type letterbox.Result, with the members request_id, error and
 * completed_at. The request id is that inside a letter of the type
 * letterbox.Request, otherwise the letter's id.
 *
 * Threads    any, unless an entry states otherwise. Handlers run on the
 *            courier's own threads, one for each of `handlers`; each has one
 *            job at a time.
 *
 * Caveats
 * - Choose lease > longest run + margin, watchdog > wait + longest run.
 * - Work may be done twice. Make it idempotent, or check
 *   lbx_letter_delivery_count().
 * - A letter that is put aside twice, after a crash between the record and the
 *   acknowledgement, is sent once within five minutes (lbx_draft's `token`),
 *   and possibly twice after that: the record has the letter's id.
 */
#ifndef LETTERBOX_COURIER_H
#define LETTERBOX_COURIER_H

#include <letterbox/actor/system.h>
#include <letterbox/base.h>
#include <letterbox/post/postbox.h>

LBX_BEGIN

typedef struct lbx_courier lbx_courier;
typedef struct lbx_job lbx_job;

/* What is done about a failed letter. */
typedef enum lbx_verdict {
    LBX_VERDICT_RETRY = 0,
    LBX_VERDICT_DEAD_LETTER,
} lbx_verdict;

/* A failure, as the policy sees it. */
typedef struct lbx_job_failure {
    const lbx_letter *letter;
    lbx_status status;       /* the status that the handler returned */
    const char *error_type;  /* lbx_job_fail(); else the status's name */
    const char *error_text;  /* lbx_job_fail(); else the status's text, and for
                                LBX_REFUSED that the handler refused it */
    uint32_t delivery_count; /* this delivery included */
    lbx_verdict verdict;     /* the result of the rules below */
} lbx_job_failure;

/* When to put a letter aside. The rules, in this order: an error type in
 * `exclude` never is; one in `include` is at once; others from the given
 * delivery on. Names are compared whole. The dead letter is sent and the letter
 * acknowledged as by lbx_letter_send_and_acknowledge();
 * lbx_dead_letter_send_back() is the way back.
 *
 * A dead letter in a box of work, moved there by a program, is put aside like
 * any letter, as the record that it is: records are never inside records. */
typedef struct lbx_dead_letter_policy {
    lbx_postbox *postbox;       /* where to, another box than the courier's;
                                   referenced. NULL: no policy */
    uint32_t deliveries;        /* from this one on; 5. "More than five" is 6 */
    const char *const *include; /* error types that are put aside at once */
    size_t include_count;
    const char *const *exclude; /* those that never are; they win */
    size_t exclude_count;
    /* Decides instead, knowing the result of the rules. NULL: the rules. */
    lbx_verdict (*decide)(void *context, const lbx_job_failure *failure);
    void *context;
} lbx_dead_letter_policy;

typedef struct lbx_courier_options {
    size_t size_bytes;              /* LBX_COURIER_OPTIONS_INIT sets it */
    const lbx_allocator *allocator; /* borrowed, as all pointers here */
    const lbx_clock *clock;         /* of heartbeats and the watchdog */
    lbx_fault *fault;               /* filled in when creation fails */

    lbx_postbox *postbox; /* referenced */
    lbx_status (*handle)(lbx_job *job, void *context);
    void *context;
    uint32_t handlers; /* threads, and jobs at a time; 1 to 1024; 1 */

    /* Receiving. */
    int64_t lease_ns; /* 300 s; at least 1 ms; LBX_DEFAULT: the box's */
    /* 20 s: how long a long poll is; LBX_DEFAULT: the box's; other negative
     * ones: forever */
    int64_t wait_ns;
    uint32_t max_letters; /* in one receive, for one handler, which takes them
                              one by one; 1 to LBX_MAX_BATCH; 1 */

    /* Leases are extended by lbx_job_heartbeat(): by the first one, and then at
     * most every extend_every_ns, to extend_to_ns from now; with them those of
     * letters that the same handler has received and not begun. A handler that
     * hangs sends no heartbeat, and loses its lease. 0: never. */
    int64_t extend_every_ns; /* 60 s */
    int64_t extend_to_ns;    /* 300 s */

    /* Failing. */
    int64_t retry_ns;     /* 60 s: times deliveries is the delay ... */
    int64_t max_retry_ns; /* 900 s: ... but no more than this */
    lbx_dead_letter_policy dead_letters;
    bool reply_on_failure; /* without a policy: an error reply is sent, and the
                             letter is acknowledged */

    /* Called with lines for people, in the courier's threads. NULL: not
     * called. */
    void (*log)(void *context, const char *line);
    void *log_context;

    /* Called when a handler has sent no heartbeat for watchdog_ns, once for
     * each silence: the handler hangs, or its store does not respond. In a
     * thread of its own, with the handlers' `context`. NULL: not called. */
    void (*stuck)(void *context, int64_t silent_ns);
    int64_t watchdog_ns; /* 720 s; more than wait_ns */

    /* Written before each line of `log`, with ": " behind it, so that couriers
     * can share a log. NULL: none. */
    const char *name;

    /* Sends the error reply, instead of a letterbox.Result: by
     * lbx_letter_reply() to lbx_job_letter(), with a message of your own type
     * made of the failure. Called with the handlers' `context` when a letter
     * that has routes is put aside, and for `reply_on_failure`. Returns the
     * status of the reply, and settles nothing. NULL: a letterbox.Result. */
    lbx_status (*reply_error)(lbx_job *job, const lbx_job_failure *failure,
                              void *context);
} lbx_courier_options;

#define LBX_COURIER_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_courier_options), .handlers = 1,              \
        .lease_ns = 300 * LBX_SECOND, .wait_ns = 20 * LBX_SECOND,              \
        .max_letters = 1, .extend_every_ns = 60 * LBX_SECOND,                  \
        .extend_to_ns = 300 * LBX_SECOND, .retry_ns = 60 * LBX_SECOND,         \
        .max_retry_ns = 900 * LBX_SECOND, .dead_letters = {.deliveries = 5},   \
        .watchdog_ns = 720 * LBX_SECOND                                        \
    }

/*
 * lbx_courier_create() makes a courier that is not running.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_UNSUPPORTED for a postbox that only
 *            sends; LBX_CLOSED for one that is closed, here or for dead
 *            letters; LBX_NO_MEMORY. options->fault explains it.
 * Ownership  the courier is the caller's: lbx_courier_destroy().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_courier_create(const lbx_courier_options *options, lbx_courier **ret);

/*
 * lbx_courier_destroy() stops it, however long that takes, and frees it. Takes
 * NULL.
 *
 * Threads    any but a handler of its own, once.
 * Blocks     until its handlers have returned.
 * Since      0.1
 */
LBX_API void lbx_courier_destroy(lbx_courier *courier);

/*
 * lbx_courier_start() starts the handlers' threads. They exit when the courier
 * is stopped, or its postbox closed.
 *
 * Returns    LBX_OK; LBX_BUSY when it is running; LBX_CLOSED when its postbox
 *            is; LBX_NO_MEMORY, also when threads cannot be started;
 *            LBX_INVALID.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_courier_start(lbx_courier *courier);

/*
 * lbx_courier_run() is the main loop in the calling thread, with one handler:
 * until it is stopped, its postbox is closed, or `max_receives` receives have
 * been made, empty ones included; negative: any number.
 *
 * Returns    LBX_OK when it was stopped or is through; LBX_CLOSED; LBX_BUSY
 *            when it is running; LBX_NO_MEMORY; LBX_INVALID.
 * Blocks     until then.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_courier_run(lbx_courier *courier,
                                                int64_t max_receives);

/*
 * lbx_courier_run_until_signal() is the whole life of a worker's main(): it
 * starts the handlers' threads, waits until the process gets SIGTERM or SIGINT,
 * and stops as lbx_courier_stop() does, giving handlers at work `grace_ns`;
 * negative: as long as they take. It returns too when the courier is stopped by
 * another thread, or its postbox closed.
 *
 *     status = lbx_courier_run_until_signal(courier, 30 * LBX_SECOND);
 *     lbx_courier_destroy(courier);
 *
 * While it runs, the two signals have a handler of the library's, and are not
 * blocked in the calling thread; both are as before when it returns. A signal
 * that the program ignores stays ignored. One signal ends all such calls.
 *
 * Returns    LBX_OK; LBX_TIMEOUT when a handler is still at work: its letter is
 *            delivered again when its lease ends, if the process exits now;
 *            LBX_CLOSED; otherwise as lbx_courier_start().
 * Blocks     until then.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_courier_run_until_signal(lbx_courier *courier, int64_t grace_ns);

/*
 * lbx_courier_stop() lets handlers finish the current letter, returns those
 * that were received and not begun, and waits until all have. A stopped courier
 * can be started again.
 *
 * Returns    LBX_OK, also when it was not running; LBX_TIMEOUT when a handler
 *            is still at work at the deadline: it will stop when that returns;
 *            LBX_PENDING at once from a handler of its own; LBX_INVALID.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_courier_stop(lbx_courier *courier,
                                                 int64_t deadline_ns);

/*
 * lbx_courier_is_running() returns whether it runs: it was started, and has not
 * been stopped, nor its postbox closed.
 *
 * Since      0.1
 */
LBX_API bool lbx_courier_is_running(const lbx_courier *courier);

/* Statistics of a courier, since its creation. */
typedef struct lbx_courier_stats {
    size_t size_bytes;     /* LBX_COURIER_STATS_INIT sets it */
    uint64_t received;     /* letters */
    uint64_t acknowledged; /* by the courier, replied ones included */
    uint64_t returned;     /* after a failure */
    uint64_t dead_letters; /* put aside */
    uint64_t lost_leases;  /* LBX_EXPIRED or LBX_GONE when settling, or before a
                              letter was begun */
    uint64_t extended;     /* leases */
    uint64_t released_unstarted; /* not begun when it was stopped */
    uint64_t unsettled;          /* the store could not: they come again */
    int64_t silent_ns; /* since the last sign of life of the handler that
                              has been silent for longest; 0: not running */
} lbx_courier_stats;

#define LBX_COURIER_STATS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_courier_stats)                                \
    }

/*
 * lbx_courier_stats_read() reads the statistics, each at its own instant.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  a copy.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_courier_stats_read(const lbx_courier *courier, lbx_courier_stats *ret);

/*
 * lbx_job_letter() is the letter a handler was called for; the courier's.
 *
 * Threads    one at a time, until the handler returns.
 * Since      0.1
 */
LBX_API lbx_letter *lbx_job_letter(lbx_job *job);

/*
 * lbx_job_heartbeat() is a heartbeat: it resets the watchdog, and extends the
 * lease when that is due. Call it now and then in long work.
 *
 * Returns    LBX_OK; LBX_EXPIRED or LBX_GONE when the lease was lost: stop, the
 *            letter belongs to another receiver now. Other failures to extend
 *            are logged.
 * Threads    one at a time with all that uses the letter.
 * Blocks     until the lease is extended, if that is due.
 * Since      0.1
 */
LBX_API lbx_status lbx_job_heartbeat(lbx_job *job);

/*
 * lbx_job_is_stopping() returns whether the courier is being stopped.
 *
 * Threads    any, until the handler returns.
 * Since      0.1
 */
LBX_API bool lbx_job_is_stopping(const lbx_job *job);

/*
 * lbx_job_reply_and_acknowledge() sends the last reply and acknowledges the
 * letter: in one step where both live in one store, otherwise one after the
 * other. It is the last call of a handler, which returns its status. For
 * replies before that, lbx_letter_reply().
 *
 * A reply that could not be sent, because the destination is full or
 * unreachable, is no failure of the work: the letter is returned, and never put
 * aside for it.
 *
 * Returns    as lbx_letter_reply_and_acknowledge().
 * Ownership  the draft is borrowed.
 * Threads    one at a time with all that uses the letter.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_job_reply_and_acknowledge(lbx_job *job, const lbx_draft *answer);

/*
 * lbx_job_fail() adds details to a failure; both texts are copied, cut at 127
 * and 1023 bytes, and may be stored in a dead letter. It returns `status`, for
 * the handler to return:
 *
 *     return lbx_job_fail(job, LBX_INVALID, "shop.BadOrder", "no address");
 *
 * Returns    `status`.
 * Threads    one at a time, until the handler returns.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_job_fail(lbx_job *job, lbx_status status,
                                             const char *error_type,
                                             const char *error_text);

/*
 * lbx_job_finish() and returning LBX_PENDING: work that goes on elsewhere after
 * the handler has returned. The job, its letter and its lease stay until this
 * is called with the final status, once; the handler's thread waits for it.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_job_finish(lbx_job *job, lbx_status status);

/* The actor that lbx_courier_tell_actor() sends to. */
typedef struct lbx_courier_actor {
    lbx_system *system; /* must outlive the courier's run */
    lbx_ref ref;
} lbx_courier_actor;

/*
 * lbx_courier_tell_actor() is a handler for lbx_courier_options: it sends the
 * letter's message, decoded, to an actor, and returns the status of the actor's
 * handler: the letter is acknowledged when the actor's handler has returned
 * LBX_OK (lbx_tell_handled_init()). The context is an lbx_courier_actor.
 *
 * Each of the courier's handlers waits for its letter: with one, the actor has
 * the letters one by one and in order; with several, as many at a time. The
 * lease must last for the wait in the mailbox and the work.
 *
 * Returns    what the actor's handler returned; LBX_NOT_FOUND and the like as
 *            lbx_tell_handled_init(); LBX_ENCODING; LBX_UNSUPPORTED for a body
 *            without a type known here; LBX_NO_MEMORY.
 * Threads    the courier's.
 * Blocks     until the message has been handled.
 * Since      0.1
 */
LBX_API lbx_status lbx_courier_tell_actor(lbx_job *job, void *context);

/*
 * ---- Dead letters ----
 *
 * A letter that is put aside is sent as a JSON object of the type
 * letterbox.DeadLetter: {"message_id": "...", "body": "...", ...}. Times are
 * RFC 3339, written in UTC with milliseconds, read with any offset. Absent
 * members are left out when written; null is read as absent. Unknown members
 * are ignored. Texts of a decoded record are inside it.
 */

/* A letter that was put aside. A body that is UTF-8 is "body" in the JSON, any
 * other "body_base64". Routes, attributes, trace, group and `in_reply_to` of
 * the letter are not in the record: the dead letter has them as its own. */
typedef struct lbx_dead_letter_record {
    size_t size_bytes; /* LBX_DEAD_LETTER_RECORD_INIT sets it */
    lbx_id message_id; /* of the letter that failed */
    const void *body;  /* with a NUL behind it, when decoded */
    size_t body_bytes;
    const char *body_type;
    const char *source_mailbox; /* the box it was received from */
    uint32_t delivery_count;
    const char *last_error;
    const char *last_error_type;
    int64_t dead_lettered_ms;
    int64_t first_received_ms;
    lbx_id request_id;         /* in a letterbox.Request; empty: none */
    const char *reply_mailbox; /* where a result would have gone; NULL: none */
    const char *trace_id;
} lbx_dead_letter_record;

#define LBX_DEAD_LETTER_RECORD_INIT                                            \
    {                                                                          \
        .size_bytes = sizeof(lbx_dead_letter_record)                           \
    }

/*
 * lbx_dead_letter_record_type() is the type of lbx_dead_letter_record.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_type *lbx_dead_letter_record_type(void);

/*
 * lbx_dead_letter_send_back() sends the original letter to `to`, as it was, and
 * acknowledges the dead letter:
 *
 *     while (lbx_postbox_receive(dead, 0, &letter) == LBX_OK) {
 *         status = lbx_dead_letter_send_back(letter, orders, NULL);
 *         lbx_letter_destroy(letter);
 *     }
 *
 * It takes what a courier has put aside, which is a record and becomes the
 * letter again, and what a box has moved after `max_deliveries`, which is the
 * letter. Body, type, routes, attributes, trace, group and `in_reply_to` are
 * those of the letter; it gets a new id, and starts with no deliveries. (A
 * record that has no routes, as another program wrote it, leads its replies to
 * `reply_mailbox`.)
 *
 * In one store both are one step: the letter is in one of the two boxes at
 * every moment. Otherwise it is sent first and the dead letter acknowledged
 * after that; if something goes wrong in between both are there, and the same
 * dead letter sent back within five minutes is there once (lbx_draft's
 * `token`), after that possibly twice.
 *
 * Returns    LBX_OK; LBX_INVALID for a letter that is no dead letter;
 *            LBX_ENCODING for a record that cannot be read; otherwise as
 *            lbx_letter_send_and_acknowledge(). On anything but LBX_OK the dead
 *            letter is not settled.
 * Ownership  all is copied; `ret_sent` is the caller's, and may be NULL.
 * Threads    one at a time with all that uses the letter.
 * Blocks     until it is durable.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_dead_letter_send_back(
    lbx_letter *dead, lbx_postbox *to, lbx_sent_letter *ret_sent);

/*
 * lbx_courier_options_read_for_dead_letters() writes the options of a courier
 * on a dead-letter postbox into `ret`, whose `size_bytes` is set: lease 300 s,
 * wait 20 s, failures come back after an hour, nothing is put aside.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status
lbx_courier_options_read_for_dead_letters(lbx_courier_options *ret);

/* lbx_courier_options_for_dead_letters() returns them, made in the program
 * itself. */
LBX_INLINE lbx_courier_options
lbx_courier_options_for_dead_letters(void)
{
    lbx_courier_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_courier_options_read_for_dead_letters(&options);
    return options;
}

LBX_END

#endif
