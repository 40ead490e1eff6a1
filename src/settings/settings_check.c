/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A section checked against the rules of the code that reads it.
 *
 * A fault names what is allowed: for an unknown key the most similar known key,
 * if there is one, and all known keys as far as the text has space for them.
 */
#include "settings/settings.h"

#include "settings/printer.h"

#include <stdio.h>
#include <string.h>

struct rules {
    const lbx_settings_rule *rows;
    size_t count;
};

static bool
settings_check_is_wildcard(const lbx_settings_rule *rule)
{
    return strcmp(rule->key, "*") == 0;
}

static const lbx_settings_rule *
settings_check_rule(const struct rules *rules, const char *key)
{
    const lbx_settings_rule *wildcard = NULL;

    for (size_t i = 0; i < rules->count; i++) {
        if (strcmp(rules->rows[i].key, key) == 0)
            return &rules->rows[i];
        if (settings_check_is_wildcard(&rules->rows[i]))
            wildcard = &rules->rows[i];
    }
    return wildcard;
}

/* ---- Unknown keys ---- */

enum {
    MAX_WORD_BYTES = 40 // longer keys are not compared
};

/* The edit distance: how many letters must be changed, added or removed to turn
 * one word into the other. */
static size_t
settings_check_distance(const char *a, const char *b)
{
    const size_t length = strlen(b);
    size_t row[MAX_WORD_BYTES + 1];

    if (strlen(a) > MAX_WORD_BYTES || length > MAX_WORD_BYTES)
        return MAX_WORD_BYTES;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (; *a; a++) {
        size_t diagonal = row[0]++;

        for (size_t j = 1; j <= length; j++) {
            size_t best = diagonal + (*a != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[length];
}

/* The known key that was probably meant; NULL when none is similar. */
static const char *
settings_check_nearest(const struct rules *rules, const char *key)
{
    size_t smallest = strlen(key) / 3 + 1;
    const char *found = NULL;

    for (size_t i = 0; i < rules->count; i++) {
        const size_t away = settings_check_distance(key, rules->rows[i].key);

        if (away <= smallest && (!found || away < smallest)) {
            smallest = away;
            found = rules->rows[i].key;
        }
    }
    return found;
}

static lbx_status
settings_check_unknown_key(const struct rules *rules, const lbx_settings *value,
                           lbx_fault *fault)
{
    const char *meant = settings_check_nearest(rules, value->key);
    char text[sizeof(fault->text)];
    lbx__printer out = {text, sizeof(text), 0};

    lbx__printer_text(&out, "unknown key; ");
    if (meant) {
        lbx__printer_text(&out, "did you mean ");
        lbx__printer_text(&out, meant);
        lbx__printer_text(&out, "? ");
    }
    lbx__printer_text(&out, "allowed: ");
    for (size_t i = 0; i < rules->count; i++) {
        lbx__printer_text(&out, i > 0 ? ", " : "");
        lbx__printer_text(&out, rules->rows[i].key);
    }
    lbx__printer_text(&out, rules->count > 0 ? "" : "none");
    lbx__printer_end(&out);
    return lbx__settings_fault(value, fault, LBX_INVALID, "%s", text);
}

/* ---- Values ---- */

/* Writes a limit with its unit, as in a settings file. */
static void
settings_check_write_limit(const lbx_settings_rule *rule, int64_t limit,
                           char *text, size_t size_bytes)
{
    const char *unit = "";

    if (rule->type == LBX_SETTINGS_TYPE_SIZE)
        unit = " bytes";
    if (rule->type == LBX_SETTINGS_TYPE_DURATION) {
        const bool seconds = limit % LBX_SECOND == 0;

        unit = seconds ? "s" : limit % LBX_MS == 0 ? "ms" : "ns";
        limit /= seconds ? LBX_SECOND : limit % LBX_MS == 0 ? LBX_MS : LBX_NS;
    }
    (void)snprintf(text, size_bytes, "%lld%s", (long long)limit, unit);
}

static lbx_status
settings_check_limits(const lbx_settings *value, const lbx_settings_rule *rule,
                      int64_t amount, lbx_fault *fault)
{
    const bool for_ever =
        rule->type == LBX_SETTINGS_TYPE_DURATION && amount < 0;
    char least[40], most[40];

    if (rule->min == 0 && rule->max == 0)
        return LBX_OK;
    if (for_ever && rule->max == LBX_FOREVER)
        return LBX_OK;
    settings_check_write_limit(rule, rule->min, least, sizeof(least));
    settings_check_write_limit(rule, rule->max, most, sizeof(most));
    if (for_ever || amount > rule->max)
        return lbx__settings_fault(value, fault, LBX_INVALID,
                                   "%.40s is too large; %s to %s is allowed",
                                   value->text, least, most);
    if (amount >= rule->min)
        return LBX_OK;
    if (rule->max == INT64_MAX)
        return lbx__settings_fault(value, fault, LBX_INVALID,
                                   "%.40s is too small; at least %s is allowed",
                                   value->text, least);
    return lbx__settings_fault(value, fault, LBX_INVALID,
                               "%.40s is too small; %s to %s is allowed",
                               value->text, least, most);
}

static lbx_status
settings_check_words(const lbx_settings *value, const lbx_settings_rule *rule,
                     lbx_fault *fault)
{
    char text[sizeof(fault->text)];
    lbx__printer out = {text, sizeof(text), 0};

    if (!rule->words)
        return LBX_OK;
    for (const char *const *word = rule->words; *word; word++) {
        if (strcmp(*word, value->text) == 0)
            return LBX_OK;
        lbx__printer_text(&out, word > rule->words ? ", " : "");
        lbx__printer_text(&out, *word);
    }
    lbx__printer_end(&out);
    return lbx__settings_fault(value, fault, LBX_INVALID,
                               "'%.40s' is none of the words allowed: %s",
                               value->text, text);
}

static lbx_status
settings_check_value(const lbx_settings *value, const lbx_settings_rule *rule,
                     lbx_fault *fault)
{
    lbx_status status = LBX_OK;
    const lbx_settings *part;
    int64_t amount = 0;
    const char *text;
    double number;
    bool flag;

    switch (rule->type) {
    case LBX_SETTINGS_TYPE_ANY:
        return LBX_OK;
    case LBX_SETTINGS_TYPE_STRING:
        status = lbx_settings_read_string(value, NULL, &text, fault);
        return status == LBX_OK ? settings_check_words(value, rule, fault)
                                : status;
    case LBX_SETTINGS_TYPE_NUMBER:
        return lbx_settings_read_number(value, NULL, &number, fault);
    case LBX_SETTINGS_TYPE_BOOLEAN:
        return lbx_settings_read_boolean(value, NULL, &flag, fault);
    case LBX_SETTINGS_TYPE_STRINGS:
        return lbx_settings_read_strings(value, NULL, &part, fault);
    case LBX_SETTINGS_TYPE_SECTION:
        return lbx_settings_read_section(value, NULL, &part, fault);
    case LBX_SETTINGS_TYPE_INTEGER:
        status = lbx_settings_read_integer(value, NULL, &amount, fault);
        break;
    case LBX_SETTINGS_TYPE_DURATION:
        status = lbx_settings_read_duration(value, NULL, &amount, fault);
        break;
    case LBX_SETTINGS_TYPE_SIZE:
        status = lbx_settings_read_size(value, NULL, &amount, fault);
        break;
    default:
        return LBX_INVALID;
    }
    return status == LBX_OK ? settings_check_limits(value, rule, amount, fault)
                            : status;
}

/* ---- The section ---- */

static lbx_status
settings_check_required(const struct rules *rules, const lbx_settings *section,
                        lbx_fault *fault)
{
    for (size_t i = 0; i < rules->count; i++) {
        const lbx_settings_rule *rule = &rules->rows[i];
        const lbx_settings *value;

        if (!rule->required || settings_check_is_wildcard(rule))
            continue;
        value = lbx__key_table_get(&section->fields, rule->key);
        if (!value || value->kind == LBX_SETTINGS_KIND_NULL)
            return lbx__settings_fault(section, fault, LBX_NOT_FOUND,
                                       "%.80s is missing", rule->key);
    }
    return LBX_OK;
}

static bool
settings_check_rules_usable(const struct rules *rules)
{
    if (rules->count > 0 && !rules->rows)
        return false;
    for (size_t i = 0; i < rules->count; i++) {
        if (!rules->rows[i].key)
            return false;
    }
    return true;
}

lbx_status
lbx_settings_check(const lbx_settings *section, const lbx_settings_rule *rows,
                   size_t count, lbx_fault *fault)
{
    const struct rules rules = {rows, count};
    const lbx_settings *value;
    lbx_status status;

    if (!section || !settings_check_rules_usable(&rules))
        return lbx__fault_set(fault, LBX_INVALID,
                              "the section is NULL, or a rule has no key");
    status = lbx_settings_read_section(section, NULL, &section, fault);
    for (size_t i = 0; status == LBX_OK && i < section->count; i++) {
        const lbx_settings_rule *rule;

        value = lbx_settings_child(section, i);
        rule = settings_check_rule(&rules, value->key);
        if (!rule)
            return settings_check_unknown_key(&rules, value, fault);
        if (value->kind != LBX_SETTINGS_KIND_NULL)
            status = settings_check_value(value, rule, fault);
    }
    return status == LBX_OK ? settings_check_required(&rules, section, fault)
                            : status;
}
