/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types: the C3 order, what is refused, memory that fails.
 *
 * Orders are written as the names of a line, "C B A".
 */
#include "support/local.h"
#include "support/test.h"
#include "support/torture.h"

#include <letterbox/type.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BASES_MOST = 4
};

static lbx_status
try_type(const char *name, lbx_type *const *bases, const lbx_allocator *memory,
         lbx_type **ret)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    const lbx_type *list[BASES_MOST];

    while (bases && bases[options.base_count]) {
        list[options.base_count] = bases[options.base_count];
        options.base_count++;
    }
    options.name = name;
    options.bases = list;
    options.allocator = memory;
    return lbx_type_create(&options, ret);
}

/* A type with the bases given, up to the first NULL. */
#define NEW_TYPE(name, ...)                                                    \
    new_type(name, (lbx_type *const[]){__VA_ARGS__, NULL})

static lbx_type *
new_type(const char *name, lbx_type *const *bases)
{
    lbx_type *type;

    CHECK_OK(try_type(name, bases, NULL, &type));
    return type;
}

static void
check_line(const char *expected, const lbx_type *type)
{
    char line[256] = "";
    size_t length = 0;

    for (size_t i = 0; lbx_type_ancestor(type, i); i++) {
        int written =
            snprintf(&line[length], sizeof(line) - length, "%s%s", i ? " " : "",
                     lbx_type_name(lbx_type_ancestor(type, i)));

        CHECK(written > 0 && (size_t)written < sizeof(line) - length);
        length += (size_t)written;
    }
    CHECK_STR(expected, line);
}

TEST(type_without_bases_is_its_own_line)
{
    LOCAL_TYPE(type) = NEW_TYPE("shop.OrderPlaced", NULL);

    check_line("shop.OrderPlaced", type);
    CHECK_INT(LBX_PRIORITY_DEFAULT, lbx_type_default_priority(type));
    CHECK(lbx_type_is_a(type, type));
    CHECK_PTR(NULL, lbx_type_ancestor(type, 1));
    CHECK_PTR(NULL, lbx_type_ancestor(type, SIZE_MAX));
}

/* The name is the type's own copy. */
TEST(type_name_outlives_the_options)
{
    char name[] = "shop.Order";
    LOCAL_TYPE(type) = NEW_TYPE(name, NULL);

    memset(name, '?', sizeof(name) - 1);
    CHECK_STR("shop.Order", lbx_type_name(type));
}

TEST_CITING("W-02", type_diamond_puts_the_shared_base_last)
{
    LOCAL_TYPE(a) = NEW_TYPE("A", NULL);
    LOCAL_TYPE(b) = NEW_TYPE("B", a);
    LOCAL_TYPE(c) = NEW_TYPE("C", a);
    LOCAL_TYPE(d) = NEW_TYPE("D", b, c);

    check_line("D B C A", d);
    CHECK(lbx_type_is_a(d, a));
    CHECK(lbx_type_is_a(d, c));
    CHECK(!lbx_type_is_a(a, d));
    CHECK(!lbx_type_is_a(b, c));
}

/* The example of the paper that named C3, and of Python's manual. */
TEST(type_line_is_the_published_one)
{
    lbx_type *o = NEW_TYPE("O", NULL);
    lbx_type *a = NEW_TYPE("A", o);
    lbx_type *b = NEW_TYPE("B", o);
    lbx_type *c = NEW_TYPE("C", o);
    lbx_type *d = NEW_TYPE("D", o);
    lbx_type *e = NEW_TYPE("E", o);
    lbx_type *k1 = NEW_TYPE("K1", a, b, c);
    lbx_type *k2 = NEW_TYPE("K2", d, b, e);
    lbx_type *k3 = NEW_TYPE("K3", d, a);
    lbx_type *z = NEW_TYPE("Z", k1, k2, k3);
    lbx_type *const all[] = {z, k3, k2, k1, e, d, c, b, a, o};

    check_line("K1 A B C O", k1);
    check_line("K2 D B E O", k2);
    check_line("K3 D A O", k3);
    check_line("Z K1 K2 K3 D A B C E O", z);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        lbx_type_destroy(all[i]);
}

