/* SPDX-License-Identifier: Apache-2.0 */
/* Resolvers: registry, chain, URLs; and stores by URL. */
#include "post/scheme.h"
#include "post/script.h"

#include "support/test.h"
#include "support/threads.h"
#include <letterbox/testing.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_CITING("W-40", a_registry_knows_what_it_was_given)
{
    lbx_postbox_registry *registry;
    lbx_postbox *one, *found = NULL;
    lbx_fault fault;

    CHECK_OK(lbx_null_postbox_create(NULL, &one));
    CHECK_OK(lbx_postbox_registry_create(NULL, &registry));
    CHECK_OK(lbx_postbox_registry_add(registry, "client:b", one));
    CHECK_OK(lbx_postbox_registry_add(registry, "client:a", one));
    CHECK_STATUS(LBX_EXISTS,
                 lbx_postbox_registry_add(registry, "client:b", one));
    CHECK_STATUS(LBX_INVALID, lbx_postbox_registry_add(registry, "", one));
    CHECK_OK(lbx_resolver_resolve(lbx_postbox_registry_as_resolver(registry),
                                  "client:a", &found, &fault));
    CHECK_PTR(one, found);
    lbx_postbox_unref(found);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_resolver_resolve(
                                    lbx_postbox_registry_as_resolver(registry),
                                    "client:c", &found, &fault));
    CHECK(strstr(fault.text, "client:c"));
    CHECK(lbx_postbox_registry_remove(registry, "client:a"));
    CHECK(!lbx_postbox_registry_remove(registry, "client:a"));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_resolver_resolve(
                                    lbx_postbox_registry_as_resolver(registry),
                                    "client:a", &found, NULL));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_resolver_resolve((lbx_resolver){NULL, NULL},
                                                     "x", &found, NULL));
    lbx_postbox_registry_destroy(registry);
    lbx_postbox_unref(one);
}

TEST(a_registry_of_many_finds_each)
{
    lbx_postbox_registry *registry;
    lbx_postbox *one, *found;
    char place[16];

    CHECK_OK(lbx_null_postbox_create(NULL, &one));
    CHECK_OK(lbx_postbox_registry_create(NULL, &registry));
    for (int i = 0; i < 100; i++) {
        (void)snprintf(place, sizeof(place), "p%d", i * 37 % 100);
        CHECK_OK(lbx_postbox_registry_add(registry, place, one));
    }
    for (int i = 0; i < 100; i++) {
        (void)snprintf(place, sizeof(place), "p%d", i);
        CHECK_OK(lbx_resolver_resolve(
            lbx_postbox_registry_as_resolver(registry), place, &found, NULL));
        lbx_postbox_unref(found);
        CHECK(i % 2 == 0 || lbx_postbox_registry_remove(registry, place));
    }
    CHECK_STATUS(LBX_NOT_FOUND, lbx_resolver_resolve(
                                    lbx_postbox_registry_as_resolver(registry),
                                    "p99", &found, NULL));
    lbx_postbox_registry_destroy(registry);
    lbx_postbox_unref(one);
}

/* A factory that counts, and answers what it is told. */
struct factory {
    unsigned made;
    lbx_status status;
};

static lbx_status
make(void *context, const char *place, lbx_postbox **ret, lbx_fault *fault)
{
    struct factory *factory = context;

    (void)place;
    (void)fault;
    factory->made++;
    return factory->status == LBX_OK ? lbx_null_postbox_create(NULL, ret)
                                     : factory->status;
}

static lbx_status
resolve(lbx_resolver_chain *chain, const char *place)
{
    lbx_postbox *found;
    lbx_status status = lbx_resolver_resolve(
        lbx_resolver_chain_as_resolver(chain), place, &found, NULL);

    if (status == LBX_OK)
        lbx_postbox_unref(found);
    return status;
}

