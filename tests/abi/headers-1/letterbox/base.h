/* SPDX-License-Identifier: Apache-2.0 */
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
#define LBX_INLINE static inline
LBX_BEGIN
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
    XX(BUSY, -10, "someone else is doing this already")                        \
    XX(EXISTS, -11, "the name is taken")                                       \
    XX(WOULD_BLOCK, -12, "this context may not wait")                          \
    XX(REFUSED, -13, "the mailbox's own code refused the message")             \
    XX(UNSUPPORTED, -14, "this kind of mailbox cannot do that")                \
    XX(UNKNOWN, -15, "cut off before an answer: it may have happened")         \
    XX(EXPIRED, -16, "the receipt is no longer current")                       \
    XX(GONE, -17, "the letter has been deleted")                               \
    XX(FINALIZED, -18, "the letter has been settled")                          \
    XX(NO_ROUTE, -19, "no route for a reply of this type")                     \
    XX(NO_REPLY, -20, "the reply has no place to go to")                       \
    XX(ENCODING, -21, "the body cannot be encoded or decoded")                 \
    XX(UNREACHABLE, -22, "the store cannot be reached")                        \
    XX(TOO_LARGE, -23, "larger than the limit")                                \
    XX(NO_SPACE, -24, "no space left on the disk")                             \
    XX(IO, -25, "reading or writing failed")                                   \
    XX(CORRUPT, -26, "stored data is damaged")                                 \
    XX(NEWER, -27, "written by a newer version")                               \
    XX(DENIED, -28, "not permitted")
typedef enum lbx_status {
#define LBX_STATUS_ENUM(name, value, text) LBX_##name = (value),
    LBX_STATUS_MAP(LBX_STATUS_ENUM)
#undef LBX_STATUS_ENUM
} lbx_status;
LBX_API const char *lbx_status_name(lbx_status status);
LBX_API const char *lbx_status_text(lbx_status status);
LBX_API const char *lbx_version(void);
typedef struct lbx_fault {
    lbx_status status;
    char text[240];
} lbx_fault;
typedef struct lbx_allocator {
    void *(*allocate)(void *context, size_t size_bytes, size_t align_bytes);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} lbx_allocator;
typedef struct lbx_clock {
    int64_t (*now_ns)(void *context);
    void *context;
} lbx_clock;
#define LBX_FOREVER INT64_MAX
#define LBX_NS      ((int64_t)1)
#define LBX_US      ((int64_t)1000)
#define LBX_MS      ((int64_t)1000000)
#define LBX_SECOND  ((int64_t)1000000000)
LBX_API int64_t lbx_clock_now(const lbx_clock *clock);
LBX_API int64_t lbx_deadline_after(const lbx_clock *clock, int64_t duration_ns);
LBX_API int lbx_deadline_poll_ms(const lbx_clock *clock, int64_t deadline_ns);
#define LBX_DEFAULT   INT64_MIN
#define LBX_UNLIMITED INT64_MAX
LBX_END
#endif
