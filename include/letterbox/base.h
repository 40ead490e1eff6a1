/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base: what every other header uses.
 *
 * Statuses, time, memory. Nothing here waits, and nothing here allocates.
 *
 * Ownership, for the whole library: what you receive through a `ret` pointer is
 * yours to destroy or release; what a function returns directly is borrowed
 * until its owner changes or is destroyed. Outputs are written on success only,
 * and inputs are unchanged on failure.
 *
 * Threads: unless an entry states otherwise, one object is used by one thread
 * at a time. "any" means any thread, at the same time as any other.
 *
 * Bad arguments (a NULL handle, a capacity of 0, an options struct that was not
 * started from its _INIT macro) return LBX_INVALID and change nothing. A
 * pointer to freed memory is undefined, as everywhere in C; debug builds of the
 * library stop on it.
 */
#ifndef LETTERBOX_BASE_H
#define LETTERBOX_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define LBX_BEGIN extern "C" {
#define LBX_END   }
#else
#define LBX_BEGIN
#define LBX_END
#endif

#if defined(__GNUC__)
#define LBX_API      __attribute__((visibility("default")))
#define LBX_MUST_USE __attribute__((warn_unused_result))
#else
#define LBX_API
#define LBX_MUST_USE
#endif

/* Functions that are compiled into the program: they return structs that may
 * grow, whose size the library cannot know. */
#define LBX_INLINE static inline

LBX_BEGIN

/* One row per outcome: name, value, text. The enum, lbx_status_name(),
 * lbx_status_text(), docs/errors.md and a test are all made from it. */
#define LBX_STATUS_MAP(XX)                                                     \
    XX(OK, 0, "success")                                                       \
    XX(NO_MEMORY, -1, "out of memory")                                         \
    XX(INVALID, -2, "invalid argument")                                        \
    XX(FULL, -3, "mailbox is full")                                            \
    XX(CLOSED, -4, "mailbox is closed")                                        \
    XX(NOT_FOUND, -5, "no such name")                                          \
    XX(EMPTY, -6, "nothing to receive")                                        \
    XX(PENDING, -7, "not finished yet")                                        \
    XX(TIMEOUT, -8, "the deadline passed")                                     \
    XX(CANCELLED, -9, "the operation was cancelled")                           \
    XX(BUSY, -10, "already in progress elsewhere")                             \
    XX(EXISTS, -11, "the name is taken")                                       \
    XX(WOULD_BLOCK, -12, "this context may not wait")                          \
    XX(REFUSED, -13, "the mailbox's own code refused the message")             \
    XX(UNSUPPORTED, -14, "this kind of mailbox cannot do that")                \
    XX(UNKNOWN, -15, "interrupted: it may have happened")                      \
    XX(EXPIRED, -16, "the receipt is no longer current")                       \
    XX(GONE, -17, "the letter has been deleted")                               \
    XX(FINALIZED, -18, "the letter has been settled")                          \
    XX(NO_ROUTE, -19, "no route for a reply of this type")                     \
    XX(NO_REPLY, -20, "the reply has no destination")                          \
    XX(ENCODING, -21, "the body cannot be encoded or decoded")                 \
    XX(UNREACHABLE, -22, "the store cannot be reached")                        \
    XX(TOO_LARGE, -23, "larger than the limit")                                \
    XX(NO_SPACE, -24, "no space left on the disk")                             \
    XX(IO, -25, "reading or writing failed")                                   \
    XX(CORRUPT, -26, "stored data is damaged")                                 \
    XX(NEWER, -27, "written by a newer version")                               \
    XX(DENIED, -28, "not permitted")                                           \
    XX(FORKED, -29, "opened before fork(): open it anew in this process")

/* What a call that can fail in several ways returns. */
typedef enum lbx_status {
#define LBX_STATUS_ENUM(name, value, text) LBX_##name = (value),
    LBX_STATUS_MAP(LBX_STATUS_ENUM)
#undef LBX_STATUS_ENUM
} lbx_status;

/*
 * lbx_status_name() returns the constant's own name, "LBX_FULL"; for a number
 * that is no status, "LBX_?".
 *
 * Threads    any. Async-signal-safe.
 * Since      0.1
 */
LBX_API const char *lbx_status_name(lbx_status status);

/*
 * lbx_status_text() returns a short English text for people.
 *
 * Threads    any. Async-signal-safe.
 * Since      0.1
 */
LBX_API const char *lbx_status_text(lbx_status status);

/*
 * lbx_version() is the version of the library that is running, "0.1.0"; the
 * headers' own is LBX_VERSION in <letterbox/version.h>.
 *
 * Threads    any. Async-signal-safe.
 * Since      0.1
 */
LBX_API const char *lbx_version(void);

/*
 * A sentence about a failure, for people: what was wrong and what is allowed.
 *
 * One convention for the whole library. A function that creates, opens, loads
 * or spawns something from an options struct writes to the options' `fault`.
 * Every other function that can explain a failure takes `lbx_fault *fault` as
 * its last parameter, after the outputs. Either may be NULL. A fault is written
 * only when the call fails.
 */
typedef struct lbx_fault {
    lbx_status status;
    char text[240];
} lbx_fault;

/*
 * Memory. Every create() takes an optional allocator, which must outlive what
 * was created with it; NULL means the C library's.
 *
 * `allocate` returns NULL when there is no memory; `align_bytes` is a power of
 * two. `release` gets the very size that was asked for. Both may be called
 * from any thread that uses the object, under a lock of the library's: they
 * must not use it.
 */
typedef struct lbx_allocator {
    void *(*allocate)(void *context, size_t size_bytes, size_t align_bytes);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} lbx_allocator;

/*
 * Time. Everything inside is int64_t nanoseconds of one monotonic clock.
 *
 * Deadlines are absolute; LBX_FOREVER never comes; one in the past means one
 * try and no wait. Durations are relative; a negative one is forever. A NULL
 * clock is the system's monotonic clock. Threads that park with an injected
 * clock read it again at the latest when the real time that was left has
 * passed. `now_ns` may be called under a lock of the library's and must not use
 * it.
 */
typedef struct lbx_clock {
    int64_t (*now_ns)(void *context);
    void *context;
} lbx_clock;

#define LBX_FOREVER INT64_MAX
#define LBX_NS      ((int64_t)1)
#define LBX_US      ((int64_t)1000)
#define LBX_MS      ((int64_t)1000000)
#define LBX_SECOND  ((int64_t)1000000000)

/*
 * lbx_clock_now() reads `clock`, or the system's monotonic clock for NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int64_t lbx_clock_now(const lbx_clock *clock);

/*
 * lbx_deadline_after() is now + `duration_ns` on `clock`: LBX_FOREVER when the
 * duration is negative or the sum does not fit.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int64_t lbx_deadline_after(const lbx_clock *clock, int64_t duration_ns);

/*
 * lbx_deadline_poll_ms() is a deadline as poll(), epoll_wait() and the like
 * want it: milliseconds from now, rounded up, at most INT_MAX; 0 for one in the
 * past, -1 for LBX_FOREVER.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int lbx_deadline_poll_ms(const lbx_clock *clock, int64_t deadline_ns);

/* Values of limits and durations that are no number: what the object itself
 * says, and no limit. */
#define LBX_DEFAULT   INT64_MIN
#define LBX_UNLIMITED INT64_MAX

LBX_END

#endif
