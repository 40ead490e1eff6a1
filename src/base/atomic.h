/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only door to atomic operations.
 *
 * Everything shared between threads goes through these names, so that one
 * source serves three builds: the product, ThreadSanitizer, and the explorer,
 * which turns each operation into a point where it may switch threads
 * (LBX_SYSTEMATIC; tests/explorer). The memory order is the last word of the
 * call, always written, and every order weaker than seq_cst has a comment
 * saying what it orders. There are no stand-alone fences: ThreadSanitizer does
 * not understand them.
 *
 *     lbx__load(&x, acquire)            lbx__store(&x, v, release)
 *     lbx__exchange(&x, v, acq_rel)     lbx__cas(&x, &seen, v, acq_rel)
 *     lbx__add, lbx__sub, lbx__or, lbx__and: fetch first, then change
 */
#ifndef LBX_BASE_ATOMIC_H
#define LBX_BASE_ATOMIC_H

#include <stdatomic.h>

#ifdef LBX_SYSTEMATIC
/* Called before each shared operation; may run other threads. */
void lbx__explore_point(const volatile void *address, int writes);
#define LBX__POINT(p, writes) lbx__explore_point((p), (writes))
#else
#define LBX__POINT(p, writes) ((void)0)
#endif

#define lbx__load(p, order)                                                    \
    (LBX__POINT(p, 0), atomic_load_explicit(p, memory_order_##order))
#define lbx__store(p, v, order)                                                \
    (LBX__POINT(p, 1), atomic_store_explicit(p, v, memory_order_##order))
#define lbx__exchange(p, v, order)                                             \
    (LBX__POINT(p, 1), atomic_exchange_explicit(p, v, memory_order_##order))
#define lbx__add(p, v, order)                                                  \
    (LBX__POINT(p, 1), atomic_fetch_add_explicit(p, v, memory_order_##order))
#define lbx__sub(p, v, order)                                                  \
    (LBX__POINT(p, 1), atomic_fetch_sub_explicit(p, v, memory_order_##order))
#define lbx__or(p, v, order)                                                   \
    (LBX__POINT(p, 1), atomic_fetch_or_explicit(p, v, memory_order_##order))
#define lbx__and(p, v, order)                                                  \
    (LBX__POINT(p, 1), atomic_fetch_and_explicit(p, v, memory_order_##order))

/* Strong; a failed one writes what was seen into *seen. The failure order is
 * the success order's load half. */
#define lbx__cas(p, seen, v, order)                                            \
    (LBX__POINT(p, 1),                                                         \
     atomic_compare_exchange_strong_explicit(p, seen, v, memory_order_##order, \
                                             LBX__ON_FAIL_##order))
#define LBX__ON_FAIL_relaxed memory_order_relaxed
#define LBX__ON_FAIL_acquire memory_order_acquire
#define LBX__ON_FAIL_release memory_order_relaxed
#define LBX__ON_FAIL_acq_rel memory_order_acquire
#define LBX__ON_FAIL_seq_cst memory_order_seq_cst

/* Keeps the compiler from moving memory accesses across; the processor is kept
 * in order by the other side's lbx__barrier_all(). No instruction. */
#define lbx__keep_order() atomic_signal_fence(memory_order_seq_cst)

/* Before an object is shared, and where it is quiet: no ordering, no point. */
#define lbx__init(p, v) atomic_init(p, v)
#define lbx__peek(p)    atomic_load_explicit(p, memory_order_relaxed)

/* What one cache line is; two are fetched together on x86-64. */
#define LBX__LINE 64

#endif
