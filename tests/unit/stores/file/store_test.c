/* SPDX-License-Identifier: Apache-2.0 */
/* The store in files by its URLs; what it keeps over a restart; who may close
 * it. That it keeps the contract is in tests/contract. */
#include "letters.h"

#include "fixture.h"
#include "stores/file/file_store.h"
#include "support/signals.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- URLs ---- */

TEST(a_place_is_one_store_however_it_is_written)
{
    char link[512], text[1100];
    const char *name;
    lbx_store *store, *other;

    new_store_path();
    store = open_store();
    CHECK_STR("file", lbx_store_scheme(store));
    name = strrchr(store_path, '/') + 1;
    (void)snprintf(link, sizeof(link), "%s-link", store_path);
    CHECK(symlink(".", link) == 0); // to the folder above
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof(text), "file:%s%s%s%s%s",
                       i == 2 ? "//" : "", store_path, i == 0 ? "/" : "",
                       i == 1 ? "/." : "", i == 3 ? "-link/" : "");
        if (i == 3)
            (void)strcat(text, name);
        CHECK_OK(lbx_store_open(text, NULL, &other));
        CHECK_PTR(store, other);
        lbx_store_unref(other);
    }
    lbx_store_unref(store);
}

TEST(bad_places_are_refused_with_a_reason)
{
    static const struct {
        const char *url;
        lbx_status status;
        const char *says;
    } cases[] = {
        {"file:", LBX_INVALID, "file:DIR"},
        {"file://mailhost/var/shop", LBX_INVALID, "file:/DIR"},
        {"file:/no/such/folder/shop", LBX_NOT_FOUND, "/no/such/folder"},
        {"file:/dev/null/shop", LBX_NOT_FOUND, "/dev/null"},
        {"files:/tmp", LBX_NOT_FOUND, "memory: and file:"},
        {"file:~/shop", LBX_INVALID, "write the folder in full"},
        {"file:/tmp/shop?durability=none", LBX_INVALID, "lbx_store_options"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lbx_store_options options = LBX_STORE_OPTIONS_INIT;
        lbx_fault fault;
        lbx_store *store;

        options.fault = &fault;
        CHECK_STATUS(cases[i].status,
                     lbx_store_open(cases[i].url, &options, &store));
        if (!strstr(fault.text, cases[i].says))
            FAIL("%s: %s", cases[i].url, fault.text);
    }
}

TEST(the_folder_of_a_url_is_decoded)
{
    char text[1100], folder[1100];
    lbx_store *store;

    new_store_path();
    (void)snprintf(text, sizeof(text), "file:%s%%20100%%25", store_path);
    (void)snprintf(folder, sizeof(folder), "%s 100%%", store_path);
    CHECK_OK(lbx_store_open(text, NULL, &store));
    CHECK(access(folder, F_OK) == 0);
    lbx_store_unref(store);
}

TEST(a_symbolic_link_is_no_store)
{
    char link[512];
    lbx_store *store;

    new_store_path();
    lbx_store_unref(open_store());
    (void)snprintf(link, sizeof(link), "file:%s-link", store_path);
    CHECK(symlink(store_path, link + 5) == 0);
    CHECK_STATUS(LBX_DENIED, lbx_store_open(link, NULL, &store));
}

TEST(options_must_not_contradict_those_it_is_open_with)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault = {LBX_OK, ""};
    lbx_store *store, *other;

    new_store_path();
    options.durability = LBX_DURABILITY_INTERVAL;
    options.fault = &fault;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    CHECK_INT(LBX_DURABILITY_INTERVAL, (int)lbx_store_durability(store));
    CHECK_OK(lbx_store_open(url(""), NULL, &other)); // says nothing
    lbx_store_unref(other);
    CHECK_OK(lbx_store_open(url(""), &options, &other)); // says the same
    lbx_store_unref(other);
    options.interval_ms++;
    CHECK_STATUS(LBX_INVALID, lbx_store_open(url(""), &options, &other));
    CHECK(strstr(fault.text, "other options: interval_ms"));
    options.durability = LBX_DURABILITY_POWER_CUT;
    CHECK_STATUS(LBX_INVALID, lbx_store_open(url(""), &options, &other));
    CHECK(strstr(fault.text, "other options: durability"));
    options.durability = LBX_DURABILITY_DEFAULT;
    options.exclusive = true;
    CHECK_STATUS(LBX_INVALID, lbx_store_open(url(""), &options, &other));
    CHECK(strstr(fault.text, "other options: exclusive"));
    options.exclusive = false;
    options.map_bytes = -1; // wrong, whatever it is open with
    CHECK_STATUS(LBX_INVALID, lbx_store_open(url(""), &options, &other));
    CHECK(strstr(fault.text, "map_bytes: 16 MiB"));
    options.map_bytes = (int64_t)64 << 30;
    options.durability = LBX_DURABILITY_MACHINE; // nor can it have that
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_store_open(url(""), &options, &other));
    lbx_store_unref(store);
}

TEST(what_must_exist_is_not_made)
{
    lbx_store_options options = fixture_options();
    lbx_store *store;

    new_store_path();
    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND, lbx_store_open(url(""), &options, &store));
    CHECK(access(store_path, F_OK) != 0);
}

/* ---- Restarts ---- */

