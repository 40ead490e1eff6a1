/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of a user, built against the frozen headers in headers-1 and run
 * with today's library: every struct that may grow is used at least once.
 *
 *     old_program FOLDER
 */
#include <letterbox/compat/vela.h>
#include <letterbox/courier.h>
#include <letterbox/letterbox.h>
#include <letterbox/post/file_store.h>
#include <letterbox/store_driver.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,           \
                          #condition);                                         \
            exit(1);                                                           \
        }                                                                      \
    } while (0)
#define MUST_OK(call) MUST((call) == LBX_OK)

/* A struct, and bytes behind it that the library must leave alone. */
#define GUARDED(type, init)                                                    \
    struct {                                                                   \
        type is;                                                               \
        unsigned char behind[64];                                              \
    } guarded = {.is = init};                                                  \
    memset(guarded.behind, 0x5a, sizeof(guarded.behind))
#define MUST_BE_LEFT_ALONE()                                                   \
    for (size_t i_ = 0; i_ < sizeof(guarded.behind); i_++)                     \
    MUST(guarded.behind[i_] == 0x5a)

/* ---- Mailboxes ---- */

struct pile {
    lbx_envelope envelopes[4];
    size_t count;
};

static lbx_status
pile_create(void *context, const lbx_mailbox_options *options, void **ret)
{
    (void)context;
    MUST(options->capacity_messages == 3);
    *ret = calloc(1, sizeof(struct pile));
    return *ret ? LBX_OK : LBX_NO_MEMORY;
}

static lbx_status
pile_push(void *storage, const lbx_envelope *envelope)
{
    struct pile *pile = storage;

    if (pile->count == 4)
        return LBX_FULL;
    pile->envelopes[pile->count++] = *envelope;
    return LBX_OK;
}

static bool
pile_pop(void *storage, lbx_envelope *ret)
{
    struct pile *pile = storage;

    if (pile->count == 0)
        return false;
    *ret = pile->envelopes[--pile->count];
    return true;
}

static const lbx_kind_ops pile_ops = {
    .size_bytes = sizeof(lbx_kind_ops),
    .create = pile_create,
    .destroy = free,
    .push = pile_push,
    .pop = pile_pop,
};

static void
use_mailbox(const char *kind, const lbx_mailbox_options *options)
{
    GUARDED(lbx_mailbox_stats, LBX_MAILBOX_STATS_INIT);
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    lbx_envelope envelope = lbx_envelope_of("hello", 3);
    lbx_producer *in;
    lbx_consumer *out;
    void *message;

    MUST_OK(lbx_mailbox_create(kind, options, &in, &out));
    MUST_OK(lbx_producer_try_send_envelope(in, &envelope, &result));
    MUST(result.outcome == LBX_OUTCOME_ENQUEUED);
    MUST(result.size_bytes == sizeof(result));
    MUST_OK(lbx_mailbox_stats_read(lbx_producer_mailbox(in), &guarded.is));
    MUST(guarded.is.accepted == 1 && guarded.is.depth == 1);
    MUST(guarded.is.size_bytes == sizeof(guarded.is));
    MUST_BE_LEFT_ALONE();
    MUST_OK(lbx_consumer_receive(out, &message));
    MUST(strcmp(message, "hello") == 0);
    lbx_producer_unref(in);
    lbx_consumer_unref(out);
}