TEST_CITING("W-40 R-23", a_chain_keeps_what_its_factory_made_up_to_a_bound)
{
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    struct factory factory = {0, LBX_OK};
    lbx_postbox_registry *registry;
    lbx_postbox *known;
    lbx_resolver_chain *chain;

    CHECK_OK(lbx_null_postbox_create(NULL, &known));
    CHECK_OK(lbx_postbox_registry_create(NULL, &registry));
    CHECK_OK(lbx_postbox_registry_add(registry, "known", known));
    options.first = lbx_postbox_registry_as_resolver(registry);
    options.factory = (lbx_resolver){make, &factory};
    options.max_kept = 2;
    CHECK_OK(lbx_resolver_chain_create(&options, &chain));
    CHECK_OK(resolve(chain, "known"));
    CHECK_INT(0, factory.made);
    CHECK_OK(resolve(chain, "a"));
    CHECK_OK(resolve(chain, "b"));
    CHECK_OK(resolve(chain, "a")); // kept, and b is the older now
    CHECK_INT(2, factory.made);
    CHECK_OK(resolve(chain, "c"));
    CHECK_INT(3, factory.made);
    CHECK_OK(resolve(chain, "a"));
    CHECK_INT(3, factory.made);
    CHECK_OK(resolve(chain, "b")); // had gone
    CHECK_INT(4, factory.made);
    lbx_resolver_chain_destroy(chain);
    lbx_postbox_registry_destroy(registry);
    lbx_postbox_unref(known);
}

TEST_CITING("W-40", a_chain_passes_failures_on)
{
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    struct factory factory = {0, LBX_UNREACHABLE};
    lbx_resolver_chain *chain;

    CHECK_OK(lbx_resolver_chain_create(&options, &chain)); // neither
    CHECK_STATUS(LBX_NOT_FOUND, resolve(chain, "a"));
    lbx_resolver_chain_destroy(chain);
    options.factory = (lbx_resolver){make, &factory};
    CHECK_OK(lbx_resolver_chain_create(&options, &chain));
    CHECK_STATUS(LBX_UNREACHABLE, resolve(chain, "a"));
    factory.status = LBX_OK;
    CHECK_OK(resolve(chain, "a")); // a failure is not kept
    CHECK_INT(2, factory.made);
    lbx_resolver_chain_destroy(chain);
    options.first = options.factory; // its own failure, no factory asked
    factory.status = LBX_DENIED;
    CHECK_OK(lbx_resolver_chain_create(&options, &chain));
    CHECK_STATUS(LBX_DENIED, resolve(chain, "a"));
    CHECK_INT(3, factory.made);
    lbx_resolver_chain_destroy(chain);
    options.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID, lbx_resolver_chain_create(&options, &chain));
}

TEST(a_chain_does_not_give_out_what_is_closed)
{
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    struct factory factory = {0, LBX_OK};
    lbx_postbox *found;
    lbx_resolver_chain *chain;

    options.factory = (lbx_resolver){make, &factory};
    CHECK_OK(lbx_resolver_chain_create(&options, &chain));
    CHECK_OK(lbx_resolver_resolve(lbx_resolver_chain_as_resolver(chain), "a",
                                  &found, NULL));
    lbx_postbox_close(found);
    lbx_postbox_unref(found);
    CHECK_OK(resolve(chain, "a"));
    CHECK_INT(2, factory.made);
    lbx_resolver_chain_destroy(chain);
}

static void
resolve_many(unsigned index, void *context)
{
    static const char *const places[] = {"a", "b", "c", "d", "e"};

    for (unsigned i = 0; i < 300; i++)
        CHECK_OK(resolve(context, places[(i + index) % 5]));
}

static lbx_status
make_quietly(void *context, const char *place, lbx_postbox **ret,
             lbx_fault *fault)
{
    (void)context;
    (void)place;
    (void)fault;
    return lbx_null_postbox_create(NULL, ret);
}

TEST(threads_share_a_chain)
{
    lbx_resolver_chain_options options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    lbx_resolver_chain *chain;

    options.factory = (lbx_resolver){make_quietly, NULL};
    options.max_kept = 3;
    CHECK_OK(lbx_resolver_chain_create(&options, &chain));
    threads_run(4, resolve_many, chain);
    lbx_resolver_chain_destroy(chain);
}

/* Stores by URL: a scheme of the test's own, whose places are case-blind. */
static _Atomic int opened, closed;

static lbx_status
place_of(const char *rest, char *place, lbx_fault *fault)
{
    (void)fault;
    if (strcmp(rest, "bad") == 0)
        return LBX_INVALID;
    for (; *rest; rest++)
        *place++ = *rest >= 'A' && *rest <= 'Z' ? (char)(*rest + 32) : *rest;
    *place = '\0';
    return LBX_OK;
}

