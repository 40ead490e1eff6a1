/* SPDX-License-Identifier: Apache-2.0 */
/* The contract over the other form of the service. */
#include "contract.h"

#define STAMP(name, numbers) CONTRACT_TEST(threaded, name, numbers)
CONTRACT(STAMP)
