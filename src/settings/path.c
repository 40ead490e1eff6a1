/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as callers write them: more lenient than those in files, since each
 * character but a dot and a quote is allowed in a key.
 */
#include "settings/path.h"

#include "base/utf8.h"

#include <string.h>

/* A key while it is read. */
struct key {
    char *text;
    size_t length;
};

static bool
path_add(struct key *key, const char *bytes, size_t count)
{
    if (count >= LBX__LOADER_KEY_BYTES - key->length)
        return false;
    memcpy(key->text + key->length, bytes, count);
    key->length += count;
    return true;
}

/* A quoted part of a key; *at is after the opening quote. */
static bool
path_quoted(const char **at, struct key *key)
{
    const char *end = *at + strlen(*at);

    for (;;) {
        char bytes[4];
        size_t count = 1;

        bytes[0] = **at;
        if (bytes[0] == '\0')
            return false;
        *at += 1;
        if (bytes[0] == '"')
            return true;
        if (bytes[0] == '\\')
            count = lbx__utf8_unescape(at, end, bytes);
        if (count == 0 || !path_add(key, bytes, count))
            return false;
    }
}

lbx__path_step
lbx__path_next(const char **path, char *key_text)
{
    struct key key = {key_text, 0};
    const char *at = *path;
    bool begun = false;

    if (!at || !*at)
        return LBX__PATH_END;
    for (; *at && *at != '.'; begun = true) {
        if (*at == '"') {
            at++;
            if (!path_quoted(&at, &key))
                return LBX__PATH_BAD;
        } else if (!path_add(&key, at++, 1)) {
            return LBX__PATH_BAD;
        }
    }
    if (!begun || (at[0] == '.' && at[1] == '\0'))
        return LBX__PATH_BAD;
    key_text[key.length] = '\0';
    *path = *at ? at + 1 : at;
    return LBX__PATH_KEY;
}