static void
use_mailboxes(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_type_options type_options = LBX_TYPE_OPTIONS_INIT;
    lbx_kind_registry *kinds;
    lbx_fault fault = {.status = LBX_OK};
    lbx_type *type;
    lbx_producer *in;
    lbx_consumer *out;

    options.capacity_messages = 3;
    options.envelopes = true;
    use_mailbox(LBX_KIND_BOUNDED, &options);
    options = lbx_mailbox_options_production();
    MUST(options.size_bytes == sizeof(options));
    use_mailbox(LBX_KIND_BOUNDED, &options);
    options = lbx_vela_mailbox_options();
    use_mailbox(LBX_KIND_UNBOUNDED, &options);
    MUST_OK(lbx_kind_registry_create(NULL, &kinds));
    MUST_OK(lbx_kind_registry_add(kinds, "pile", &pile_ops, NULL));
    options.kinds = kinds;
    options.capacity_messages = 3;
    use_mailbox("pile", &options);
    lbx_kind_registry_destroy(kinds);

    options.kinds = NULL;
    options.fault = &fault;
    options.size_bytes = 0;
    MUST(lbx_mailbox_create(NULL, &options, &in, &out) == LBX_INVALID);
    MUST(strstr(fault.text, "LBX_MAILBOX_OPTIONS_INIT"));

    type_options.name = "abi.Type";
    MUST_OK(lbx_type_create(&type_options, &type));
    MUST(strcmp(lbx_type_name(type), "abi.Type") == 0);
    lbx_type_destroy(type);
}

/* ---- Actors ---- */

static lbx_status
count_message(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)message;
    ++*(int *)state;
    return LBX_OK;
}

static const lbx_behaviour counter = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "counter",
    .state_bytes = sizeof(int),
    .receive = count_message,
};

/* Two, so that the stride of the array matters. */
static const lbx_mailbox_type types[] = {
    {
        .size_bytes = sizeof(lbx_mailbox_type),
        .name = "abi.First",
        .kind = LBX_KIND_UNBOUNDED,
    },
    {
        .size_bytes = sizeof(lbx_mailbox_type),
        .name = "abi.Second",
        .kind = LBX_KIND_UNBOUNDED_DEQUE,
    },
};

const lbx_mailbox_library lbx_exported_mailbox_types = {
    .size_bytes = sizeof(lbx_mailbox_library),
    .types = types,
    .type_count = 1,
};

static lbx_status
receive_in_loop(lbx_vela_loop *loop, void *context, void *message)
{
    (void)loop;
    (void)message;
    ++*(int *)context;
    return LBX_OK;
}

static void
use_loop(lbx_system *system)
{
    lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
    GUARDED(lbx_vela_loop_stats, LBX_VELA_LOOP_STATS_INIT);
    int received = 0;
    lbx_vela_loop *loop;

    options.receive = receive_in_loop;
    options.context = &received;
    MUST_OK(lbx_vela_loop_create(system, &options, &loop));
    MUST_OK(lbx_vela_loop_start(loop, NULL));
    MUST_OK(lbx_vela_loop_send(loop, "a"));
    while (received == 0)
        MUST_OK(lbx_system_run(system, 10, NULL));
    MUST_OK(lbx_vela_loop_stats_read(loop, &guarded.is));
    MUST(guarded.is.processed == 1);
    MUST_BE_LEFT_ALONE();
    lbx_vela_loop_destroy(loop);
}

static void
use_actors(void)
{
    lbx_settings_options settings_options = LBX_SETTINGS_OPTIONS_INIT;
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    lbx_pool pool = LBX_POOL_INIT;
    lbx_system_stats system_stats = LBX_SYSTEM_STATS_INIT;
    GUARDED(lbx_actor_stats, LBX_ACTOR_STATS_INIT);
    lbx_settings *settings;
    lbx_system *system;
    lbx_ref ref, workers;

#ifdef LBX_SUPERVISOR_INIT // not in headers-1
    const lbx_supervisor supervisor = LBX_SUPERVISOR_INIT;

    props.supervisor = &supervisor;
#endif
    MUST_OK(lbx_settings_load_text("m { mailbox-type = abi.Second }",
                                   &settings_options, &settings));
    options.threads = 0;
    options.settings = settings;
    options.mailbox_types = types;
    options.mailbox_type_count = 2;
    MUST_OK(lbx_system_create(&options, &system));
    props.behaviour = &counter;
    props.mailbox = "m";
    MUST_OK(lbx_system_spawn(system, &props, "one", &ref));
    lbx_tell(ref, "a");
    props.mailbox = NULL;
    pool.props = &props;
    pool.routees = 2;
    MUST_OK(lbx_system_spawn_pool(system, &pool, "many", &workers));
    lbx_tell(workers, "b");
    while (lbx_system_stats_read(system, &system_stats) == LBX_OK &&
           system_stats.handled < 2)
        MUST_OK(lbx_system_run(system, 10, NULL));
    MUST_OK(lbx_ref_stats_read(ref, &guarded.is));
    MUST(guarded.is.handled == 1);
    MUST_BE_LEFT_ALONE();
    MUST(system_stats.actors >= 4);
    use_loop(system);
    lbx_system_destroy(system);
    lbx_settings_unref(settings);
}

