/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubles: postboxes for tests, and a clock that the test moves.
 *
 *     null        takes every letter and forgets it; always empty
 *     collecting  keeps what was sent, in order, for you to look at; never
 *                 gives it out
 *     fake        a postbox in memory that fails when you say so
 *
 * They are lbx_postbox like any other: give them to the code under test.
 *
 *     lbx_collecting_postbox_create(NULL, &outbox);
 *     run(outbox);
 *     assert(lbx_collecting_postbox_count(outbox) == 1);
 *     assert(strcmp(lbx_collecting_postbox_at(outbox, 0)->bytes, "done") == 0);
 *
 * Time. A store that was opened with an lbx_test_clock stands still until the
 * test moves it, and what becomes due then happens before the call that moved
 * it returns:
 *
 *     lbx_test_clock time = LBX_TEST_CLOCK_INIT;
 *     lbx_clock clock = lbx_test_clock_as_clock(&time);
 *
 *     options.clock = &clock;
 *     lbx_store_open("memory:", &options, &store);
 *     ...
 *     lbx_test_clock_advance(&time, 30 * LBX_SECOND, store);
 *
 * Actors are tested with probes: <letterbox/actor/probe.h>.
 *
 * Threads    any.
 */
#ifndef LETTERBOX_TESTING_H
#define LETTERBOX_TESTING_H

#include <letterbox/base.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/postbox.h>

LBX_BEGIN

/*
 * lbx_null_postbox_create() makes a postbox that forgets what it is sent.
 * Options may be NULL; so in all of these. `box` and `store` in them are not
 * used.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the postbox is the caller's: lbx_postbox_unref().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_null_postbox_create(const lbx_postbox_options *options, lbx_postbox **ret);

/*
 * lbx_collecting_postbox_create() makes a postbox that keeps what it is sent
 * and gives nothing out. A purge forgets it.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the postbox is the caller's.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_collecting_postbox_create(
    const lbx_postbox_options *options, lbx_postbox **ret);

/*
 * lbx_collecting_postbox_count() is how many letters were sent; 0 for a postbox
 * of another kind.
 *
 * Since      0.1
 */
LBX_API size_t lbx_collecting_postbox_count(lbx_postbox *postbox);

/*
 * lbx_collecting_postbox_at() is a letter that was sent, by its index from 0,
 * as a draft with its bytes, which end with a NUL; NULL past the end. It is
 * valid until the postbox is purged or destroyed.
 *
 * Since      0.1
 */
LBX_API const lbx_draft *lbx_collecting_postbox_at(lbx_postbox *postbox,
                                                   size_t index);

/*
 * lbx_fake_postbox_create() makes a postbox in memory, with a store of its own,
 * that fails on request. Of its options, `box` is its rules, without fifo and
 * dead letters, and `store` may have a clock. It is plain: what becomes due by
 * itself is given out by the next call or the next move of its clock, not by a
 * timer.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the postbox is the caller's.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_fake_postbox_create(const lbx_postbox_options *options, lbx_postbox **ret);

/*
 * lbx_fake_postbox_expire() makes a letter's receipt worthless, as if its lease
 * had run out and another receiver had it: settling returns LBX_EXPIRED.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when the letter is not leased from this
 *            postbox; LBX_INVALID.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_fake_postbox_expire(lbx_postbox *postbox, const lbx_letter *letter);

/*
 * lbx_fake_postbox_set_error() makes sends, receives, purges and counts return
 * `error` from now on; LBX_UNREACHABLE is a connection that is down. LBX_OK
 * clears it.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_fake_postbox_set_error(lbx_postbox *postbox,
                                                           lbx_status error);

/*
 * lbx_fake_postbox_inject() inserts a letter as if it had been sent: `id`,
 * unless NULL, is its id, and it has been delivered `delivery_count` times
 * already.
 *
 * Returns    LBX_OK; LBX_EXISTS for an id that is there; LBX_INVALID;
 *            LBX_NO_MEMORY.
 * Ownership  all is copied.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_fake_postbox_inject(lbx_postbox *postbox, const lbx_draft *draft,
                        const char *id, uint32_t delivery_count);

/* A clock that stands until it is moved. The content is the library's. */
typedef struct lbx_test_clock {
    int64_t now_ns;
} lbx_test_clock;

/* Not 0, so that code which takes 0 for "no time" is found out. */
#define LBX_TEST_CLOCK_INIT                                                    \
    {                                                                          \
        1000 * LBX_SECOND                                                      \
    }

/*
 * lbx_test_clock_as_clock() is the clock as the library wants it; it must
 * outlive what is given it, and so must `time`.
 *
 * Threads    any; a reader sees the new time at once.
 * Since      0.1
 */
LBX_API lbx_clock lbx_test_clock_as_clock(lbx_test_clock *time);

/*
 * lbx_test_clock_advance() moves a clock on. With a store, which may be NULL,
 * it comes back when everything that has become due there has been done, and
 * receives that got something have been woken.
 *
 * Threads    one at a time per clock.
 * Since      0.1
 */
LBX_API void lbx_test_clock_advance(lbx_test_clock *time, int64_t duration_ns,
                                    lbx_store *store);

LBX_END

#endif
