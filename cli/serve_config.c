/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings file of letterbox serve: letterbox.conf(5).
 *
 *     letterbox.server {
 *       store = "file:/var/lib/letterbox"
 *       access-keys {
 *         AKIAEXAMPLE { secret = ..., account = "111111111111" }
 *       }
 *       queues {
 *         orders-dlq { }
 *         orders {
 *           visibility-timeout = 2m
 *           dead-letters { queue = orders-dlq, max-receives = 5 }
 *         }
 *       }
 *     }
 *
 * Its keys are the options of the command line, by the same table; what the
 * command line says counts more. Queues that it declares are created, or
 * changed to what is declared, before the server listens, and when it reads
 * the file again. serve_keys.c reads the access keys.
 */
#include "serve.h"

#include <letterbox/settings.h>
#include <stdio.h>
#include <string.h>

enum {
    CONFIG_OPTIONS_MOST = 40
};

static lbx_settings_type
config_type_of(enum cli_kind kind)
{
    switch (kind) {
    case CLI_FLAG:
    case CLI_NO_FLAG:
        return LBX_SETTINGS_TYPE_BOOLEAN;
    case CLI_NUMBER:
        return LBX_SETTINGS_TYPE_INTEGER;
    case CLI_DURATION:
        return LBX_SETTINGS_TYPE_DURATION;
    case CLI_SIZE:
        return LBX_SETTINGS_TYPE_SIZE;
    case CLI_TEXT:
    case CLI_LIST:
    case CLI_CHOICE:
        break;
    }
    return LBX_SETTINGS_TYPE_STRING;
}

static lbx_status
config_check(const lbx_settings *section, lbx_fault *fault)
{
    lbx_settings_rule rules[CONFIG_OPTIONS_MOST + 2] = {
        {.key = "queues", .type = LBX_SETTINGS_TYPE_SECTION},
        {.key = "access-keys", .type = LBX_SETTINGS_TYPE_SECTION}};
    const struct cli_option *option = serve_options;
    size_t count = 2;

    for (; option->name && count < CONFIG_OPTIONS_MOST + 2; option++) {
        if (strcmp(option->name, "config") == 0)
            continue;
        rules[count++] = (lbx_settings_rule){
            .key = option->name,
            .type = config_type_of(option->kind),
            .min = option->least,
            .max = option->most,
            .words = option->choices,
        };
    }
    return lbx_settings_check(section, rules, count, fault);
}

static lbx_status
config_read_choice(const lbx_settings *section, const struct cli_option *option,
                   int *ret, lbx_fault *fault)
{
    const char *word = NULL;
    lbx_status status =
        lbx_settings_read_string(section, option->name, &word, fault);

    for (int i = 0; status == LBX_OK && option->choices[i]; i++) {
        if (strcmp(option->choices[i], word) == 0)
            *ret = i;
    }
    return status;
}

static lbx_status
config_read_text(const lbx_settings *section, const struct cli_option *option,
                 const char **ret, lbx_fault *fault)
{
    const char *allowed = NULL;
    char text[200];
    lbx_status status =
        lbx_settings_read_string(section, option->name, ret, fault);

    if (status == LBX_OK && option->allowed)
        allowed = option->allowed(*ret);
    if (!allowed)
        return status;
    snprintf(text, sizeof(text), "allowed is %s", allowed);
    return lbx_settings_write_fault(lbx_settings_at(section, option->name),
                                    text, fault);
}

/* After config_check(), what is there can be read. */
static lbx_status
config_read_option(const lbx_settings *section, const struct cli_option *option,
                   void *value, lbx_fault *fault)
{
    const char *name = option->name;

    if (!lbx_settings_has(section, name))
        return LBX_OK;
    switch (option->kind) {
    case CLI_FLAG:
        return lbx_settings_read_boolean(section, name, value, fault);
    case CLI_TEXT:
        return config_read_text(section, option, value, fault);
    case CLI_NUMBER:
        return lbx_settings_read_integer(section, name, value, fault);
    case CLI_DURATION:
        return lbx_settings_read_duration(section, name, value, fault);
    case CLI_SIZE:
        return lbx_settings_read_size(section, name, value, fault);
    case CLI_CHOICE:
        return config_read_choice(section, option, value, fault);
    case CLI_NO_FLAG:
    case CLI_LIST:
        break;
    }
    return LBX_OK;
}

