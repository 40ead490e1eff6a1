/* SPDX-License-Identifier: Apache-2.0 */
/* The contract over a store that a stranger wrote. */
#include "contract.h"

#define STAMP(name, numbers) CONTRACT_TEST(relay, name, numbers)
CONTRACT(STAMP)
