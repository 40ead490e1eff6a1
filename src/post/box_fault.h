/* SPDX-License-Identifier: Apache-2.0 */
/* Why a box could not be made or changed, for people. */
#ifndef LBX_POST_BOX_FAULT_H
#define LBX_POST_BOX_FAULT_H

#include <letterbox/store.h>

/* Whether a store need be asked at all: OK; INVALID, for the name, the options, or
 * both together, and the fault says why. */
lbx_status lbx__box_check(const char *name, const lbx_box_options *options,
                          lbx_fault *fault);

/*
 * Says in a fault, which may be NULL, what a store's status means for a create or
 * a configure of a box by name, with options; answers the status. LBX_OK is left
 * alone. It asks the store again, by describe: what it says is as it is now.
 */
lbx_status lbx__box_explain(lbx_store *store, lbx_verb verb,
                            const lbx_box_request *request, lbx_status status,
                            lbx_fault *fault);

#endif