/* ---- Queues ---- */

static const lbx_settings_rule queue_rules[] = {
    {.key = "fifo", .type = LBX_SETTINGS_TYPE_BOOLEAN},
    {.key = "content-based-deduplication", .type = LBX_SETTINGS_TYPE_BOOLEAN},
    {.key = "visibility-timeout",
     .type = LBX_SETTINGS_TYPE_DURATION,
     .max = 43200 * LBX_SECOND},
    {.key = "delay",
     .type = LBX_SETTINGS_TYPE_DURATION,
     .max = 900 * LBX_SECOND},
    {.key = "receive-wait",
     .type = LBX_SETTINGS_TYPE_DURATION,
     .max = 20 * LBX_SECOND},
    {.key = "retention",
     .type = LBX_SETTINGS_TYPE_DURATION,
     .min = 60 * LBX_SECOND,
     .max = 1209600 * LBX_SECOND},
    {.key = "max-message-size",
     .type = LBX_SETTINGS_TYPE_SIZE,
     .min = 1024,
     .max = 1 << 20},
    {.key = "dead-letters", .type = LBX_SETTINGS_TYPE_SECTION},
};

static const lbx_settings_rule dead_letter_rules[] = {
    {.key = "queue", .type = LBX_SETTINGS_TYPE_STRING, .required = true},
    {.key = "max-receives",
     .type = LBX_SETTINGS_TYPE_INTEGER,
     .min = 1,
     .max = 1000},
};

static lbx_status
queue_read_dead_letters(const lbx_settings *queue, lbx_box_options *box,
                        lbx_fault *fault)
{
    const lbx_settings *section;
    int64_t most = 0;
    lbx_status status;

    status = lbx_settings_read_section(queue, "dead-letters", &section, fault);
    if (status == LBX_NOT_FOUND)
        return LBX_OK;
    if (status == LBX_OK)
        status = lbx_settings_check(
            section, dead_letter_rules,
            sizeof(dead_letter_rules) / sizeof(dead_letter_rules[0]), fault);
    if (status == LBX_OK)
        status = lbx_settings_read_string(section, "queue", &box->dead_letters,
                                          fault);
    if (status == LBX_OK)
        status = lbx_settings_read_integer_or(section, "max-receives", 10,
                                              &most, fault);
    box->max_deliveries = (uint32_t)most;
    return status;
}

static bool
queue_is_fifo_name(const char *name)
{
    const size_t size = strlen(name);

    return size > 5 && strcmp(name + size - 5, ".fifo") == 0;
}

/* A box may have other names, but no client of SQS could use it. */
static bool
queue_is_name(const char *name)
{
    const size_t size = strlen(name);
    const size_t plain = size - (queue_is_fifo_name(name) ? 5 : 0);

    return size >= 1 && size <= 80 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789-_") == plain;
}

static lbx_status
queue_read(const lbx_settings *queue, const struct serve_values *values,
           lbx_box_options *box, lbx_fault *fault)
{
    const bool named_fifo = queue_is_fifo_name(lbx_settings_key(queue));
    bool fifo = false, by_content = false;
    lbx_status status;

    if (!queue_is_name(lbx_settings_key(queue)))
        return lbx_settings_write_fault(
            queue,
            "allowed as the name of a queue are 1 to 80 letters, digits, "
            "hyphens and underscores, then .fifo for a FIFO queue",
            fault);
    status =
        lbx_settings_check(queue, queue_rules,
                           sizeof(queue_rules) / sizeof(queue_rules[0]), fault);
    if (status == LBX_OK)
        status = lbx_settings_read_boolean_or(queue, "fifo", named_fifo, &fifo,
                                              fault);
    if (status == LBX_OK && fifo != named_fifo)
        status = lbx_settings_write_fault(
            queue, "the name of a fifo queue, and only that, ends in .fifo",
            fault);
    if (status != LBX_OK)
        return status;
    *box = lbx_box_options_preset(fifo ? LBX_BOX_PRESET_SQS_FIFO
                                       : LBX_BOX_PRESET_SQS);
    box->limits.max_leased = values->max_in_flight;
    // After the check, reads of what has a rule cannot fail.
    (void)!lbx_settings_read_boolean_or(queue, "content-based-deduplication",
                                        false, &by_content, fault);
    box->deduplicate_by_content = by_content;
    (void)!lbx_settings_read_duration_or(queue, "visibility-timeout",
                                         box->lease_ns, &box->lease_ns, fault);
    (void)!lbx_settings_read_duration_or(queue, "delay", box->delay_ns,
                                         &box->delay_ns, fault);
    (void)!lbx_settings_read_duration_or(queue, "receive-wait", box->wait_ns,
                                         &box->wait_ns, fault);
    (void)!lbx_settings_read_duration_or(queue, "retention", box->retention_ns,
                                         &box->retention_ns, fault);
    (void)!lbx_settings_read_size_or(queue, "max-message-size",
                                     box->limits.max_letter_bytes,
                                     &box->limits.max_letter_bytes, fault);
    return queue_read_dead_letters(queue, box, fault);
}

