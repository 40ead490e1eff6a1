/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement: a cell that is being spawned gets the dispatcher and the mailbox
 * that select/ chooses for it.
 */
#ifndef LBX_ACTOR_CORE_PLACEMENT_H
#define LBX_ACTOR_CORE_PLACEMENT_H

#include "actor/core/cell.h"
#include "actor/select/selection.h"

/* Gives the cell its dispatcher and its mailbox; `balances`: a mailbox that its
 * children will share. By the owner of the parent. */
lbx_status lbx__placement_apply(lbx__cell *cell, const lbx_props *props,
                                bool balances);

/* The deployment of a child that is to be made; NULL: none. `name` may be NULL.
 * By the owner of the parent, or for "/user". */
const lbx__deployment_entry *
lbx__placement_deployed(const lbx__selection *selection,
                        const lbx__cell *parent, const char *name);

#endif
