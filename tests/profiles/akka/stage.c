/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include <stdio.h>
#include <string.h>

/* Messages from here on are orders. */
enum {
    ORDER = 1000000
};

struct order {
    const lbx_props *props;
    const char *name;
};

static struct order order;
static lbx_behaviour behaviours[64]; // living actors have theirs
static unsigned behaviour_count;

static struct stage *current;

static lbx_status
receive(lbx_context *context, void *state, void *message)
{
    intptr_t number = (intptr_t)message;

    (void)state;
    if (number == ORDER)
        current->spawned = lbx_context_spawn(context, order.props, order.name,
                                             &current->child);
    else if (current->received_count < STAGE_LETTERS)
        current->received[current->received_count++] = (int)number;
    return LBX_OK;
}

static void
heard(void *context, const lbx_dead_letter_event *letter)
{
    struct stage *stage = context;

    // Any thread may lose a message.
    while (atomic_flag_test_and_set(&stage->hearing))
        ;
    stage->dead++;
    stage->dead_recipient = letter->recipient;
    atomic_flag_clear(&stage->hearing);
}

static void
prepare(struct stage *stage)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;

    memset(stage, 0, sizeof(*stage));
    current = stage;
    options.threads = 0;
    options.fault = &stage->fault;
    options.dead_letters.on_dead_letter = heard;
    options.dead_letters.context = stage;
    stage->options = options;
}

static void
load(struct stage *stage, const lbx_settings_source *source)
{
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;

    options.fault = &stage->fault;
    if (lbx_settings_load(source, 1, &options, &stage->settings) != LBX_OK)
        FAIL("%s", stage->fault.text);
    stage->options.settings = stage->settings;
}

void
stage_prepare(struct stage *stage, const char *text)
{
    lbx_settings_source source = {.text = text, .origin = "my.conf"};

    prepare(stage);
    if (!text)
        return;
    source.length_bytes = strlen(text);
    load(stage, &source);
}

void
stage_prepare_file(struct stage *stage, const char *name)
{
    char path[400];
    lbx_settings_source source = {.file = path};

    prepare(stage);
    snprintf(path, sizeof(path), "%s/%s", TEST_FIXTURES, name);
    load(stage, &source);
}

void
stage_open(struct stage *stage)
{
    if (lbx_system_create(&stage->options, &stage->system) != LBX_OK)
        FAIL("%s", stage->fault.text);
}

void
stage_begin(struct stage *stage, const char *text)
{
    stage_prepare(stage, text);
    stage_open(stage);
}

void
stage_end(struct stage *stage)
{
    lbx_system_destroy(stage->system);
    lbx_settings_unref(stage->settings);
}

static void
check_fault(const char *file, int line, const struct stage *stage,
            lbx_status status, const char *words)
{
    if (stage->fault.status != status || !strstr(stage->fault.text, words))
        test_fail(file, line, "the fault is %s, \"%s\"; expected \"%s\"",
                  lbx_status_name(stage->fault.status), stage->fault.text,
                  words);
}

void
stage_check_refused(struct stage *stage, const char *text, lbx_status status,
                    const char *words)
{
    if (text)
        stage_prepare(stage, text);
    CHECK_STATUS(status, lbx_system_create(&stage->options, &stage->system));
    check_fault(__FILE__, __LINE__, stage, status, words);
    lbx_settings_unref(stage->settings);
}

void
stage_refuses(const char *text, lbx_status status, const char *words)
{
    struct stage stage;

    stage_check_refused(&stage, text, status, words);
}

lbx_props
stage_props(struct stage *stage, struct wish wish)
{
    lbx_behaviour *behaviour =
        &behaviours[behaviour_count++ %
                    (sizeof(behaviours) / sizeof(behaviours[0]))];
    lbx_props props = LBX_PROPS_INIT;

    *behaviour = (lbx_behaviour){
        .size_bytes = sizeof(lbx_behaviour),
        .name = "reporter",
        .receive = receive,
        .needs = wish.needs,
        .needs_semantics = wish.semantics,
    };
    props.behaviour = behaviour;
    props.mailbox = wish.mailbox;
    props.mailbox_options = wish.options;
    props.dispatcher = wish.dispatcher;
    props.argument = wish.argument;
    props.fault = &stage->fault;
    return props;
}