/* Before there is a server, no client changes a queue. */
static lbx_status
queue_set(const struct serve_queues *where, const char *name,
          const lbx_box_options *box, lbx_fault *fault)
{
    lbx_status status;

    if (where->server)
        return lbx_server_declare_queue(where->server, name, box, fault);
    status = lbx_store_create_box(where->store, name, box, fault);
    if (status == LBX_EXISTS)
        status = lbx_store_configure_box(where->store, name, box, fault);
    return status;
}

static lbx_status
queue_declare(const lbx_settings *queue, const struct serve_queues *where,
              lbx_fault *fault)
{
    const char *name = lbx_settings_key(queue);
    lbx_box_options box;
    lbx_status status = queue_read(queue, where->values, &box, fault);
    lbx_fault reason;

    if (status != LBX_OK)
        return status;
    status = queue_set(where, name, &box, &reason);
    if (status == LBX_NOT_FOUND)
        return lbx_settings_write_fault(
            queue, "its dead-letters queue must be declared above it, or exist",
            fault);
    if (status != LBX_OK)
        (void)lbx_settings_write_fault(queue, reason.text, fault);
    return status;
}

/* So that a mistake in the last queue changes none of the others. */
static lbx_status
queues_check(const lbx_settings *queues, const struct serve_values *values,
             lbx_fault *fault)
{
    lbx_status status = LBX_OK;
    lbx_box_options box;

    for (size_t i = 0; status == LBX_OK && i < lbx_settings_count(queues); i++)
        status = queue_read(lbx_settings_child(queues, i), values, &box, fault);
    return status;
}

int
serve_config_declare(const lbx_settings *settings,
                     const struct serve_queues *where)
{
    const lbx_settings *queues =
        lbx_settings_at(settings, "letterbox.server.queues");
    lbx_fault fault;

    for (size_t i = 0; i < lbx_settings_count(queues); i++) {
        const lbx_status status =
            queue_declare(lbx_settings_child(queues, i), where, &fault);

        if (status != LBX_OK)
            return cli_complain_status(status, &fault, "queues");
    }
    return CLI_OK;
}

/* ---- The file ---- */

int
serve_config_read(const char *path, struct serve_values *values,
                  lbx_settings **ret)
{
    const struct cli_option *option = serve_options;
    lbx_settings_options how = LBX_SETTINGS_OPTIONS_INIT;
    const lbx_settings *section;
    lbx_fault fault;
    lbx_status status;

    how.fault = &fault;
    status = lbx_settings_load_file(path, &how, ret);
    if (status != LBX_OK)
        return cli_complain_status(status, &fault, path);
    status =
        lbx_settings_read_section(*ret, "letterbox.server", &section, &fault);
    if (status == LBX_OK)
        status = config_check(section, &fault);
    for (; status == LBX_OK && option->name; option++)
        status = config_read_option(section, option,
                                    (char *)values + option->offset, &fault);
    if (status == LBX_OK)
        status =
            queues_check(lbx_settings_at(section, "queues"), values, &fault);
    if (status == LBX_OK)
        return CLI_RUN;
    lbx_settings_unref(*ret);
    *ret = NULL;
    return cli_complain_status(status, &fault, path);
}
