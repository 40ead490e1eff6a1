/* SPDX-License-Identifier: Apache-2.0 */
#include "known_store.h"

#include "stores/file/file.h"
#include "stores/file/fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ORDERS,
    LINE,
    DEAD,
    PURGED,
    EMPTY,
    BODY_MOST = 9000
};

const char *const known_boxes[KNOWN_BOXES] = {
    "orders", "line.fifo", "dead", "purged", "empty",
};

/* ---- What a letter is ---- */

/* Every seventeenth is larger than a page. */
static size_t
body_of(int box, int number, char body[BODY_MOST])
{
    const size_t size = number % 17 == 5
                            ? 5000 + (size_t)number % 3000
                            : 40 + (size_t)(number * 37 + box * 11) % 200;
    const int used = snprintf(body, BODY_MOST, "letter %d of %s: ", number,
                              known_boxes[box]);

    for (size_t i = (size_t)used; i < size; i++)
        body[i] = (char)('a' + (i * 7 + (size_t)number + (size_t)box) % 26);
    return size;
}

/* The group of a letter; NULL: it has none. */
static const char *
group_of(int box, int number, char group[16])
{
    if (box == ORDERS)
        return number % 4 == 0 ? NULL : number % 4 == 1 ? "few" : "many";
    (void)snprintf(group, 16, "g%d", number % 7);
    return box == LINE ? group : NULL;
}

static bool
same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* ---- Making one ---- */

struct maker {
    struct known *known;
    lbx__storage *storage;
    lbx__rules *rules;
    lbx_box boxes[KNOWN_BOXES];
    int box; /* that is received from */
};

static int64_t
wall(void *context)
{
    (void)context;
    return 1700000000000;
}

static void
open_maker(struct maker *maker, const char *path)
{
    const lbx__rules_options options = {.wall_ms = wall};

    maker->storage = fixture_open(path, NULL, NULL);
    CHECK_OK(lbx__rules_open(maker->storage, &options, &maker->rules));
}

static void
close_maker(struct maker *maker)
{
    lbx__rules_close(maker->rules);
    lbx__storage_close(maker->storage);
}

static void
commit(struct maker *maker)
{
    CHECK_OK(lbx__storage_flush(maker->storage,
                                lbx__box_record_commit(maker->rules)));
}

static void
create(struct maker *maker, int box)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request request = {.name = known_boxes[box], .options = &options};

    options.fifo = box == LINE;
    options.keep_position = box == PURGED;
    if (box == ORDERS) {
        options.dead_letters = "dead";
        options.max_deliveries = 2;
    }
    CHECK_OK(lbx__storage_begin(maker->storage));
    CHECK_OK(lbx__box_admin_create(maker->rules, &request));
    commit(maker);
    maker->boxes[box] = request.ret_box;
}

static void
post(struct maker *maker, int box, int number)
{
    static const lbx_attribute attribute = {
        .name = "colour", .value = "red", .value_bytes = 3};
    char body[BODY_MOST], group[16], duplicate[32], token[32];
    struct known_letter *letter = &maker->known->letters[box][number];
    lbx_sent_letter sent;
    lbx_parcel parcel = {
        .body = body,
        .body_bytes = body_of(box, number, body),
        .type_name = "known.Letter",
        .attributes = &attribute,
        .attribute_count = number % 2,
        .delay_ns = box == ORDERS && number % 7 == 3 ? 3600 * LBX_SECOND : 0,
    };
    lbx_send_request request = {maker->boxes[box], &parcel, 1, &sent};

    parcel.group = group_of(box, number, group);
    if (box == LINE) {
        (void)snprintf(duplicate, sizeof(duplicate), "d%d", number);
        parcel.deduplication_id = duplicate;
    }
    if (number % 10 == 1) {
        (void)snprintf(token, sizeof(token), "t%d", number);
        parcel.token = token;
    }
    CHECK_OK(lbx__send_apply(maker->rules, &request));
    letter->fate = KNOWN_ALIVE;
    letter->sequence = sent.sequence;
    letter->sent_ms = 1700000000000;
    memcpy(letter->id, sent.id.text, sizeof(sent.id.text));
    maker->known->alive++;
}

