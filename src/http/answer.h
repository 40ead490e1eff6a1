/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as bytes: status line, fields and body in one piece of memory. */
#ifndef LBX_HTTP_ANSWER_H
#define LBX_HTTP_ANSWER_H

#include "http/budget.h"
#include "http/exchange.h"
#include "net/stream.h"

/* How an answer goes out. */
typedef struct lbx__answer_frame {
    bool is_bodiless; /* to HEAD */
    bool is_old;      /* to HTTP/1.0 */
    bool is_last;     /* the connection closes after it */
    const char *date;
} lbx__answer_frame;

typedef struct lbx__answer {
    lbx__chunk chunk;
    void *owner; /* the connection's */
    void *exchange_context;
    bool is_handled; /* by the handler: it wants to know that it was written */
    bool is_last;
    lbx__budget *budget; /* that it is counted in; NULL: none */
    size_t size_bytes;   /* of this memory */
    char bytes[];
} lbx__answer;

/* NULL: no memory. */
lbx__answer *lbx__answer_create(const lbx_allocator *allocator,
                                const lbx__http_reply *reply,
                                const lbx__answer_frame *frame);

/* "HTTP/1.1 100 Continue". */
lbx__answer *lbx__answer_create_continue(const lbx_allocator *allocator);

void lbx__answer_destroy(const lbx_allocator *allocator, lbx__answer *answer);

/* The reply to a request that is refused: its body is the status's text. */
void lbx__answer_refusal(int status, lbx__http_reply *ret);

enum {
    LBX__ANSWER_DATE = 32
};

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
void lbx__answer_date(int64_t seconds, char ret[LBX__ANSWER_DATE]);

#endif