/* ---- Postboxes ---- */

static void
use_letters(lbx_postbox *postbox)
{
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_draft drafts[] = {lbx_draft_of_text("one"), LBX_DRAFT_INIT};
    GUARDED(lbx_box_counts, LBX_BOX_COUNTS_INIT);
    lbx_letter_info info = LBX_LETTER_INFO_INIT;
    lbx_letter *letters[LBX_MAX_BATCH];
    lbx_sent_letter sent[2];
    size_t count, size;

    drafts[1].body = "three";
    drafts[1].body_bytes = 5;
    drafts[1].trace = "traced";
    MUST_OK(lbx_postbox_send_batch(postbox, drafts, 2, sent));
    MUST(sent[1].sequence == sent[0].sequence + 1);
    MUST_OK(lbx_postbox_count(postbox, &guarded.is));
    MUST(guarded.is.ready == 2 && guarded.is.bytes == 8);
    MUST(guarded.is.size_bytes == sizeof(guarded.is));
    MUST_BE_LEFT_ALONE();
    options.max_letters = 2;
    options.min_letters = 2;
    MUST_OK(lbx_postbox_receive_batch(postbox, &options, letters, &count));
    MUST(count == 2);
    MUST(memcmp(lbx_letter_body(letters[1], &size), "three", 5) == 0);
    MUST_OK(lbx_letter_info_read(letters[1], &info));
    MUST(info.delivery_count == 1 && strcmp(info.trace, "traced") == 0);
    for (size_t i = 0; i < count; i++) {
        MUST_OK(lbx_letter_acknowledge(letters[i]));
        lbx_letter_destroy(letters[i]);
    }
}

static void
use_store(const char *url)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_postbox_options postbox_options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    lbx_box_options described = LBX_BOX_OPTIONS_INIT;
    lbx_move_progress progress = LBX_MOVE_PROGRESS_INIT;
    char texts[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_fault fault = {.status = LBX_OK};
    lbx_postbox *postbox;
    lbx_store *store;

    options.fault = &fault;
    MUST_OK(lbx_store_open(url, &options, &store));
    MUST_OK(lbx_store_create_box(store, "dead", NULL, &fault));
    box.dead_letters = "dead";
    box.max_deliveries = 5;
    MUST_OK(lbx_store_create_box(store, "orders", &box, &fault));
    MUST_OK(lbx_store_describe_box(store, "orders", texts, &described, NULL));
    MUST(described.max_deliveries == 5 && described.limits.text_only);
    MUST(strcmp(described.dead_letters, "dead") == 0);
    MUST(described.size_bytes == sizeof(described));
    postbox_options.must_exist = true;
    MUST_OK(lbx_postbox_open_in(store, "orders", &postbox_options, &postbox));
    use_letters(postbox);
    MUST_OK(lbx_postbox_send(postbox, "x", 1, NULL));
    MUST_OK(lbx_store_start_move(store, "orders", "dead", 0));
    do {
        MUST_OK(lbx_store_describe_move(store, "orders", &progress));
    } while (progress.phase == LBX_MOVE_PHASE_RUNNING);
    MUST(progress.moved == 1);
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
}

