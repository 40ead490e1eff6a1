/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes of the kernel, for ids, keys and secrets. */
#ifndef LBX_CODEC_RANDOM_H
#define LBX_CODEC_RANDOM_H

#include <letterbox/base.h>

/* Random bytes from the kernel. False when there are none, which has not been
 * seen since Linux 3.17. */
bool lbx__random(void *bytes, size_t size);

#endif