static void
close_one(lbx_store *store)
{
    closed++;
    free(store);
}

static lbx_store_ops url_ops;

static lbx_status
open_one(const char *place, const lbx_store_options *options, lbx_store **ret)
{
    struct script *script;

    CHECK(options->fault);
    if (strcmp(place, "broken/") == 0 || strcmp(place, "broken") == 0)
        return LBX_CORRUPT;
    url_ops = script_ops;
    url_ops.scheme = "try";
    url_ops.close = close_one;
    script = calloc(1, sizeof(*script));
    CHECK(script);
    script->letters = 1;
    CHECK(pthread_mutex_init(&script->lock, NULL) == 0);
    CHECK_OK(lbx_store_init(&script->base, &url_ops));
    opened++;
    *ret = &script->base;
    return LBX_OK;
}

static const char *
differs(lbx_store *store, const lbx_store_options *options)
{
    (void)store;
    return options->exclusive ? "exclusive" : NULL;
}

static const lbx__scheme scheme = {"try", place_of, open_one, differs, NULL};

TEST(a_store_is_open_once_per_place)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_store *first, *second, *other;
    lbx_fault fault;

    lbx__scheme_add(&scheme);
    CHECK_OK(lbx_store_open("try:Shop", NULL, &first));
    CHECK_OK(lbx_store_open("try:shop", NULL, &second));
    CHECK_PTR(first, second);
    CHECK_OK(lbx_store_open("try:other", NULL, &other));
    CHECK(other != first);
    CHECK_INT(2, opened);
    options.exclusive = true;
    options.fault = &fault;
    CHECK_STATUS(LBX_INVALID, lbx_store_open("try:shop", &options, &second));
    CHECK(strstr(fault.text, "other options: exclusive"));
    lbx_store_unref(first);
    CHECK_INT(0, closed);
    lbx_store_unref(second);
    CHECK_INT(1, closed);
    lbx_store_unref(other);
    CHECK_OK(lbx_store_open("try:shop", NULL, &first)); // a new one
    CHECK_INT(3, opened);
    lbx_store_unref(first);
    CHECK_INT(3, closed);
}

TEST_CITING("W-42", urls_lead_to_postboxes_for_sending)
{
    const lbx_resolver urls = lbx_url_resolver(NULL);
    lbx_postbox *postbox, *found;
    lbx_letter *letter;
    lbx_fault fault;

    lbx__scheme_add(&scheme);
    CHECK_OK(lbx_postbox_open("try:/shop/orders", NULL, &postbox));
    CHECK_STR("orders", lbx_postbox_name(postbox));
    CHECK_OK(lbx_resolver_resolve(urls, "try:/shop/other", &found, &fault));
    CHECK_PTR(lbx_postbox_store(postbox), lbx_postbox_store(found));
    CHECK_OK(lbx_postbox_send(found, "x", 1, NULL));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_postbox_receive(found, 0, &letter));
    lbx_postbox_unref(found);
    lbx_postbox_unref(postbox);
    CHECK_INT(1, closed);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_resolver_resolve(urls, "nothing:a/b", &found, &fault));
    CHECK(strstr(fault.text, "nothing:"));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_resolver_resolve(urls, "no URL", &found, &fault));
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_resolver_resolve(urls, "try:shop/", &found, NULL));
    CHECK_STATUS(LBX_CORRUPT,
                 lbx_resolver_resolve(urls, "try:broken/b", &found, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_postbox_open("try:broken/a b", NULL, &found));
    CHECK_STATUS(LBX_INVALID, lbx_postbox_open("try:bad/b", NULL, &found));
    CHECK_STATUS(LBX_NOT_FOUND, lbx_postbox_open("nothing:b", NULL, &found));
}

/* Faults of URLs: what is wrong, and what one looks like. */

static void
check_url(const char *url, lbx_status expected, const char *words)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *postbox;
    lbx_fault fault;

    memset(&fault, 'Z', sizeof(fault));
    fault.text[sizeof(fault.text) - 1] = '\0';
    options.fault = &fault;
    CHECK_STATUS(expected, lbx_postbox_open(url, &options, &postbox));
    CHECK_STATUS(expected, fault.status);
    CHECK(strstr(fault.text, words));
}

