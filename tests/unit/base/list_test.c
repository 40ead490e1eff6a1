/* SPDX-License-Identifier: Apache-2.0 */
/* Intrusive lists. */
#include "base/list.h"
#include "support/test.h"

struct item {
    int number;
    lbx__link link;
};

enum {
    ITEMS = 4
};

static void
make(lbx__link *list, struct item *items)
{
    lbx__list_init(list);
    for (int i = 0; i < ITEMS; i++) {
        items[i].number = i;
        lbx__list_init(&items[i].link);
    }
}

/* The numbers in the list, as decimal digits; both directions must agree. */
static int
digits(const lbx__link *list)
{
    int forward = 0, count = 0, backward = 0, scale = 1;

    for (lbx__link *at = list->next; at != list; at = at->next) {
        forward = forward * 10 + lbx__member(at, struct item, link)->number;
        count++;
    }
    for (lbx__link *at = list->prev; at != list; at = at->prev) {
        backward += scale * lbx__member(at, struct item, link)->number;
        scale *= 10;
        count--;
    }
    CHECK_INT(forward, backward);
    CHECK_INT(0, count);
    return forward;
}

TEST(list_is_empty_at_first)
{
    lbx__link list;

    lbx__list_init(&list);
    CHECK(lbx__list_empty(&list));
}

TEST(list_keeps_order_at_both_ends)
{
    struct item items[ITEMS];
    lbx__link list;

    make(&list, items);
    lbx__list_append(&list, &items[1].link);
    lbx__list_append(&list, &items[2].link);
    lbx__list_append(&list, &items[3].link);
    CHECK_INT(123, digits(&list));
    lbx__list_remove(&items[1].link);
    lbx__list_prepend(&list, &items[1].link);
    CHECK_INT(123, digits(&list));
    lbx__list_remove(&items[3].link);
    lbx__list_insert(&items[2].link, &items[3].link);
    CHECK_INT(132, digits(&list));
    CHECK(!lbx__list_empty(&list));
}

/* A waiter may be removed by the one that wakes it and again by its owner. */
TEST(list_removing_twice_is_harmless)
{
    struct item items[ITEMS];
    lbx__link list;

    make(&list, items);
    lbx__list_remove(&items[0].link); // never inserted
    lbx__list_append(&list, &items[1].link);
    lbx__list_append(&list, &items[2].link);
    lbx__list_remove(&items[1].link);
    lbx__list_remove(&items[1].link);
    CHECK_INT(2, digits(&list));
    lbx__list_remove(&items[2].link);
    CHECK(lbx__list_empty(&list));
    CHECK(lbx__list_empty(&items[2].link));
}
