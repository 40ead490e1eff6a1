/* SPDX-License-Identifier: Apache-2.0 */
/* The store in files by its URLs; what it shares with other processes; what it
 * keeps over a restart. That it keeps the contract is in tests/contract. */
#include "fixture.h"

#include "stores/file/store.h"
#include <letterbox/post.h>

#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[480];

static const char *
url(const char *rest)
{
    static char text[600];

    (void)snprintf(text, sizeof(text), "file:%s%s", path, rest);
    return text;
}

static void
new_path(void)
{
    (void)snprintf(path, sizeof(path), "%s", test_path());
}

static lbx_store *
open_store(void)
{
    const lbx_store_options options = fixture_options();
    lbx_store *store;

    CHECK_OK(lbx_store_open(url(""), &options, &store));
    return store;
}

static lbx_postbox *
open_box(const char *name)
{
    const lbx_store_options store = fixture_options();
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *postbox;
    char rest[64];

    options.store = &store;
    (void)snprintf(rest, sizeof(rest), "/%s", name);
    CHECK_OK(lbx_postbox_open(url(rest), &options, &postbox));
    return postbox;
}

static void
mail(lbx_postbox *postbox, const char *body)
{
    CHECK_OK(lbx_postbox_send(postbox, body, strlen(body), NULL));
}

/* Waits for a letter, which must have this body. */
static lbx_letter *
expect(lbx_postbox *postbox, const char *body)
{
    lbx_letter *letter;
    size_t size;

    CHECK_OK(lbx_postbox_receive(postbox, 50 * LBX_SECOND, &letter));
    CHECK(lbx_letter_body(letter, &size) && size == strlen(body) &&
          memcmp(lbx_letter_body(letter, NULL), body, size) == 0);
    return letter;
}

static void
take(lbx_postbox *postbox, const char *body)
{
    lbx_letter *letter = expect(postbox, body);

    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
}

/* ---- Another process ---- */

/* Runs in a child, which ends when it returns: with 0. */
static pid_t
spawn(void (*run)(int to), int *ret_from)
{
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        run(ends[1]);
        _exit(0);
    }
    (void)close(ends[1]);
    *ret_from = ends[0];
    return child;
}

static void
say(int to)
{
    CHECK(write(to, "", 1) == 1);
}

static void
hear(int from)
{
    char byte;

    CHECK(read(from, &byte, 1) == 1);
}

static void
await_end(pid_t child, int from)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(from);
}

/* ---- URLs ---- */

TEST(a_place_is_one_store_however_it_is_written)
{
    char link[512], text[1100];
    const char *name;
    lbx_store *store, *other;

    new_path();
    store = open_store();
    CHECK_STR("file", lbx_store_scheme(store));
    name = strrchr(path, '/') + 1;
    (void)snprintf(link, sizeof(link), "%s-link", path);
    CHECK(symlink(".", link) == 0); // to the folder above
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof(text), "file:%s%s%s%s%s",
                       i == 2 ? "//" : "", path, i == 0 ? "/" : "",
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
        {"files:/tmp", LBX_NOT_FOUND, "memory:, file:"},
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

TEST(a_symbolic_link_is_no_store)
{
    char link[512];
    lbx_store *store;

    new_path();
    lbx_store_unref(open_store());
    (void)snprintf(link, sizeof(link), "file:%s-link", path);
    CHECK(symlink(path, link + 5) == 0);
    CHECK_STATUS(LBX_DENIED, lbx_store_open(link, NULL, &store));
}

TEST(options_must_not_contradict_those_it_is_open_with)
{
    lbx_store_options options = fixture_options();
    lbx_store *store, *other;

    new_path();
    options.durability = LBX_SURVIVES_INTERVAL;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    CHECK_INT(LBX_SURVIVES_INTERVAL, (int)lbx_store_durability(store));
    CHECK_OK(lbx_store_open(url(""), NULL, &other)); // says nothing
    lbx_store_unref(other);
    CHECK_OK(lbx_store_open(url(""), &options, &other)); // says the same
    lbx_store_unref(other);
    options.interval_ms++;
    CHECK_STATUS(LBX_INVALID, lbx_store_open(url(""), &options, &other));
    options.durability = LBX_SURVIVES_POWER_CUT;
    CHECK_STATUS(LBX_INVALID, lbx_store_open(url(""), &options, &other));
    options.durability = LBX_SURVIVES_DEFAULT;
    options.alone = true;
    CHECK_STATUS(LBX_INVALID, lbx_store_open(url(""), &options, &other));
    lbx_store_unref(store);
}

TEST(what_must_exist_is_not_made)
{
    lbx_store_options options = fixture_options();
    lbx_store *store;

    new_path();
    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND, lbx_store_open(url(""), &options, &store));
    CHECK(access(path, F_OK) != 0);
}