/* What means something in URLs or to a shell is decoded or refused, and never
 * taken for a name (URL-1). */
TEST(a_url_means_what_it_looks_like)
{
    static const struct {
        const char *url, *box;
    } boxes[] = {
        {"memory:urls/50%25off", "50%off"},
        {"memory:urls/why%3F", "why?"},
        {"memory:urls/%7euser%23%31", "~user#1"},
        {"memory:u%72ls/a~b", "a~b"}, // and the store is the same
    };
    lbx_store *store;

    CHECK_OK(lbx_store_open("memory:urls", NULL, &store));
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
        lbx_postbox *postbox;

        CHECK_OK(lbx_postbox_open(boxes[i].url, NULL, &postbox));
        CHECK_STR(boxes[i].box, lbx_postbox_name(postbox));
        CHECK_PTR(store, lbx_postbox_store(postbox));
        lbx_postbox_unref(postbox);
    }
    lbx_store_unref(store);
    check_url("memory:my%20box", LBX_INVALID, "'my box' is no name of a box");
    check_url("memory:box?lease=5", LBX_INVALID,
              "'memory:box?lease=5': nothing follows a ?: options are members "
              "of lbx_postbox_options");
    check_url("memory:shop?a=1/box", LBX_INVALID, "in a name write it as %3F");
    check_url("memory:box#top", LBX_INVALID, "in a name write it as %23");
    check_url("memory:~/box", LBX_INVALID, "~ is not expanded here");
    check_url("memory:~box", LBX_INVALID, "a name begins with ~ as %7E");
    check_url("memory:100%", LBX_INVALID, "%25 for % itself");
    check_url("memory:100%4", LBX_INVALID, "%4 stands for no character");
    check_url("memory:100%zzz", LBX_INVALID, "%zz stands for no character");
    check_url("memory:a%00b", LBX_INVALID, "%00 stands for no character");
    check_url("memory:a%2fb", LBX_INVALID, "without %2F");
}

TEST(a_url_that_leads_nowhere_is_explained)
{
    char url[5000];

    check_url(NULL, LBX_INVALID, "memory:NAME/BOX");
    check_url("", LBX_INVALID, "'' is no URL of a postbox: it is memory:BOX");
    check_url("orders", LBX_INVALID, "'orders' is no URL");
    check_url("://", LBX_INVALID, "is no URL");
    check_url("memory:", LBX_INVALID, "'memory:' names no box");
    check_url("memory:shop/", LBX_INVALID, "'memory:shop/' names no box");
    check_url("memory:a/b/c", LBX_INVALID, "memory:NAME/BOX");
    check_url("memory:a b", LBX_INVALID,
              "'a b' is no name of a box: allowed are 1 to 127 printable ASCII "
              "characters, no spaces, no '/'");
    check_url("memory:\xc3\xa9\n", LBX_INVALID, "'\\xc3\\xa9\\x0a' is no name");
    check_url(
        "nothing:b", LBX_NOT_FOUND,
        "'nothing:': there is no store of that kind; allowed are memory:");
    memset(url, 'a', sizeof(url));
    memcpy(url, "memory:", 7);
    url[7 + 128] = '\0';
    check_url(url, LBX_INVALID,
              "the name of a box is too long: 128 characters");
    url[7 + 128] = 'a';
    url[sizeof(url) - 1] = '\0';
    check_url(url, LBX_INVALID, "the URL is too long: 4999 bytes");
}

TEST(a_url_of_a_file_without_a_folder_says_so)
{
    const char *rest;

    if (!lbx__scheme_of("file:", &rest))
        return; // it is not built in
    check_url("file:x", LBX_INVALID,
              "'file:x' names no folder: a postbox in files is file:DIR/BOX");
    check_url("nothing:b", LBX_NOT_FOUND, "allowed are memory: and file:");
}

