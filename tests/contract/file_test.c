/* SPDX-License-Identifier: Apache-2.0 */
/* The contract over the store in files: in exclusive and in shared mode. */
#include "contract.h"

#define STAMP_FILE(name, numbers) CONTRACT_TEST(file, name, numbers)
CONTRACT(STAMP_FILE)

#define STAMP_SHARED(name, numbers) CONTRACT_TEST(shared, name, numbers)
CONTRACT(STAMP_SHARED)