/* Bases keep the order in which they were given. */
TEST(type_bases_keep_their_order)
{
    lbx_type *a = NEW_TYPE("A", NULL);
    lbx_type *b = NEW_TYPE("B", NULL);
    lbx_type *ab = NEW_TYPE("AB", a, b);
    lbx_type *ba = NEW_TYPE("BA", b, a);

    check_line("AB A B", ab);
    check_line("BA B A", ba);
    lbx_type_destroy(ab);
    lbx_type_destroy(ba);
    lbx_type_destroy(a);
    lbx_type_destroy(b);
}

/* The first base is derived from the last: that one has to wait for the base
 * between them. */
TEST(type_base_waits_for_those_before_it)
{
    LOCAL_TYPE(c) = NEW_TYPE("C", NULL);
    LOCAL_TYPE(b) = NEW_TYPE("B", NULL);
    LOCAL_TYPE(a) = NEW_TYPE("A", c);
    LOCAL_TYPE(d) = NEW_TYPE("D", a, b, c);

    check_line("D A B C", d);
}

static void
check_refused(lbx_type *const *bases)
{
    TORTURE(memory, allocator);
    lbx_type *type = NULL;

    CHECK_STATUS(LBX_INVALID, try_type("X", bases, &allocator, &type));
    CHECK_PTR(NULL, type);
    CHECK_INT(0, memory.live_blocks);
}

/* One base says A before B, the other B before A. */
TEST(type_contradictory_bases_are_refused)
{
    lbx_type *a = NEW_TYPE("A", NULL);
    lbx_type *b = NEW_TYPE("B", NULL);
    lbx_type *ab = NEW_TYPE("AB", a, b);
    lbx_type *ba = NEW_TYPE("BA", b, a);

    check_refused((lbx_type *const[]){ab, ba, NULL});
    check_refused((lbx_type *const[]){ba, ab, NULL});
    lbx_type_destroy(ab);
    lbx_type_destroy(ba);
    lbx_type_destroy(a);
    lbx_type_destroy(b);
}

/* A base may not stand before a type that is derived from it. */
TEST(type_base_before_its_own_child_is_refused)
{
    LOCAL_TYPE(a) = NEW_TYPE("A", NULL);
    LOCAL_TYPE(b) = NEW_TYPE("B", a);
    LOCAL_TYPE(right) = NEW_TYPE("C", b, a);

    check_line("C B A", right);
    check_refused((lbx_type *const[]){a, b, NULL});
}

TEST(type_base_given_twice_is_refused)
{
    LOCAL_TYPE(a) = NEW_TYPE("A", NULL);

    check_refused((lbx_type *const[]){a, a, NULL});
}

/* Depth costs no stack, and no more than the length of the line. */
TEST(type_chains_may_be_deep)
{
    enum {
        DEPTH = 5000
    };
    static lbx_type *chain[DEPTH];
    lbx_type *other, *both;

    chain[0] = NEW_TYPE("root", NULL);
    for (size_t i = 1; i < DEPTH; i++)
        chain[i] = NEW_TYPE("link", chain[i - 1]);
    CHECK_PTR(chain[0], lbx_type_ancestor(chain[DEPTH - 1], DEPTH - 1));
    CHECK_PTR(NULL, lbx_type_ancestor(chain[DEPTH - 1], DEPTH));
    CHECK(lbx_type_is_a(chain[DEPTH - 1], chain[0]));

    other = NEW_TYPE("other", chain[0]);
    both = NEW_TYPE("both", chain[DEPTH / 8], other);
    CHECK_PTR(other, lbx_type_ancestor(both, DEPTH / 8 + 1));
    CHECK_PTR(chain[0], lbx_type_ancestor(both, DEPTH / 8 + 2));
    lbx_type_destroy(both);
    lbx_type_destroy(other);
    for (size_t i = DEPTH; i-- > 0;)
        lbx_type_destroy(chain[i]);
}

TEST(type_bad_descriptions_are_refused)
{
    const lbx_type *no_type[] = {NULL};
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type = NULL;

    CHECK_STATUS(LBX_INVALID, lbx_type_create(NULL, &type));
    CHECK_STATUS(LBX_INVALID, lbx_type_create(&options, &type)); // no name
    options.name = "";
    CHECK_STATUS(LBX_INVALID, lbx_type_create(&options, &type));
    options.name = "A";
    CHECK_STATUS(LBX_INVALID, lbx_type_create(&options, NULL));
    options.base_count = 1;
    CHECK_STATUS(LBX_INVALID, lbx_type_create(&options, &type));
    options.bases = no_type;
    CHECK_STATUS(LBX_INVALID, lbx_type_create(&options, &type));
    options.base_count = SIZE_MAX;
    CHECK_STATUS(LBX_INVALID, lbx_type_create(&options, &type));
    options.base_count = 0;
    options.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID, lbx_type_create(&options, &type));
    CHECK_PTR(NULL, type);
}

