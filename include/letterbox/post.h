/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Postboxes: queues of letters that are leased, and come back.
 *
 * A postbox is a queue of letters in a store. Receiving a letter leases it;
 * acknowledging deletes it; a letter that is not acknowledged in time comes
 * back. So nothing is lost when the receiver crashes, and the same letter may
 * be delivered twice: these are the rules of SQS. What an OK survives depends
 * on the store: by default, in a folder, a power cut.
 *
 * Example:
 *
 *     #include <letterbox/post.h>
 *     #include <stdio.h>
 *
 *     int
 *     main(void)
 *     {
 *         lbx_postbox *orders;
 *         lbx_letter *letter;
 *
 *         if (lbx_postbox_open("file:shop/orders", NULL, &orders) != LBX_OK)
 *             return 1;
 *         if (lbx_postbox_send(orders, "a book", 6, NULL) != LBX_OK)
 *             return 1;
 *         if (lbx_postbox_receive(orders, LBX_SECOND, &letter) == LBX_OK) {
 *             puts(lbx_letter_body(letter, NULL));
 *             if (lbx_letter_acknowledge(letter) != LBX_OK)
 *                 puts("it will come again");
 *             lbx_letter_destroy(letter);
 *         }
 *         lbx_postbox_unref(orders);
 *         return 0;
 *     }
 *
 * This header includes:
 *
 *     post/postbox.h        opening, sending, receiving
 *     post/letter.h         what was received: settling it, replying to it
 *     post/draft.h          what is sent: bodies, attributes, delays, groups
 *     post/routes.h         where replies go
 *     post/resolver.h       from an address in a route to a postbox
 *     post/type_registry.h  from a name in a letter to a type
 *     post/box.h            the rules of a box: leases, limits, dead letters
 *     post/file_store.h     stores in files: checking, copying, salvaging
 *     store.h               stores: durability, boxes, moving letters
 *
 * Not included: <letterbox/courier.h>, workers that run handlers on a postbox;
 * <letterbox/testing.h>, postboxes for your tests; <letterbox/store_driver.h>,
 * for people who write a store.
 *
 * docs/postboxes.md is the tour for newcomers.
 */
#ifndef LETTERBOX_POST_H
#define LETTERBOX_POST_H

#include <letterbox/post/box.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/file_store.h>
#include <letterbox/post/letter.h>
#include <letterbox/post/postbox.h>
#include <letterbox/post/resolver.h>
#include <letterbox/post/routes.h>
#include <letterbox/post/type_registry.h>
#include <letterbox/store.h>

#endif
