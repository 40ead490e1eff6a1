/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the doubles share: a store of one box that cannot be changed. The
 * doubles use the contract <letterbox/store_driver.h>, as stores outside
 * the library do.
 *
 * Threads: any. The box and its options are constant after opening.
 */
#ifndef LBX_POST_DOUBLE_H
#define LBX_POST_DOUBLE_H

#include <letterbox/store_driver.h>
#include <letterbox/testing.h>

typedef struct lbx__double_store {
    lbx_store base; /* first */
    const lbx_allocator *allocator;
    lbx_box_options rules;
    size_t size_bytes; /* of the struct this is in */

    /* Fills in the counts: OK, or the error that the test has set. */
    lbx_status (*count)(struct lbx__double_store *self, lbx_box_counts *ret);
} lbx__double_store;

/* Creates a zeroed double of `size_bytes` with this table, and its postbox.
 * `init`, which may be NULL, is called before the postbox is opened. */
lbx_status lbx__double_store_open(
    const lbx_store_ops *ops, size_t size_bytes,
    const lbx_postbox_options *options,
    lbx_status (*init)(lbx__double_store *self, const lbx_postbox_options *),
    lbx_postbox **ret);

/* The double of a postbox, if it has this table; NULL. */
lbx__double_store *lbx__double_store_of(const lbx_postbox *postbox,
                                        const lbx_store_ops *ops);

/* Entries of the table. */
lbx_durability lbx__double_store_durability(lbx_store *store);
lbx_status lbx__double_store_create(lbx_store *store, lbx_call *call,
                                    lbx_box_request *request);
lbx_status lbx__double_store_unsupported(lbx_store *store, lbx_call *call,
                                         lbx_box_request *request);
lbx_status lbx__double_store_describe(lbx_store *store, lbx_call *call,
                                      lbx_box_request *request);
lbx_status lbx__double_store_list(lbx_store *store, lbx_call *call,
                                  lbx_list_request *request);

/* Entries of a box that delivers nothing: receives wait, no receipt is
 * valid. */
lbx_status lbx__double_store_no_receive(lbx_store *store, lbx_call *call,
                                        lbx_receive_request *request);
lbx_status lbx__double_store_no_settle(lbx_store *store, lbx_call *call,
                                       lbx_settle_request *request);
void lbx__double_store_cancel(lbx_store *store, lbx_call *call);

/* A copy of a parcel, in one block: NULL when there is no memory. */
typedef struct lbx__double_parcel {
    size_t size;
    lbx_parcel parcel;
} lbx__double_parcel;

lbx__double_parcel *
lbx__double_store_copy_parcel(const lbx_allocator *allocator,
                              const lbx_parcel *from);
void lbx__double_store_free_parcel(const lbx_allocator *allocator,
                                   lbx__double_parcel *copy);

/* Frees the struct. */
void lbx__double_store_free(lbx_store *store);

/* "null-1", "null-2" ... */
lbx_id lbx__double_store_id(const char *scheme, uint64_t number);

#endif