struct got {
    struct maker *maker;
    uint8_t receipt[24];
    int number;
    int box;
};

/* Which known letter this is: -1 if it is none, or not as it was. */
static int
recognise(const lbx_delivery *delivery, int *ret_box)
{
    char body[BODY_MOST], name[32] = "", group[16];
    char start[64] = ""; // with a NUL behind it, which a body has not
    int number = -1, box;

    if (delivery->parcel.body_bytes < 20)
        return -1;
    memcpy(start, delivery->parcel.body,
           delivery->parcel.body_bytes < sizeof(start)
               ? delivery->parcel.body_bytes
               : sizeof(start) - 1);
    if (sscanf(start, "letter %d of %31[^:]:", &number, name) != 2)
        return -1;
    for (box = 0; box < KNOWN_BOXES; box++) {
        if (strcmp(name, known_boxes[box]) == 0)
            break;
    }
    if (box == KNOWN_BOXES || number < 0 || number >= KNOWN_LETTERS ||
        body_of(box, number, body) != delivery->parcel.body_bytes ||
        memcmp(body, delivery->parcel.body, delivery->parcel.body_bytes) != 0)
        return -1;
    if (!same(delivery->parcel.type_name, "known.Letter") ||
        delivery->parcel.attribute_count != (size_t)number % 2 ||
        !same(delivery->parcel.group, group_of(box, number, group)))
        return -1;
    *ret_box = box;
    return number;
}

static lbx_status
take(void *context, const lbx_delivery *delivery)
{
    struct got *got = context;

    memcpy(got->receipt, delivery->receipt, sizeof(got->receipt));
    got->number = recognise(delivery, &got->box);
    return LBX_OK;
}

/* Receives one; false when there is none. */
static bool
receive(struct maker *maker, int box, struct got *got)
{
    const lbx__sink sink = {take, got};
    const lbx_receive_request request = {
        .box = maker->boxes[box],
        .max_letters = 1,
        .lease_ns = 3600 * LBX_SECOND,
    };
    uint32_t count;

    *got = (struct got){.maker = maker};
    if (lbx__receive_apply(maker->rules, &request, 0, &sink, &count) != LBX_OK)
        return false;
    CHECK(got->number >= 0);
    maker->known->letters[got->box][got->number].deliveries++;
    return true;
}

static void
settle(struct maker *maker, int box, const struct got *got,
       lbx_settle_action what)
{
    lbx_settle_request_entry entry = {
        .action = what,
        .receipt = got->receipt,
        .receipt_bytes = sizeof(got->receipt),
    };
    lbx_settle_request request = {maker->boxes[box], &entry, 1};
    struct known_letter *letter = &maker->known->letters[got->box][got->number];

    CHECK_OK(lbx__settle_apply(maker->rules, &request));
    if (what == LBX_SETTLE_ACKNOWLEDGE) {
        letter->fate = KNOWN_GONE;
        maker->known->alive--;
    }
}

/* One group: some sends, a receive, a settlement. */
static void
step(struct maker *maker, int number)
{
    struct got got;

    CHECK_OK(lbx__storage_begin(maker->storage));
    post(maker, ORDERS, number);
    if (number % 2 == 0)
        post(maker, LINE, number / 2);
    if (number % 3 == 0 && receive(maker, ORDERS, &got)) {
        if (number % 9 == 0)
            settle(maker, ORDERS, &got, LBX_SETTLE_ACKNOWLEDGE);
        else if (number % 9 == 3)
            settle(maker, ORDERS, &got, LBX_SETTLE_NACK);
    }
    if (number % 8 == 0 && receive(maker, LINE, &got) && number % 16 == 0)
        settle(maker, LINE, &got, LBX_SETTLE_ACKNOWLEDGE);
    if (number % 10 == 0)
        post(maker, PURGED, number / 10);
    commit(maker);
}

