/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstashed messages go to the head of their own band in mailboxes that
 * sort. Akka refuses to combine the two; Akka.NET forgets the priorities.
 *
 * A number's band is its tens: 51 and 52 are equally urgent, 11 more than they.
 */
#include "stage.h"
#include <letterbox/compat/akka.h>

enum {
    UNSTASH = 1, /* band 0 */
    COLLECT,
};

static struct {
    struct stage stage;
    bool collects;
    int when;  /* having read this number, */
    int tells; /* it tells itself that one */
} reader;

static lbx_status
read(lbx_context *context, void *state, void *message)
{
    int number = (int)(intptr_t)message;

    (void)state;
    if (number == UNSTASH || number == COLLECT) {
        reader.collects = number == COLLECT;
        if (number == UNSTASH)
            lbx_context_unstash_all(context);
        return LBX_OK;
    }
    if (reader.collects)
        return lbx_context_stash(context);
    reader.stage.received[reader.stage.received_count++] = number;
    if (number == reader.when)
        stage_tell(lbx_context_self(context), reader.tells);
    return LBX_OK;
}

static const lbx_behaviour reader_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "reader",
    .receive = read,
};

static bool
by_tens(const void *message, void *context, int32_t *ret)
{
    int number = (int)(intptr_t)message;

    (void)context;
    *ret = number / 10 * (context ? -1 : 1);
    return true;
}

static int
compare_tens(const lbx_envelope *a, const lbx_envelope *b, void *context)
{
    (void)context;
    return (int)((intptr_t)a->message / 10 - (intptr_t)b->message / 10);
}

static lbx_ref
begin(const char *kind, const lbx_mailbox_options *options)
{
    lbx_props props;
    lbx_ref ref;

    stage_begin(&reader.stage, NULL);
    props = stage_props(&reader.stage,
                        (struct wish){.mailbox = kind, .options = options});
    props.behaviour = &reader_behaviour;
    CHECK_OK(lbx_system_spawn(reader.stage.system, &props, "reader", &ref));
    return ref;
}

static void
tell(lbx_ref ref, const int *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        stage_tell(ref, numbers[i]);
}

#define TELL(ref, ...)                                                         \
    tell(ref, (const int[]){__VA_ARGS__},                                      \
         sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/* 51 12 52 are stashed and unstashed while others wait. */
static void
check_bands(const char *kind, const lbx_mailbox_options *options)
{
    lbx_ref ref = begin(kind, options);

    stage_tell(ref, COLLECT);
    stage_run(&reader.stage);
    TELL(ref, 51, 12, 52);
    stage_run(&reader.stage);
    CHECK_INT(0, reader.stage.received_count);
    TELL(ref, 53, 31, 11, UNSTASH);
    CHECK_RECEIVED(&reader.stage, 12, 11, 31, 51, 52, 53);
    stage_end(&reader.stage);
    CHECK_INT(0, reader.stage.dead);
}

TEST_CITING("R-36", unstashed_messages_come_first_in_their_band)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    options.priority = by_tens;
    check_bands(LBX_KIND_UNBOUNDED_PRIORITY, &options);
    options.capacity_messages = 4;
    check_bands(LBX_KIND_BOUNDED_PRIORITY, &options);
}

TEST_CITING("R-36 R-03", bands_may_be_the_other_way_round)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    options.priority = by_tens;
    options.priority_context = &options; // negates
    options.higher_first = true;
    check_bands(LBX_KIND_UNBOUNDED_PRIORITY, &options);
}

TEST_CITING("R-36", bands_may_be_made_by_a_comparator)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    options.compare = compare_tens;
    check_bands(LBX_KIND_UNBOUNDED_PRIORITY, &options);
}

// What is more urgent overtakes also when it comes later.
TEST_CITING("R-36", urgent_message_overtakes_what_was_unstashed)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    lbx_ref ref;

    options.priority = by_tens;
    reader.when = 51;
    reader.tells = 14;
    ref = begin(LBX_KIND_UNBOUNDED_PRIORITY, &options);
    stage_tell(ref, COLLECT);
    stage_run(&reader.stage);
    TELL(ref, 51, 52, 53);
    stage_run(&reader.stage);
    stage_tell(ref, UNSTASH);
    CHECK_RECEIVED(&reader.stage, 51, 14, 52, 53);
    stage_end(&reader.stage);
}

