/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths in calls. They are more lenient than those in files: whatever is no
 * dot and no quote may stand in a key as it is.
 */
#include "settings/path.h"

#include "base/utf8.h"

#include <string.h>

/* The key that is being put together. */
struct key {
    char *text;
    size_t length;
};

static bool
add(struct key *key, const char *bytes, size_t count)
{
    if (count >= LBX__LOADER_KEY_BYTES - key->length)
        return false;
    memcpy(key->text + key->length, bytes, count);
    key->length += count;
    return true;
}

/* The part of a key in quotes; *at is behind the first one. */
static bool
quoted(const char **at, struct key *key)
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
        if (count == 0 || !add(key, bytes, count))
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
            if (!quoted(&at, &key))
                return LBX__PATH_BAD;
        } else if (!add(&key, at++, 1)) {
            return LBX__PATH_BAD;
        }
    }
    if (!begun || (at[0] == '.' && at[1] == '\0'))
        return LBX__PATH_BAD;
    key_text[key.length] = '\0';
    *path = *at ? at + 1 : at;
    return LBX__PATH_KEY;
}