/* A letter that comes back twice dies when it is asked for again. */
static void
kill_some(struct maker *maker)
{
    struct got got;

    CHECK_OK(lbx__storage_begin(maker->storage));
    for (int i = 0; i < 24 && receive(maker, ORDERS, &got); i++)
        settle(maker, ORDERS, &got, LBX_SETTLE_NACK);
    commit(maker);
}

static void
purge(struct maker *maker)
{
    lbx_box_request request = {.box = maker->boxes[PURGED]};
    int64_t due;

    CHECK_OK(lbx__storage_begin(maker->storage));
    CHECK_OK(lbx__box_admin_purge(maker->rules, &request));
    // Some of its rows are still there, and of no box.
    CHECK_OK(lbx__background_work(maker->rules, 3, &due));
    commit(maker);
    for (int i = 0; i < KNOWN_LETTERS; i++) {
        struct known_letter *letter = &maker->known->letters[PURGED][i];

        if (letter->fate != KNOWN_ALIVE)
            continue;
        letter->fate = KNOWN_GONE;
        maker->known->alive--;
    }
}

void
known_make(struct known *known, const char *path, int letters, bool as_killed,
           const char *earlier)
{
    struct maker maker = {.known = known};
    char made[600];

    CHECK(letters < KNOWN_LETTERS);
    memset(known, 0, sizeof(*known));
    (void)snprintf(made, sizeof(made), "%s%s", path, as_killed ? ".made" : "");
    open_maker(&maker, made);
    for (int i = KNOWN_BOXES - 1; i >= 0; i--)
        create(&maker, i); // `dead` before `orders`
    for (int i = 1; i <= letters; i++) {
        if (i == letters / 2)
            kill_some(&maker);
        if (i == letters / 3)
            purge(&maker);
        if (i == letters * 6 / 10 || i == letters * 9 / 10) {
            close_maker(&maker);
            if (earlier && i == letters * 6 / 10)
                known_copy(made, earlier);
            open_maker(&maker, made);
        }
        step(&maker, i);
    }
    if (as_killed)
        known_copy(made, path);
    close_maker(&maker);
}

void
known_copy(const char *from, const char *to)
{
    fixture_copy_store(from, to);
}

void
known_remove(const char *path)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "journal",
                                        "wake"};
    char full[700];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(full, sizeof(full), "%s/%s", path, names[i]);
        (void)unlink(full);
    }
    (void)rmdir(path);
}

/* ---- Looking at one ---- */

struct looker {
    const struct known *known;
    lbx__rules *rules;
    lbx__storage *storage;
    struct known_found *found;
    bool salvaged;
    lbx_settle_request_entry entries[10];
    uint8_t receipts[10][24];
    uint32_t count;
};

static lbx_status
look_at(void *context, const lbx_delivery *delivery)
{
    struct looker *looker = context;
    struct known_found *found = looker->found;
    const struct known_letter *letter;
    int box, number = recognise(delivery, &box);

    looker->entries[looker->count] = (lbx_settle_request_entry){
        .action = LBX_SETTLE_ACKNOWLEDGE,
        .receipt = looker->receipts[looker->count],
        .receipt_bytes = 24,
    };
    memcpy(looker->receipts[looker->count++], delivery->receipt, 24);
    if (number < 0) {
        found->invented++;
        return LBX_OK;
    }
    letter = &looker->known->letters[box][number];
    if (letter->fate == KNOWN_NEVER ||
        strcmp(letter->id, delivery->id.text) != 0 ||
        letter->sent_ms != delivery->sent_ms) {
        found->invented++;
        return LBX_OK;
    }
    if (found->times[box][number]++ > 0)
        found->twice++;
    else if (letter->fate == KNOWN_ALIVE)
        found->alive++;
    else
        found->risen++;
    // This receive is one more.
    found->miscounted += delivery->delivery_count != letter->deliveries + 1;
    return LBX_OK;
}

static void
note(struct known_found *found, lbx_status status)
{
    if (found->status == LBX_OK)
        found->status = status;
}

