/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 by libcrypto: SQS has it of bodies and attributes. Not for secrets. */
#ifndef LBX_CODEC_MD5_H
#define LBX_CODEC_MD5_H

#include <letterbox/base.h>

#define LBX__MD5_BYTES      16
#define LBX__MD5_TEXT_BYTES 33

typedef struct lbx__md5 lbx__md5; /* as lbx__digest: DIGEST-1 */

lbx_status lbx__md5_create(const lbx_allocator *allocator, lbx__md5 **ret);
void lbx__md5_destroy(lbx__md5 *md5);
void lbx__md5_start(lbx__md5 *md5);
void lbx__md5_add(lbx__md5 *md5, const void *bytes, size_t size);
lbx_status lbx__md5_finish(lbx__md5 *md5, char text[LBX__MD5_TEXT_BYTES]);

/* One for this thread, made on its first use; NULL without memory. */
lbx__md5 *lbx__md5_of_thread(void);

#endif