/* ---- Restarts ---- */

TEST_CITING("W-10 W-17", letters_and_receipts_survive_a_restart)
{
    char receipt[LBX_RECEIPT_BYTES];
    lbx_settle settle = {.what = LBX_ACKNOWLEDGE};
    lbx_postbox *postbox;
    lbx_box_counts counts;
    lbx_letter *letter;

    new_path();
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

/* D11: what was acknowledged may be back, so nobody's receipt is good. */
TEST_CITING("W-17", receipts_from_before_a_lossy_crash_have_expired)
{
    lbx_store_options options = fixture_options();
    char receipt[LBX_RECEIPT_BYTES], copy[480];
    lbx_settle settle = {.what = LBX_ACKNOWLEDGE};
    struct faulty_io faulty;
    lbx_postbox *postbox;
    lbx_letter *letter;
    lbx_store *store;

    new_path();
    (void)snprintf(copy, sizeof(copy), "%s", test_path());
    faulty_init(&faulty);
    faulty.boot_ns = faulty.wall_ns = LBX_SECOND;
    options.durability = LBX_SURVIVES_PROCESS;
    CHECK_OK(lbx__file_store_open(path, &options, &faulty.io, &store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    mail(postbox, "one");
    letter = expect(postbox, "one");
    CHECK_OK(lbx_letter_receipt(letter, receipt, sizeof(receipt)));
    lbx_letter_destroy(letter);
    fixture_copy(path, copy, "data.mdb"); // as the power goes
    fixture_copy(path, copy, "journal");
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
    lbx_sent sent;

    ending->postbox = open_box("orders");
    CHECK_OK(lbx_postbox_send_init(&ending->operation, ending->postbox, &draft,
                                   1, &sent, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&ending->operation, &waker));
    atomic_store(&ending->asked, 1);
    EVENTUALLY(atomic_load(&ending->over));
}

/* F2: who opens it then waits until it is closed, and is not told BUSY. */
TEST(a_store_that_a_waker_closed_can_be_opened_at_once)
{
    new_path();
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

    new_path();
    end_by_waker(&ending);
    CHECK_STATUS(LBX_BUSY, ending.opened);
    lbx_store_unref(open_store());
}

/* ---- Company ---- */

enum {
    ROUNDS = 200
};

static void
answer_pings(int to)
{
    lbx_postbox *pings = open_box("pings");
    lbx_postbox *pongs = open_box("pongs");

    say(to);
    for (int i = 0; i < ROUNDS; i++) {
        take(pings, "ping");
        mail(pongs, "pong");
    }
    lbx_postbox_unref(pongs);
    lbx_postbox_unref(pings);
}

/* If bells were lost, each would take a second: 200 s. */
TEST_LIMIT(processes_wake_each_other, 60)
{
    lbx_postbox *pings, *pongs;
    pid_t child;
    int from;

    new_path();
    child = spawn(answer_pings, &from);
    hear(from);
    pings = open_box("pings");
    pongs = open_box("pongs");
    for (int i = 0; i < ROUNDS; i++) {
        mail(pings, "ping");
        take(pongs, "pong");
    }
    await_end(child, from);
    lbx_postbox_unref(pongs);
    lbx_postbox_unref(pings);
}

static void
idle(int to)
{
    (void)open_store();
    say(to);
    for (;;)
        pause();
}

/* It sleeps, and has nothing to do but to open the door. */
TEST_LIMIT(an_idle_store_lets_others_in, 20)
{
    lbx_store_options options = fixture_options();
    lbx_postbox *postbox;
    lbx_store *store;
    pid_t child;
    int from;

    new_path();
    child = spawn(idle, &from);
    hear(from);
    options.durability = LBX_SURVIVES_PROCESS;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    CHECK_INT(LBX_SURVIVES_POWER_CUT, (int)lbx_store_durability(store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    mail(postbox, "together");
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    (void)close(from);
    for (int i = 0; lbx_store_durability(store) != LBX_SURVIVES_PROCESS; i++) {
        mail(postbox, "alone again?");
        CHECK(i < 1000);
    }
    take(postbox, "together");
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}

/* N2: an owner is killed, and two that wait at the door both see what it has
 * left. One recovers; the other is let in by that one. */
TEST_LIMIT(two_that_find_a_killed_owners_journal_both_get_in, 20)
{
    enum {
        KNOCKS_AT = 24 /* in wake: after the magic and the boot's id */
    };
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    char wake[512];
    uint32_t before, knocks;
    pid_t children[3];
    int from[3], fd;

    new_path();
    children[0] = spawn(idle, &from[0]);
    hear(from[0]);
    CHECK(kill(children[0], SIGKILL) == 0);
    CHECK(waitpid(children[0], NULL, 0) == children[0]);
    (void)close(from[0]);
    // As if both had it shared for a moment: nobody can recover yet.
    (void)snprintf(wake, sizeof(wake), "%s/wake", path);
    fd = open(wake, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK_INT(sizeof(before), pread(fd, &before, sizeof(before), KNOCKS_AT));
    for (int i = 1; i < 3; i++)
        children[i] = spawn(idle, &from[i]);
    do {
        CHECK_INT(sizeof(knocks),
                  pread(fd, &knocks, sizeof(knocks), KNOCKS_AT));
    } while (knocks - before < 100);
    lock.l_type = F_UNLCK;
    CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    for (int i = 1; i < 3; i++)
        hear(from[i]);
    for (int i = 1; i < 3; i++) {
        CHECK(kill(children[i], SIGKILL) == 0);
        CHECK(waitpid(children[i], NULL, 0) == children[i]);
        (void)close(from[i]);
    }
    CHECK(close(fd) == 0);
}

/* Who waits while a store is made looks again at what is there: data.mdb that had
 * just been begun is thrown away and made anew by who comes first. */
TEST_LIMIT(who_waits_does_not_keep_a_file_that_was_thrown_away, 20)
{
    enum {
        KNOCKS_AT = 24,
        META_BYTES = 8192
    };
    struct flock lock = {.l_type = F_RDLCK, .l_len = 1};
    char made[480], wake[512], data[512];
    uint32_t before, knocks;
    MDB_env *env;
    pid_t child;
    int from, fd;

    new_path();
    lbx_store_unref(open_store());
    (void)snprintf(made, sizeof(made), "%s", path);
    new_path();
    CHECK(mkdir(path, 0700) == 0);
    CHECK(mdb_env_create(&env) == 0 && mdb_env_open(env, path, 0, 0600) == 0);
    mdb_env_close(env);
    CHECK_INT(META_BYTES, fixture_size(path, "data.mdb"));
    (void)snprintf(wake, sizeof(wake), "%s/wake", path);
    fd = open(wake, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 65536) == 0);
    CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK_INT(sizeof(before), pread(fd, &before, sizeof(before), KNOCKS_AT));
    child = spawn(idle, &from);
    do {
        CHECK_INT(sizeof(knocks),
                  pread(fd, &knocks, sizeof(knocks), KNOCKS_AT));
    } while (knocks - before < 20);
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitpid(child, NULL, WUNTRACED) == child);
    (void)snprintf(data, sizeof(data), "%s/data.mdb", path);
    CHECK(unlink(data) == 0);
    fixture_copy(made, path, "data.mdb");
    fixture_copy(made, path, "journal");
    lock.l_type = F_UNLCK;
    CHECK(fcntl(fd, F_OFD_SETLK, &lock) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    hear(from);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    (void)close(from);
    CHECK(close(fd) == 0);
}

static void
remove_nothing(int to)
{
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK(!lbx__file_is_alone(storage));
    CHECK_OK(lbx__storage_begin(storage));
    lbx__storage_remove(storage, LBX__BODIES, text("nothing"));
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
    say(to);
}

/* LMDB does not write a transaction that has changed nothing, so that it must not
 * be missed: the next one has its number. */
TEST_LIMIT(a_group_that_changed_nothing_is_not_missed, 20)
{
    pid_t owner, child;
    int from, other;

    new_path();
    owner = spawn(idle, &from);
    hear(from);
    child = spawn(remove_nothing, &other);
    hear(other);
    await_end(child, other);
    CHECK(kill(owner, SIGKILL) == 0);
    CHECK(waitpid(owner, NULL, 0) == owner);
    (void)close(from);
    lbx_store_unref(open_store());
}

static void
fail_to_enter(int to)
{
    lbx_store_options options = fixture_options();
    lbx_fault fault;
    lbx_store *store;

    options.fault = &fault;
    CHECK_STATUS(LBX_BUSY, lbx_store_open(url(""), &options, &store));
    CHECK(strstr(fault.text, "alone"));
    say(to);
}

TEST_LIMIT(who_wants_to_be_alone_is, 20)
{
    lbx_store_options options = fixture_options();
    lbx_store *store;
    pid_t child;
    int from;

    new_path();
    options.alone = true;
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    child = spawn(fail_to_enter, &from);
    hear(from);
    await_end(child, from);
    lbx_store_unref(store);

    child = spawn(idle, &from);
    hear(from);
    CHECK_STATUS(LBX_BUSY, lbx_store_open(url(""), &options, &store));
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    (void)close(from);
    CHECK_OK(lbx_store_open(url(""), &options, &store));
    lbx_store_unref(store);
}

static void
wait_for_the_end(int to)
{
    lbx_postbox *postbox = open_box("orders");
    lbx_letter *letter;

    say(to);
    CHECK_STATUS(LBX_CLOSED,
                 lbx_postbox_receive(postbox, 50 * LBX_SECOND, &letter));
    lbx_postbox_unref(postbox);
}

TEST_CITING_LIMIT("W-09", a_box_that_another_process_deletes_ends_waits, 40)
{
    lbx_store *store;
    pid_t child;
    int from;

    new_path();
    child = spawn(wait_for_the_end, &from);
    hear(from);
    store = open_store();
    CHECK_OK(lbx_store_delete_box(store, "orders"));
    await_end(child, from);
    lbx_store_unref(store);
}

static void
start_a_move(int to)
{
    lbx_store *store = open_store();

    CHECK_OK(lbx_store_move(store, "orders", "others", 20));
    say(to);
    for (;;)
        pause();
}

/* "It goes on when this process ends and another has the store open": one that
 * has nothing to do itself, too. */
TEST_LIMIT(a_move_goes_on_when_who_started_it_is_killed, 40)
{
    lbx_postbox *orders, *others;
    lbx_store *store;
    pid_t child;
    int from;

    new_path();
    store = open_store();
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &orders));
    CHECK_OK(lbx_postbox_open_in(store, "others", NULL, &others));
    for (int i = 0; i < 20; i++)
        mail(orders, "moved");
    child = spawn(start_a_move, &from);
    hear(from);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    (void)close(from);
    for (int i = 0; i < 20; i++)
        take(others, "moved");
    lbx_postbox_unref(others);
    lbx_postbox_unref(orders);
    lbx_store_unref(store);
}

static lbx_store *inherited;

static void
use_what_was_inherited(int to)
{
    lbx_postbox *postbox;
    lbx_store *mine;

    CHECK_STATUS(LBX_INVALID,
                 lbx_postbox_open_in(inherited, "orders", NULL, &postbox));
    lbx_store_unref(inherited);
    mine = open_store();
    CHECK_OK(lbx_postbox_open_in(mine, "orders", NULL, &postbox));
    take(postbox, "from the parent");
    lbx_postbox_unref(postbox);
    lbx_store_unref(mine);
    say(to);
}

TEST_LIMIT(a_child_opens_its_own, 40)
{
    lbx_postbox *postbox;
    pid_t child;
    int from;

    new_path();
    inherited = open_store();
    CHECK_OK(lbx_postbox_open_in(inherited, "orders", NULL, &postbox));
    mail(postbox, "from the parent");
    child = spawn(use_what_was_inherited, &from);
    hear(from);
    await_end(child, from);
    lbx_postbox_unref(postbox);
    lbx_store_unref(inherited);
}

static void
leave_a_child(int to)
{
    pid_t child;

    (void)open_store();
    child = fork();
    CHECK(child >= 0);
    if (child > 0)
        CHECK(write(to, &child, sizeof(child)) == sizeof(child));
    for (;;)
        pause();
}

/* Locks belong to the open file, which a child shares: it must not keep those of
 * a parent that is gone, though it never uses the store. */
TEST_LIMIT(a_child_does_not_hold_its_parents_store, 20)
{
    pid_t owner, child;
    lbx_store *store;
    int from;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    new_path();
    owner = spawn(leave_a_child, &from);
    CHECK(read(from, &child, sizeof(child)) == sizeof(child));
    CHECK(kill(owner, SIGKILL) == 0);
    CHECK(waitpid(owner, NULL, 0) == owner);
    store = open_store();
    lbx_store_unref(store);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    (void)close(from);
}
