/* SPDX-License-Identifier: Apache-2.0 */
/* The contract over the store in memory. */
#include "contract.h"

#define STAMP(name, numbers) CONTRACT_TEST(memory, name, numbers)
CONTRACT(STAMP)
