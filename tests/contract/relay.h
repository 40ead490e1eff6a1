/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store of one's own, as small as one can be: it stands before another and
 * forwards every call. It is written with the public headers alone, so that
 * what docs/writing-a-store.md describes is tried.
 */
#ifndef LBX_TEST_CONTRACT_RELAY_H
#define LBX_TEST_CONTRACT_RELAY_H

#include <letterbox/store_driver.h>

/* Makes a store that stands before `to`, whose reference it takes over. NULL:
 * no memory. */
lbx_store *relay_create(lbx_store *to);

#endif
