/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubly linked lists whose links live in the members.
 *
 * The list is a ring through a head; an unlinked link points to itself, so
 * that removing twice is harmless.
 */
#ifndef LBX_BASE_LIST_H
#define LBX_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lbx__link {
    struct lbx__link *next;
    struct lbx__link *prev;
} lbx__link;

#define lbx__member(link, type, field)                                         \
    ((type *)(void *)((char *)(link)-offsetof(type, field)))

static inline void
lbx__list_init(lbx__link *link)
{
    link->next = link;
    link->prev = link;
}

static inline bool
lbx__list_empty(const lbx__link *list)
{
    return list->next == list;
}

static inline void
lbx__list_insert(lbx__link *before, lbx__link *link)
{
    link->next = before;
    link->prev = before->prev;
    before->prev->next = link;
    before->prev = link;
}

static inline void
lbx__list_append(lbx__link *list, lbx__link *link)
{
    lbx__list_insert(list, link);
}

static inline void
lbx__list_prepend(lbx__link *list, lbx__link *link)
{
    lbx__list_insert(list->next, link);
}

static inline void
lbx__list_remove(lbx__link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    lbx__list_init(link);
}

#endif