// Of two unstashings the later one's messages are the older ones.
TEST_CITING("R-36 R-17", messages_stashed_again_keep_their_place)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    lbx_ref ref;

    options.priority = by_tens;
    ref = begin(LBX_KIND_UNBOUNDED_PRIORITY, &options);
    stage_tell(ref, COLLECT);
    stage_run(&reader.stage);
    TELL(ref, 51, 52, 41, 53);
    stage_run(&reader.stage);
    reader.when = 51;
    reader.tells = COLLECT; // 52 is stashed, before 53 is looked at
    stage_tell(ref, UNSTASH);
    stage_run(&reader.stage);
    CHECK_RECEIVED(&reader.stage, 41, 51);
    TELL(ref, 54, 42, UNSTASH);
    CHECK_RECEIVED(&reader.stage, 42, 52, 53, 54);
    stage_end(&reader.stage);
}

// Many of them, against a sort that is easy to check.
TEST_CITING("R-36", many_unstashed_messages_are_sorted_by_band)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    unsigned random = 7;
    int last = 0;
    int sent[200];
    lbx_ref ref;

    options.priority = by_tens;
    ref = begin(LBX_KIND_UNBOUNDED_PRIORITY, &options);
    stage_tell(ref, COLLECT);
    stage_run(&reader.stage);
    for (int i = 0; i < 200; i++) {
        random = random * 1103515245u + 12345u;
        sent[i] = 10 + (int)((random >> 16) % 90);
        stage_tell(ref, sent[i]);
        stage_run(&reader.stage); // one by one: stashed as they come
    }
    stage_tell(ref, UNSTASH);
    stage_run(&reader.stage);
    CHECK_INT(200, reader.stage.received_count);
    for (int band = 1; band < 10; band++)
        for (int i = 0; i < 200; i++)
            if (sent[i] / 10 == band)
                CHECK_INT(sent[i], reader.stage.received[last++]);
    stage_end(&reader.stage);
}

static void
tell_control(lbx_ref ref, int number)
{
    lbx_envelope envelope =
        lbx_envelope_control((void *)(intptr_t)number, LBX_PRIORITY_DEFAULT);

    lbx_tell_envelope(ref, &envelope);
}

// Control messages are a band of their own.
TEST_CITING("R-36 R-07", control_messages_overtake_what_was_unstashed)
{
    static const char *const kinds[] = {LBX_KIND_UNBOUNDED_CONTROL_AWARE,
                                        LBX_KIND_BOUNDED_CONTROL_AWARE};

    for (int i = 0; i < 2; i++) {
        lbx_mailbox_options options = lbx_akka_mailbox_options();
        lbx_ref ref = begin(kinds[i], &options);

        stage_tell(ref, COLLECT);
        stage_run(&reader.stage);
        stage_tell(ref, 51);
        tell_control(ref, 71);
        stage_tell(ref, 52);
        stage_run(&reader.stage);
        stage_tell(ref, 53);
        tell_control(ref, UNSTASH);
        tell_control(ref, 72);
        CHECK_RECEIVED(&reader.stage, 71, 72, 51, 52, 53);
        stage_end(&reader.stage);
    }
}

// Others have one band: what was unstashed comes before everything.
TEST_CITING("R-36 R-17", mailbox_that_does_not_sort_has_one_band)
{
    static const char *const kinds[] = {LBX_KIND_BOUNDED,
                                        LBX_KIND_UNBOUNDED_DEQUE, NULL};

    for (int i = 0; i < 3; i++) {
        lbx_ref ref = begin(kinds[i], NULL);

        stage_tell(ref, COLLECT);
        stage_run(&reader.stage);
        TELL(ref, 51, 12, 52);
        stage_run(&reader.stage);
        TELL(ref, UNSTASH, 53, 11);
        CHECK_RECEIVED(&reader.stage, 51, 12, 52, 53, 11);
        stage_end(&reader.stage);
    }
}
