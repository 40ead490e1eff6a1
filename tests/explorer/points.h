/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put before every source of the systematic build: the point of an operation
 * comes after its operands.
 *
 * In lbx__store(&x, lbx__load(&y, relaxed), release) the load must be a step
 * of its own, before the store's; base/atomic.h leaves the order open, which
 * makes no difference in the product.
 *
 * And what the bugs in planted.txt ask: am I planted now?
 */
#ifndef LBX_EXPLORER_POINTS_H
#define LBX_EXPLORER_POINTS_H

#include "base/atomic.h"
#include <stdbool.h>

bool explorer_mutant(const char *name);

#define LBX__VALUE_FIRST(function, p, v, order)                                \
    __extension__({                                                            \
        __typeof__(v) value_first = (v);                                       \
        LBX__POINT(p, 1);                                                      \
        function(p, value_first, order);                                       \
    })

#undef lbx__store
#define lbx__store(p, v, order)                                                \
    LBX__VALUE_FIRST(atomic_store_explicit, p, v, memory_order_##order)
#undef lbx__exchange
#define lbx__exchange(p, v, order)                                             \
    LBX__VALUE_FIRST(atomic_exchange_explicit, p, v, memory_order_##order)
#undef lbx__add
#define lbx__add(p, v, order)                                                  \
    LBX__VALUE_FIRST(atomic_fetch_add_explicit, p, v, memory_order_##order)
#undef lbx__sub
#define lbx__sub(p, v, order)                                                  \
    LBX__VALUE_FIRST(atomic_fetch_sub_explicit, p, v, memory_order_##order)

#endif
