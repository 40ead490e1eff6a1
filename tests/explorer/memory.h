/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one execution: explorer_memory as the explorer sees it. */
#ifndef LBX_EXPLORER_MEMORY_H
#define LBX_EXPLORER_MEMORY_H

#include <stdbool.h>

/* Forgets every block. With `reuse`, freed blocks are handed out again. */
void memory_reset(bool reuse);

/* Fails the execution if something leaked or was written after its end. */
void memory_check_end(void);

/* True for an address in a block that was released, or in none. */
bool memory_is_dead(const void *address);

#endif
