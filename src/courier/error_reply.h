/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error replies: what a program that waits for an answer gets when the letter
 * has failed for good.
 */
#ifndef LBX_COURIER_ERROR_REPLY_H
#define LBX_COURIER_ERROR_REPLY_H

#include <letterbox/courier.h>

/* The id inside a letterbox.Request; empty for letters of other types, and for
 * bodies that cannot be decoded. */
lbx_id lbx__error_reply_request_id(const lbx_letter *letter,
                                   const lbx_allocator *allocator);

/* Where the reply of a letter goes; NULL when it has no route for one. */
const char *lbx__error_reply_address(const lbx_letter *letter);

/* Replies with an error, encoded in the C library's memory. An empty request id
 * is replaced by the letter's id. As lbx_letter_reply(); NO_MEMORY. */
lbx_status lbx__error_reply_send(lbx_letter *letter, const char *error,
                                 const lbx_id *request_id, lbx_fault *fault);

#endif
