/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things of the library that are released at the end of their block, the one
 * declared last first:
 *
 *     LOCAL_TYPE(fruit) = test_type("t.Fruit", NULL);
 *     LOCAL_TYPE(apple) = test_type("t.Apple", fruit);
 *
 * One without an initializer must be set before its block is left. A check
 * that fails ends the process and releases nothing.
 */
#ifndef LBX_TEST_SUPPORT_LOCAL_H
#define LBX_TEST_SUPPORT_LOCAL_H

#include <letterbox/actor/system.h>
#include <letterbox/mailbox/signal.h>
#include <letterbox/operation.h>
#include <letterbox/type.h>

#define LOCAL_OPERATION(name)                                                  \
    __attribute__((cleanup(lbx_operation_fini))) lbx_operation name

#define LOCAL_TYPE(name)                                                       \
    __attribute__((cleanup(test_type_release))) lbx_type *name

#define LOCAL_SIGNAL(name)                                                     \
    __attribute__((cleanup(test_signal_release))) lbx_signal *name

#define LOCAL_SYSTEM(name)                                                     \
    __attribute__((cleanup(test_system_release))) lbx_system *name

/* A type with this name, derived from `base`, which may be NULL. */
lbx_type *test_type(const char *name, const lbx_type *base);

void test_type_release(lbx_type **type);
void test_signal_release(lbx_signal **signal);
void test_system_release(lbx_system **system);

#endif