/* ---- A courier ---- */

static lbx_status
refuse_letter(lbx_job *job, void *context)
{
    (void)context;
    return lbx_job_fail(job, LBX_INVALID, "abi.Refused", "refused");
}

static void
use_courier(void)
{
    lbx_resolver_chain_options chain_options = LBX_RESOLVER_CHAIN_OPTIONS_INIT;
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_dead_letter_record record = LBX_DEAD_LETTER_RECORD_INIT;
    GUARDED(lbx_courier_stats, LBX_COURIER_STATS_INIT);
    static const char *const include[] = {"abi.Refused"};
    lbx_resolver_chain *chain;
    lbx_courier *courier;
    lbx_letter *letter;
    lbx_draft draft;
    void *message;

    MUST_OK(lbx_resolver_chain_create(&chain_options, &chain));
    lbx_resolver_chain_destroy(chain);
    MUST_OK(lbx_postbox_open("memory:abi/work", NULL, &options.postbox));
    MUST_OK(lbx_postbox_open("memory:abi/aside", NULL,
                             &options.dead_letters.postbox));
    options.handle = refuse_letter;
    options.wait_ns = 0;
    options.dead_letters.include = include;
    options.dead_letters.include_count = 1;
    MUST_OK(lbx_courier_create(&options, &courier));
    MUST_OK(lbx_postbox_send(options.postbox, "job", 3, NULL));
    MUST_OK(lbx_courier_run(courier, 1));
    MUST_OK(lbx_courier_stats_read(courier, &guarded.is));
    MUST(guarded.is.received == 1 && guarded.is.dead_letters == 1);
    MUST_BE_LEFT_ALONE();
    MUST_OK(lbx_postbox_receive(options.dead_letters.postbox, 0, &letter));
    MUST_OK(lbx_type_decode(lbx_dead_letter_record_type(),
                            lbx_letter_body(letter, NULL),
                            strlen(lbx_letter_body(letter, NULL)), &message));
    record = *(lbx_dead_letter_record *)message;
    MUST(strcmp(record.last_error_type, "abi.Refused") == 0);
    record.size_bytes = sizeof(record);
    draft = lbx_draft_of_message(lbx_dead_letter_record_type(), &record);
    MUST_OK(lbx_postbox_send_draft(options.postbox, &draft, NULL));
    lbx_type_destroy_message(lbx_dead_letter_record_type(), message);
    lbx_letter_destroy(letter);
    lbx_courier_destroy(courier);
    options = lbx_courier_options_for_dead_letters();
    MUST(options.size_bytes == sizeof(options));
    MUST(options.retry_ns == 3600 * LBX_SECOND);
}

/* ---- A store of our own: its table of functions ---- */

static void
use_store_ops(void)
{
    lbx_store_ops ops = LBX_STORE_OPS_INIT;
    lbx_store store;

    ops.scheme = "own";
    MUST(lbx_store_init(&store, &ops) == LBX_INVALID); // it lacks entries
}

int
main(int argc, char **argv)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    char url[512];

    MUST(argc == 2);
    use_mailboxes();
    use_actors();
    use_store("memory:abi-store");
    (void)snprintf(url, sizeof(url), "file:%s/store", argv[1]);
    use_store(url);
    (void)snprintf(url, sizeof(url), "%s/store", argv[1]);
    MUST_OK(lbx_file_store_check(url, NULL, NULL, &report));
    MUST(report.boxes == 2 && report.fault.status == LBX_OK);
#ifdef LBX_FILE_STORE_WORK_INIT // not in headers-1
    lbx_file_store_work work = LBX_FILE_STORE_WORK_INIT;

    MUST_OK(lbx_file_store_check_with(url, &work, &report));
#endif
    use_courier();
    use_store_ops();
    return 0;
}
