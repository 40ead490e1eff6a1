/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: actors whose messages a test expects.
 *
 * Give the probe's ref to the actor under test, and say what must come:
 *
 *     lbx_probe *probe;
 *     lbx_envelope got;
 *
 *     lbx_probe_create(system, NULL, &probe);
 *     lbx_probe_tell(probe, till, NULL, order);
 *     status = lbx_probe_expect(probe, receipt_type, LBX_SECOND, &got);
 *     assert(status == LBX_OK);
 *     lbx_probe_destroy(probe);
 *
 * Time. With threads, the calls wait as long as they are told to, in real time.
 * A system without threads is run instead, until nothing is ready: what has not
 * come by then does not come, and LBX_TIMEOUT is returned at once. To let time
 * pass there, move the clock of the system and expect again.
 *
 * What a probe returns is the probe's, until the next call with it.
 *
 * Threads    one at a time, and not a handler.
 */
#ifndef LETTERBOX_ACTOR_PROBE_H
#define LETTERBOX_ACTOR_PROBE_H

#include <letterbox/actor/context.h>

LBX_BEGIN

typedef struct lbx_probe lbx_probe;

/*
 * lbx_probe_create() spawns a probe under "/user". `name` may be NULL.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_EXISTS; LBX_CLOSED; LBX_NO_MEMORY.
 * Ownership  the probe is the caller's: lbx_probe_destroy(), before the system
 *            is destroyed.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_probe_create(lbx_system *system,
                                                 const char *name,
                                                 lbx_probe **ret);

/*
 * lbx_probe_destroy() stops the probe's actor and destroys what it has got.
 * Takes NULL.
 *
 * Blocks     until the actor has stopped.
 * Since      0.1
 */
LBX_API void lbx_probe_destroy(lbx_probe *probe);

/*
 * lbx_probe_ref() is the probe's actor.
 *
 * Since      0.1
 */
LBX_API lbx_ref lbx_probe_ref(const lbx_probe *probe);

/*
 * lbx_probe_tell() sends a message with the probe as its sender; `type` may be
 * NULL.
 *
 * Ownership  the message is the system's, whatever happens.
 * Since      0.1
 */
LBX_API void lbx_probe_tell(lbx_probe *probe, lbx_ref to, const lbx_type *type,
                            void *message);

/*
 * lbx_probe_reply() sends a message to the sender of the message that the probe
 * has returned last; `type` may be NULL.
 *
 * Ownership  the message is the system's, whatever happens.
 * Since      0.1
 */
LBX_API void lbx_probe_reply(lbx_probe *probe, const lbx_type *type,
                             void *message);

/*
 * lbx_probe_receive() waits for the next message, whatever it is.
 *
 * Returns    LBX_OK; LBX_TIMEOUT after `timeout_ns` (negative: never);
 *            LBX_INVALID.
 * Ownership  the message is the probe's until the next call; `ret` may be NULL.
 * Blocks     until a message comes, or for `timeout_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_probe_receive(lbx_probe *probe,
                                                  int64_t timeout_ns,
                                                  lbx_envelope *ret);

/*
 * lbx_probe_expect() waits for the next message, which must be of `type`, or of
 * one derived from it; NULL: without a type.
 *
 * Returns    LBX_OK; LBX_REFUSED when the next message was another, which is in
 *            *ret then; LBX_TIMEOUT; LBX_INVALID.
 * Ownership  as lbx_probe_receive().
 * Blocks     as lbx_probe_receive().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_probe_expect(lbx_probe *probe,
                                                 const lbx_type *type,
                                                 int64_t timeout_ns,
                                                 lbx_envelope *ret);

/*
 * lbx_probe_find() waits for a message for which `accepts` returns true, and
 * destroys those that come before it.
 *
 * Returns    LBX_OK; LBX_TIMEOUT; LBX_INVALID.
 * Ownership  as lbx_probe_receive().
 * Blocks     as lbx_probe_receive().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_probe_find(lbx_probe *probe,
               bool (*accepts)(void *argument, const lbx_envelope *envelope),
               void *argument, int64_t timeout_ns, lbx_envelope *ret);

/*
 * lbx_probe_expect_none() waits, and no message must come meanwhile.
 *
 * Returns    LBX_OK; LBX_REFUSED when one has come, which the next call
 *            returns; LBX_INVALID.
 * Blocks     for `duration_ns`, or until a message comes.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_probe_expect_none(lbx_probe *probe,
                                                      int64_t duration_ns);

/*
 * lbx_probe_watch() makes the probe watch an actor.
 *
 * Since      0.1
 */
LBX_API void lbx_probe_watch(lbx_probe *probe, lbx_ref ref);

/*
 * lbx_probe_expect_end() waits for the next message, which must be the notice
 * that `ref`, which the probe watches, has stopped. Why goes to *ret_why, which
 * may be NULL.
 *
 * Returns    as lbx_probe_expect().
 * Ownership  *ret_why is the probe's, until the next call.
 * Blocks     as lbx_probe_receive().
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_probe_expect_end(lbx_probe *probe, lbx_ref ref, int64_t timeout_ns,
                     const lbx_termination **ret_why);

LBX_END

#endif
