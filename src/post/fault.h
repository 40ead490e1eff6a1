/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about failures, for people. */
#ifndef LBX_POST_FAULT_H
#define LBX_POST_FAULT_H

#include <letterbox/base.h>

/* Fills a fault in, which may be NULL; answers the status. */
lbx_status lbx__fault(lbx_fault *fault, lbx_status status, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

#endif
