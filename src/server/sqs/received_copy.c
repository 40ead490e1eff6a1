/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of deliveries. RECVD-1 is in received_copy.h. */
#include "server/sqs/received_copy.h"

#include "base/alloc.h"

#include <string.h>

enum {
    RECEIVED_SMALL = 4096 /* bytes that are not worth another copy */
};

/* Texts and bytes are appended behind the structs; in the first pass, with
 * `at` NULL, only counted. */
struct packing {
    char *at;
    size_t size;
};

static void *
packing_add(struct packing *packing, const void *bytes, size_t size)
{
    char *copy = packing->at ? packing->at + packing->size : NULL;

    packing->size += size;
    if (copy && size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

static const char *
packing_text(struct packing *packing, const char *text)
{
    return text ? packing_add(packing, text, strlen(text) + 1) : NULL;
}

static void
packing_attribute(struct packing *packing, const lbx_attribute *from,
                  lbx_attribute *to)
{
    lbx_attribute copy = *from;

    copy.name = packing_text(packing, from->name);
    copy.label = packing_text(packing, from->label);
    copy.value = packing_add(packing, from->value, from->value_bytes);
    if (to)
        *to = copy;
}

/* Everything a delivery points to. The attributes come first: they have the
 * strictest alignment. */
static void
packing_delivery(struct packing *packing, const lbx_delivery *from,
                 lbx_delivery *to)
{
    const lbx_parcel *parcel = &from->parcel;
    size_t count = parcel->attribute_count;
    lbx_attribute *attributes =
        packing_add(packing, parcel->attributes, count * sizeof(*attributes));

    *to = *from;
    for (size_t i = 0; i < count; i++)
        packing_attribute(packing, &parcel->attributes[i],
                          attributes ? &attributes[i] : NULL);
    to->parcel.attributes = attributes;
    to->receipt = packing_add(packing, from->receipt, from->receipt_bytes);
    to->parcel.body = packing_add(packing, parcel->body, parcel->body_bytes);
    packing_add(packing, "", 1);
    to->parcel.type_name = packing_text(packing, parcel->type_name);
    to->parcel.routes = packing_text(packing, parcel->routes);
    to->parcel.group = packing_text(packing, parcel->group);
    to->parcel.deduplication_id =
        packing_text(packing, parcel->deduplication_id);
    to->parcel.trace = packing_text(packing, parcel->trace);
    to->parcel.in_reply_to = packing_text(packing, parcel->in_reply_to);
    to->dead_letter_source = packing_text(packing, from->dead_letter_source);
}

lbx__received *
lbx__received_copy(const lbx_allocator *allocator, const lbx_delivery *delivery)
{
    struct packing packing = {NULL, 0};
    lbx_delivery counted;
    lbx__received *received;
    size_t size;

    packing_delivery(&packing, delivery, &counted);
    size = sizeof(*received) + packing.size;
    received = lbx__alloc(allocator, size, _Alignof(lbx__received));
    if (!received)
        return NULL;
    received->next = NULL;
    received->size_bytes = size;
    packing = (struct packing){(char *)(received + 1), 0};
    packing_delivery(&packing, delivery, &received->delivery);
    return received;
}

lbx__received *
lbx__received_keep_receipts(const lbx_allocator *allocator,
                            lbx__received **first)
{
    lbx__received *last = NULL;

    for (lbx__received **link = first; *link; link = &last->next) {
        const lbx_delivery receipt = {
            .receipt = (*link)->delivery.receipt,
            .receipt_bytes = (*link)->delivery.receipt_bytes,
        };
        lbx__received *copy = NULL;

        last = *link;
        if (last->size_bytes > RECEIVED_SMALL)
            copy = lbx__received_copy(allocator, &receipt);
        if (!copy)
            continue; // small, or no memory: it stays as it is
        copy->next = last->next;
        last->next = NULL;
        lbx__received_destroy_all(allocator, last);
        last = *link = copy;
    }
    return last;
}

void
lbx__received_destroy_all(const lbx_allocator *allocator, lbx__received *first)
{
    while (first) {
        lbx__received *next = first->next;

        lbx__free(allocator, first, first->size_bytes);
        first = next;
    }
}
