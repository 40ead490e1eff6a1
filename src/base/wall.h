/* SPDX-License-Identifier: Apache-2.0 */
/* The time on the wall: for people to read, never to compare. */
#ifndef LBX_BASE_WALL_H
#define LBX_BASE_WALL_H

#include <stdint.h>

/* Milliseconds since 1970, UTC. */
int64_t lbx__wall_ms(void);

#endif
