/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the doubles share: a store of one box that cannot be changed, and copies
 * of parcels. Written as a stranger would, against <letterbox/store.h>.
 */
#ifndef LBX_POST_DOUBLE_H
#define LBX_POST_DOUBLE_H

#include <letterbox/store.h>
#include <letterbox/testing.h>

typedef struct lbx__double_store {
    lbx_store base; /* first */
    const lbx_allocator *allocator;
    lbx_box_options rules;
    size_t size_bytes; /* of the struct this is in */

    /* Fills the counts in; LBX_OK, or what the double has been told to say. */
    lbx_status (*count)(struct lbx__double_store *self, lbx_box_counts *ret);
} lbx__double_store;

/* Makes a zeroed double of `size_bytes` with this table, and its postbox. `init`,
 * which may be NULL, is called before anyone else sees it. */
lbx_status lbx__double_store_open(
    const lbx_store_ops *ops, size_t size_bytes,
    const lbx_postbox_options *options,
    lbx_status (*init)(lbx__double_store *self, const lbx_postbox_options *),
    lbx_postbox **ret);

/* The double behind a postbox, if it has this table; NULL. */
lbx__double_store *lbx__double_store_of(const lbx_postbox *postbox,
                                        const lbx_store_ops *ops);

/* Entries. */
lbx_durability lbx__double_store_durability(lbx_store *store);
lbx_status lbx__double_store_create(lbx_store *store, lbx_call *call,
                                    lbx_box_request *request);
lbx_status lbx__double_store_unsupported(lbx_store *store, lbx_call *call,
                                         lbx_box_request *request);
lbx_status lbx__double_store_describe(lbx_store *store, lbx_call *call,
                                      lbx_box_request *request);
lbx_status lbx__double_store_list(lbx_store *store, lbx_call *call,
                                  lbx_list_request *request);

/* Of a box that never gives anything out: receives wait, and nothing settles. */
lbx_status lbx__double_store_no_receive(lbx_store *store, lbx_call *call,
                                        lbx_receive_request *request);
lbx_status lbx__double_store_no_settle(lbx_store *store, lbx_call *call,
                                       lbx_settle_request *request);
void lbx__double_store_cancel(lbx_store *store, lbx_call *call);

/* Frees the struct. */
void lbx__double_store_free(lbx_store *store);

/* A parcel in one block; NULL. */
typedef struct lbx__parcel_copy {
    size_t size;
    lbx_parcel parcel;
} lbx__parcel_copy;

lbx__parcel_copy *lbx__parcel_copy_create(const lbx_allocator *allocator,
                                          const lbx_parcel *from);
void lbx__parcel_copy_destroy(const lbx_allocator *allocator,
                              lbx__parcel_copy *copy);

/* "null-1", "null-2" ... */
lbx_id lbx__double_store_id(const char *scheme, uint64_t number);

#endif