TEST(a_store_that_cannot_be_opened_says_why)
{
    lbx_postbox_options postbox_options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_allocator half = {NULL, NULL, NULL};
    lbx_fault fault, other;
    lbx_postbox *postbox;
    lbx_store *store;

    lbx__scheme_add(&scheme);
    options.fault = &fault;
#define REFUSED(expected, url, ret, words)                                     \
    do {                                                                       \
        memset(&fault, 0, sizeof(fault));                                      \
        CHECK_STATUS(expected, lbx_store_open(url, &options, ret));            \
        CHECK_STATUS(expected, fault.status);                                  \
        CHECK(strstr(fault.text, words));                                      \
    } while (0)

    REFUSED(LBX_INVALID, NULL, &store, "URL is NULL");
    REFUSED(LBX_INVALID, "try:shop", NULL, "ret is NULL");
    REFUSED(LBX_CORRUPT, "try:broken", &store, "'try:broken': ");
    options.allocator = &half;
    REFUSED(LBX_INVALID, "try:shop", &store, "allocator");
    options.allocator = NULL;
    options.size_bytes = 0;
    REFUSED(LBX_INVALID, "try:shop", &store,
            "size_bytes of 0: start it with LBX_STORE_OPTIONS_INIT");
#undef REFUSED

    // Both faults are told.
    memset(&fault, 0, sizeof(fault));
    postbox_options.store = &options;
    postbox_options.fault = &other;
    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_open("try:shop/a", &postbox_options, &postbox));
    CHECK(strstr(fault.text, "LBX_STORE_OPTIONS_INIT"));
    CHECK_STR(fault.text, other.text);
}

static void
open_and_close(unsigned index, void *context)
{
    (void)index;
    (void)context;
    for (int i = 0; i < 200; i++) {
        lbx_store *store;

        CHECK_OK(lbx_store_open("try:race", NULL, &store));
        CHECK_INT(1, opened - closed); // STORES-1
        lbx_store_unref(store);
    }
}

TEST(threads_open_and_close_one_place)
{
    lbx__scheme_add(&scheme);
    threads_run(4, open_and_close, NULL);
    CHECK_INT(opened, closed);
}

static void
count_wake(void *context)
{
    ++*(int *)context;
}

/* Its receives are those of threads that are not in the child. */
TEST(a_child_that_releases_a_postbox_ends_no_receive_of_its_parent)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_postbox *postbox;
    lbx_operation receive;
    lbx_letter *letter = NULL;
    size_t count;
    int wakes = 0;
    lbx_waker waker = {count_wake, &wakes};
    int status;
    pid_t child;

    options.wait_ns = -1;
    CHECK_OK(lbx_postbox_open("memory:orders", NULL, &postbox));
    CHECK_OK(
        lbx_postbox_receive_init(&receive, postbox, &options, &letter, &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, &waker));
    child = fork();
    if (child == 0) {
        lbx_postbox_unref(postbox);
        _exit(wakes);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT(0, WEXITSTATUS(status));
    CHECK_INT(0, wakes);
    (void)lbx_operation_cancel(&receive);
    lbx_operation_fini(&receive);
    lbx_postbox_unref(postbox);
}

TEST(a_child_uses_nothing_it_inherited_and_is_told_so)
{
    lbx_postbox *postbox;
    int status;
    pid_t child;

    lbx__scheme_add(&scheme);
    CHECK_OK(lbx_postbox_open("try:shop/orders", NULL, &postbox));
    child = fork();
    if (child == 0) {
        lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
        lbx_postbox *mine;
        lbx_letter *letter;
        lbx_fault fault;
        int wrong = 0;

        options.fault = &fault;
        wrong += lbx_postbox_send(postbox, "x", 1, NULL) != LBX_FORKED;
        wrong += lbx_postbox_receive(postbox, 0, &letter) != LBX_FORKED;
        wrong += lbx_postbox_open_in(lbx_postbox_store(postbox), "new",
                                     &options, &mine) != LBX_FORKED;
        wrong += !strstr(fault.text, "open it anew in this process");
        wrong += lbx_postbox_open("try:shop/orders", NULL, &mine) != LBX_OK;
        wrong += lbx_postbox_store(mine) == lbx_postbox_store(postbox);
        wrong += lbx_postbox_send(mine, "x", 1, NULL) != LBX_OK;
        lbx_postbox_unref(postbox);
        wrong += closed != 0; // not ours to close
        lbx_postbox_unref(mine);
        wrong += closed != 1;
        _exit(wrong);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT(0, WEXITSTATUS(status));
    CHECK_OK(lbx_postbox_send(postbox, "x", 1, NULL));
    lbx_postbox_unref(postbox);
    CHECK_INT(1, closed);
}
