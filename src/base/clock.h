/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks that outlive a process; lbx_clock_now() has the monotonic one. */
#ifndef LBX_BASE_CLOCK_H
#define LBX_BASE_CLOCK_H

#include <stdint.h>

/* ns since the machine was started, the time it slept included. */
int64_t lbx__clock_boot(void);

/* ns since 1970. People set it: shown, never compared. */
int64_t lbx__clock_wall(void);
int64_t lbx__clock_wall_ms(void);

#endif