TEST(type_functions_take_no_type)
{
    LOCAL_TYPE(a) = NEW_TYPE("A", NULL);
    void *copy = NULL;

    lbx_type_destroy(NULL);
    lbx_type_destroy_message(NULL, &copy);
    CHECK_STR("", lbx_type_name(NULL));
    CHECK_INT(LBX_PRIORITY_DEFAULT, lbx_type_default_priority(NULL));
    CHECK(!lbx_type_is_a(NULL, a));
    CHECK(!lbx_type_is_a(a, NULL));
    CHECK(!lbx_type_is_a(NULL, NULL));
    CHECK_PTR(NULL, lbx_type_ancestor(NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_type_clone(NULL, "x", &copy));
    CHECK_STATUS(LBX_INVALID, lbx_type_clone(a, "x", NULL));
}

struct calls {
    int destroyed;
    int cloned;
    bool out_of_memory;
};

static void
count_destroy(void *message, void *context)
{
    struct calls *calls = context;

    (void)message;
    calls->destroyed++;
}

static void *
count_clone(const void *message, void *context)
{
    struct calls *calls = context;

    (void)message;
    calls->cloned++;
    return calls->out_of_memory ? NULL : context;
}

TEST_CITING("C-09", type_clones_and_ends_messages)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    struct calls calls = {0};
    char message[] = "m";
    void *copy = NULL;
    LOCAL_TYPE(type);

    options.name = "A";
    options.default_priority = -7;
    options.context = &calls;
    options.destroy = count_destroy;
    options.clone = count_clone;
    CHECK_OK(lbx_type_create(&options, &type));
    CHECK_INT(-7, lbx_type_default_priority(type));

    CHECK_OK(lbx_type_clone(type, message, &copy));
    CHECK_PTR(&calls, copy);
    copy = NULL;
    calls.out_of_memory = true;
    CHECK_STATUS(LBX_NO_MEMORY, lbx_type_clone(type, message, &copy));
    CHECK_PTR(NULL, copy);
    lbx_type_destroy_message(type, message);
    CHECK_INT(1, calls.destroyed);
    CHECK_INT(2, calls.cloned);
}

/* What a base can do with its messages says nothing about a derived type's. */
TEST(type_functions_are_not_inherited)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    struct calls calls = {0};
    char message[] = "m";
    void *copy = NULL;
    lbx_type *base, *derived;

    options.name = "base";
    options.context = &calls;
    options.destroy = count_destroy;
    options.clone = count_clone;
    CHECK_OK(lbx_type_create(&options, &base));
    derived = NEW_TYPE("derived", base);

    CHECK_STATUS(LBX_UNSUPPORTED, lbx_type_clone(derived, message, &copy));
    lbx_type_destroy_message(derived, message);
    CHECK_INT(0, calls.destroyed + calls.cloned);
    lbx_type_destroy(derived);
    lbx_type_destroy(base);
}

static void
create_with(struct torture *memory, void *context)
{
    lbx_type *const *bases = context;
    lbx_allocator allocator = torture_allocator(memory);
    lbx_type *type = NULL;
    lbx_status status = try_type("tortured", bases, &allocator, &type);

    if (memory->failures > 0) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_PTR(NULL, type);
    } else {
        CHECK_OK(status);
        check_line("tortured B C A", type);
        lbx_type_destroy(type);
    }
}

TEST(type_survives_every_failing_allocation)
{
    LOCAL_TYPE(a) = NEW_TYPE("A", NULL);
    LOCAL_TYPE(b) = NEW_TYPE("B", a);
    LOCAL_TYPE(c) = NEW_TYPE("C", a);
    lbx_type *bases[] = {b, c, NULL};

    CHECK(torture_every_allocation(create_with, bases) > 0);
}

// What `destroy` is for most messages. A leak, if it did nothing.
TEST(plain_messages_are_freed)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    void *message = malloc(100);
    LOCAL_TYPE(type);

    CHECK(message);
    options.name = "test.Plain";
    options.destroy = lbx_message_free;
    CHECK_OK(lbx_type_create(&options, &type));
    lbx_type_destroy_message(type, message);
    lbx_message_free(NULL, NULL);
}