TEST_CITING("W-10 W-17", letters_and_receipts_survive_a_restart)
{
    char receipt[LBX_RECEIPT_BYTES];
    lbx_settle_item settle = {.action = LBX_SETTLE_ACKNOWLEDGE};
    lbx_postbox *postbox;
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_letter *letter;

    new_store_path();
    postbox = open_box("orders");
    mail(postbox, "one");
    mail(postbox, "two");
    letter = expect(postbox, "one");
    CHECK_OK(lbx_letter_receipt(letter, receipt, sizeof(receipt)));
    lbx_letter_destroy(letter);
    lbx_postbox_unref(postbox);

    postbox = open_box("orders");
    CHECK_OK(lbx_postbox_count(postbox, &counts));
    CHECK_INT(1, (long)counts.ready);
    CHECK_INT(1, (long)counts.leased);
    settle.receipt = receipt;
    CHECK_OK(lbx_postbox_settle_batch(postbox, &settle, 1));
    take(postbox, "two");
    CHECK_OK(lbx_postbox_count(postbox, &counts));
    CHECK_INT(0, (long)(counts.ready + counts.leased));
    lbx_postbox_unref(postbox);
}

/* What was acknowledged may be back, so no receipt is good. */
TEST_CITING("W-17", receipts_from_before_a_lossy_crash_have_expired)
{
    lbx_store_options options = fixture_options();
    char receipt[LBX_RECEIPT_BYTES];
    const char *copy = test_path();
    lbx_settle_item settle = {.action = LBX_SETTLE_ACKNOWLEDGE};
    struct faulty_io faulty;
    lbx_postbox *postbox;
    lbx_letter *letter;
    lbx_store *store;

    new_store_path();
    faulty_init(&faulty);
    faulty.boot_ns = faulty.wall_ns = LBX_SECOND;
    options.durability = LBX_DURABILITY_PROCESS;
    CHECK_OK(lbx__file_store_open(store_path, &options, &faulty.io, &store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    mail(postbox, "one");
    letter = expect(postbox, "one");
    CHECK_OK(lbx_letter_receipt(letter, receipt, sizeof(receipt)));
    lbx_letter_destroy(letter);
    fixture_copy_store(store_path, copy); // as the power goes
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);

    faulty.boot[0] = 1;
    CHECK_OK(lbx__file_store_open(copy, &options, &faulty.io, &store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    settle.receipt = receipt;
    CHECK_STATUS(LBX_EXPIRED, lbx_postbox_settle_batch(postbox, &settle, 1));
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}

/* ---- Closing by a waker ---- */

struct ending {
    lbx_operation operation;
    lbx_postbox *postbox;
    bool opens; /* again, by itself */
    lbx_status opened;
    _Atomic int asked;
    _Atomic int over;
};

static void
end_it(void *context)
{
    struct ending *ending = context;
    const lbx_store_options options = fixture_options();
    lbx_store *store = NULL;

    EVENTUALLY(atomic_load(&ending->asked)); // one at a time
    CHECK_OK(lbx_operation_poll(&ending->operation, NULL));
    lbx_operation_fini(&ending->operation);
    lbx_postbox_unref(ending->postbox); // the last: in the store's thread
    if (ending->opens)
        ending->opened = lbx_store_open(url(""), &options, &store);
    lbx_store_unref(store);
    atomic_store(&ending->over, 1);
}

static void
end_by_waker(struct ending *ending)
{
    const lbx_waker waker = {end_it, ending};
    const lbx_draft draft = lbx_draft_of_bytes("x", 1);
    lbx_sent_letter sent;
    lbx_status status;

    ending->postbox = open_box("orders");
    do { // until the store is not as fast as we are
        CHECK_OK(lbx_postbox_send_init(&ending->operation, ending->postbox,
                                       &draft, 1, &sent, LBX_FOREVER));
        status = lbx_operation_poll(&ending->operation, &waker);
        if (status == LBX_OK)
            lbx_operation_fini(&ending->operation);
    } while (status == LBX_OK);
    CHECK_STATUS(LBX_PENDING, status);
    atomic_store(&ending->asked, 1);
    EVENTUALLY(atomic_load(&ending->over));
}

/* STORES-1: a thread that opens it then waits until it is closed, and does not
 * get BUSY. */
TEST(a_store_that_a_waker_closed_can_be_opened_at_once)
{
    new_store_path();
    for (int i = 0; i < 10; i++) {
        struct ending ending = {.opens = false};

        end_by_waker(&ending);
        lbx_store_unref(open_store());
    }
}

/* But the thread that is to close it cannot wait for that. */
TEST(a_waker_that_closed_a_store_cannot_open_it)
{
    struct ending ending = {.opens = true};

    new_store_path();
    end_by_waker(&ending);
    CHECK_STATUS(LBX_BUSY, ending.opened);
    lbx_store_unref(open_store());
}

/* SIGMASK-1: the threads of a store do not take a signal that the program waits
 * for. */
TEST(a_store_leaves_signals_to_the_program)
{
    lbx_store_options options = fixture_options();
    lbx_postbox *postbox;
    lbx_store *store;

    new_store_path();
    options.durability = LBX_DURABILITY_INTERVAL; // a thread more
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    mail(postbox, "one");
    test_await_own_signal();
    take(postbox, "one");
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}
