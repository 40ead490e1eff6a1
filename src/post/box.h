/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and options of boxes: their checks, with faults in words.
 *
 * BOX-1  Each preset of options passes lbx_box_options_check().
 * BOX-2  Options that pass lie within their own limits: no rule checks them
 *        again.
 *
 * No state, no locks: any thread. Only lbx__box_fault_explain() calls the
 * store, and only after a failure and for a caller that wants a fault.
 */
#ifndef LBX_POST_BOX_H
#define LBX_POST_BOX_H

#include <letterbox/post/box.h>
#include <letterbox/store_driver.h>

/* 1 to 127 bytes of printable ASCII, without '/' and spaces. */
bool lbx__box_name_valid(const char *name);

/* The same with a fault: OK; INVALID. `what` is the option that has the name;
 * NULL: none. `name` may be NULL. */
lbx_status lbx__box_name_check(const char *name, const char *what,
                               lbx_fault *fault);

/* A name and the options of a box under that name: OK; INVALID. */
lbx_status lbx__box_check(const char *name, const lbx_box_options *options,
                          lbx_fault *fault);

/* A user's options as this library's: the same, the defaults for NULL, or
 * `own`; NULL, with a fault, when their size is invalid. */
const lbx_box_options *lbx__box_view_options(const lbx_box_options *options,
                                             lbx_box_options *own,
                                             lbx_fault *fault);

/* Writes into `fault`, which may be NULL, why CREATE or CONFIGURE of a box
 * failed with `status`; returns the status. */
lbx_status lbx__box_fault_explain(lbx_store *store, lbx_call_kind verb,
                                  const lbx_box_request *request,
                                  lbx_status status, lbx_fault *fault);

#endif