static bool
look_into(void *context, const char *name)
{
    struct looker *looker = context;
    const lbx__sink sink = {look_at, looker};
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_box_request describe = {
        .name = name, .ret_options = &options, .buffer = buffer};
    lbx_status status = lbx__catalog_describe(looker->rules, &describe);

    if (status != LBX_OK) {
        note(looker->found, status);
        return true;
    }
    // All of them: none dies on the way.
    options.dead_letters = NULL;
    options.limits.max_leased = LBX_UNLIMITED;
    describe.options = &options;
    note(looker->found, lbx__box_admin_configure(looker->rules, &describe));
    for (;;) {
        const lbx_receive_request request = {
            .box = describe.ret_box,
            .max_letters = 10,
            .lease_ns = 1000000 * LBX_SECOND,
        };
        lbx_settle_request settle_all = {describe.ret_box, looker->entries, 0};
        uint32_t count;

        looker->count = 0;
        status = lbx__receive_apply(looker->rules, &request, 0, &sink, &count);
        if (status != LBX_OK)
            break;
        settle_all.count = count; // so that groups go on
        note(looker->found, lbx__settle_apply(looker->rules, &settle_all));
    }
    if (status != LBX_EMPTY)
        note(looker->found, status);
    return true;
}

struct names {
    char names[16][LBX_BOX_NAME_BYTES];
    int count;
};

static bool
keep_name(void *context, const char *name)
{
    struct names *names = context;

    (void)snprintf(names->names[names->count++], LBX_BOX_NAME_BYTES, "%s",
                   name);
    return names->count < 16;
}

static void
look_at_all(struct looker *looker)
{
    struct names names = {.count = 0};
    const lbx_list_request list = {.each = keep_name, .context = &names};
    int64_t due;

    for (int i = 0; i < KNOWN_BOXES && !looker->salvaged; i++)
        (void)look_into(looker, known_boxes[i]);
    if (looker->salvaged) {
        note(looker->found, lbx__catalog_list(looker->rules, &list));
        for (int i = 0; i < names.count; i++)
            (void)look_into(looker, names.names[i]);
    }
    note(looker->found, lbx__background_work(looker->rules, 100000, &due));
}

/* When all leases and delays are over. */
static int64_t
late(void *context)
{
    (void)context;
    return lbx__io_system.wall_ns(&lbx__io_system) + 7200 * LBX_SECOND;
}

void
known_read(const struct known *known, const char *path, bool salvaged,
           struct known_found *ret)
{
    const lbx__rules_options rules = {.wall_ms = wall};
    const lbx_clock clock = {.now_ns = late};
    lbx_store_options options = fixture_options();
    struct looker looker = {.known = known, .found = ret, .salvaged = salvaged};

    memset(ret, 0, sizeof(*ret));
    options.clock = &clock;
    options.must_exist = true;
    ret->status = lbx__file_open(path, &options, NULL, &looker.storage);
    if (ret->status != LBX_OK)
        return;
    ret->status = lbx__rules_open(looker.storage, &rules, &looker.rules);
    if (ret->status == LBX_OK)
        ret->status = lbx__storage_begin(looker.storage);
    if (ret->status == LBX_OK) {
        look_at_all(&looker);
        note(ret, lbx__storage_flush(looker.storage,
                                     lbx__box_record_commit(looker.rules)));
    }
    lbx__rules_close(looker.rules);
    lbx__storage_close(looker.storage);
}

/* LMDB believes what a damaged page says about its size, and would list pages
 * until the machine has no memory left. */
static void
limit_memory(void)
{
    const struct rlimit limit = {UINT64_C(4) << 30, UINT64_C(4) << 30};

    if (!test_is_sanitized()) // sanitizers reserve terabytes of addresses
        (void)setrlimit(RLIMIT_AS, &limit);
}

bool
known_read_apart(const struct known *known, const char *path, bool salvaged,
                 struct known_found *ret)
{
    struct known_found *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status;

    CHECK(shared != MAP_FAILED);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) // what LMDB or ASan has to say
            _exit(1);
        limit_memory();
        (void)alarm(300);
        known_read(known, path, salvaged, shared);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        FAIL("a process that uses %s does not come to an end", path);
    *ret = *shared;
    CHECK(munmap(shared, sizeof(*shared)) == 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