lbx_ref
stage_spawn(struct stage *stage, struct wish wish, const char *name)
{
    lbx_props props = stage_props(stage, wish);
    lbx_ref ref = {0};

    if (lbx_system_spawn(stage->system, &props, name, &ref) != LBX_OK)
        FAIL("%s", stage->fault.text);
    return ref;
}

static void
write_line(void *context, const char *line)
{
    struct stage *stage = context;
    size_t used = strlen(stage->said);

    snprintf(stage->said + used, sizeof(stage->said) - used, "%s\n", line);
}

const char *
stage_explain(struct stage *stage, lbx_ref ref)
{
    stage->said[0] = 0;
    CHECK_OK(lbx_ref_explain(ref, write_line, stage));
    return stage->said;
}

lbx_status
stage_foretell(struct stage *stage, const lbx_props *props, const char *path)
{
    stage->said[0] = 0;
    return lbx_system_explain(stage->system, props, path, write_line, stage);
}

static lbx_status
foretell(struct stage *stage, const lbx_props *props, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "/%s", name);
    return stage_foretell(stage, props, path);
}

/* The last two lines say which step decided and what the mailbox can do, which
 * ends where its limit begins. */
static void
check_said(const char *file, int line, const struct stage *stage, int step,
           const char *able)
{
    char text[400];
    char deciding[16];
    const char *at = strstr(stage->said, ": decide");
    const char *found;

    snprintf(deciding, sizeof(deciding), "%d ", step);
    found = at;
    while (found && found > stage->said && found[-1] != '\n')
        found--;
    if (!found || strncmp(found, deciding, strlen(deciding)) != 0)
        test_fail(file, line, "step %d did not decide:\n%s", step, stage->said);
    snprintf(text, sizeof(text), ": %s", able);
    found = strstr(strchr(at, '\n'), text);
    if (!found || !strchr(",\n", found[strlen(text)]))
        test_fail(file, line, "expected \"%s\":\n%s", able, stage->said);
}

lbx_ref
stage_check_gets(const char *file, int line, struct stage *stage,
                 struct wish wish, const char *name, int step, const char *able)
{
    lbx_props props = stage_props(stage, wish);
    unsigned before = stage->received_count;
    lbx_ref ref = {0};

    if (foretell(stage, &props, name) != LBX_OK)
        test_fail(file, line, "%s", stage->said);
    check_said(file, line, stage, step, able);
    if (lbx_system_spawn(stage->system, &props, name, &ref) != LBX_OK)
        test_fail(file, line, "%s", stage->fault.text);
    (void)stage_explain(stage, ref);
    check_said(file, line, stage, step, able);
    stage_tell(ref, 7);
    stage_run(stage);
    if (stage->received_count != before + 1)
        test_fail(file, line, "%s does not receive", name);
    stage->received_count = before;
    return ref;
}

void
stage_check_spawn(const char *file, int line, struct stage *stage,
                  struct wish wish, const char *name, lbx_status status,
                  const char *words)
{
    lbx_props props = stage_props(stage, wish);
    lbx_ref ref = {0};

    memset(&stage->fault, 0, sizeof(stage->fault));
    test_check_status(file, line, "lbx_system_spawn()", status,
                      lbx_system_spawn(stage->system, &props, name, &ref));
    check_fault(file, line, stage, status, words);
    CHECK(ref.word == 0);
    test_check_status(file, line, "lbx_system_explain()", status,
                      foretell(stage, &props, name));
    if (!strstr(stage->said, words))
        test_fail(file, line, "expected \"%s\":\n%s", words, stage->said);
}

lbx_status
stage_spawn_child(struct stage *stage, lbx_ref parent, struct wish wish,
                  const char *name)
{
    lbx_props props = stage_props(stage, wish);

    order.props = &props;
    order.name = name;
    stage_tell(parent, ORDER);
    stage_run(stage);
    return stage->spawned;
}

void
stage_tell(lbx_ref to, int number)
{
    lbx_tell(to, (void *)(intptr_t)number);
}

void
stage_run(struct stage *stage)
{
    CHECK_OK(lbx_system_run(stage->system, UINT64_MAX, NULL));
}

void
stage_check_received(const char *file, int line, struct stage *stage,
                     const int *numbers, size_t count)
{
    stage_run(stage);
    if (stage->received_count != count)
        test_fail(file, line, "%u came, expected %zu", stage->received_count,
                  count);
    for (size_t i = 0; i < count; i++)
        test_check_int(file, line, "received", numbers[i], stage->received[i]);
    stage->received_count = 0;
}
