/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of a server: from a file, a line each, ACCESS-KEY SECRET [ACCOUNT
 * [TOKEN]], where empty lines, and those that begin with #, do not count; and
 * from letterbox.server.access-keys of the settings.
 *
 * SKEYS-1  A file that has keys belongs to this user or to root, and nobody
 *          else can read it. A file that is included counts for itself.
 */
#include "serve.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEYS_FILE_MOST = 1 << 20,
    KEYS_SECRET_LEAST = 8,
    KEYS_SECRET_MOST = 256
};

/* ---- What is allowed ---- */

/* SKEYS-1. NULL, or what is wrong. */
static const char *
keys_file_fault(const struct stat *info)
{
    if (info->st_mode & 077)
        return "others than its owner may read the secrets in it: make it "
               "mode 600";
    if (info->st_uid != geteuid() && info->st_uid != 0)
        return "it has secrets, and belongs to another user";
    return NULL;
}

static bool
key_is_access_key(const char *text)
{
    const size_t size = strlen(text);

    for (size_t i = 0; i < size; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("_-.", text[i]))
            return false;
    }
    return size >= 3 && size <= 128;
}

/* NULL, or what is wrong; without the secret. */
static const char *
key_fault(const struct serve_keys *keys, const lbx_server_key *key)
{
    const size_t size = strlen(key->secret);

    if (!key_is_access_key(key->access_key))
        return "an access key has 3 to 128 letters, digits, and _ - .";
    if (size < KEYS_SECRET_LEAST || size > KEYS_SECRET_MOST)
        return "a secret has 8 to 256 characters";
    if (key->account && serve_allowed_account(key->account))
        return "an account has 12 digits";
    if (key->token && (!key->token[0] || strlen(key->token) > 4095))
        return "a token has 1 to 4095 characters";
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->items[i].access_key, key->access_key) == 0)
            return "there is such an access key already";
    }
    return NULL;
}

/* NULL, or why it was not added. */
static const char *
keys_add(struct serve_keys *keys, const lbx_server_key *key)
{
    const char *fault = key_fault(keys, key);
    lbx_server_key *items;

    if (fault)
        return fault;
    items = realloc(keys->items, (keys->count + 1) * sizeof(*items));
    if (!items)
        return "there is no memory for its keys";
    keys->items = items;
    items[keys->count++] = *key;
    return NULL;
}

/* ---- A file of keys ---- */

/* The whole file, with a NUL behind it. */
static int
keys_load_file(struct serve_keys *keys, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *fault;
    struct stat info;
    ssize_t got = -1;

    if (fd < 0 || fstat(fd, &info) != 0) {
        const int error = errno;

        cli_complain("%s: %s", path, strerror(error));
        if (fd >= 0)
            close(fd);
        return error == ENOENT ? CLI_NOT_FOUND : CLI_FAILED;
    }
    fault = keys_file_fault(&info);
    if (!S_ISREG(info.st_mode) || info.st_size >= KEYS_FILE_MOST)
        cli_complain("%s: keys are in a file of less than 1 MiB", path);
    else if (fault)
        cli_complain("%s: %s", path, fault);
    else {
        keys->text_bytes = (size_t)info.st_size + 1;
        keys->text = calloc(1, keys->text_bytes);
        if (keys->text)
            got = read(fd, keys->text, keys->text_bytes - 1);
        if (got < 0)
            cli_complain("%s: it could not be read", path);
        else if (memchr(keys->text, '\0', (size_t)got)) {
            cli_complain("%s: there is a NUL in it", path);
            got = -1; // the lines behind it would not count
        }
    }
    close(fd);
    return got < 0 ? CLI_FAILED : CLI_OK;
}

static int
keys_add_line(struct serve_keys *keys, char *line, const char *path,
              unsigned number)
{
    const char *words[5] = {NULL};
    const char *fault = "a line has ACCESS-KEY SECRET [ACCOUNT [TOKEN]]";
    size_t count = 0;
    char *rest = NULL;

    for (char *word = strtok_r(line, " \t\r", &rest); word && count < 5;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    if (count == 0 || words[0][0] == '#')
        return CLI_OK;
    if (count >= 2 && count <= 4)
        fault = keys_add(keys, &(lbx_server_key){.access_key = words[0],
                                                 .secret = words[1],
                                                 .account = words[2],
                                                 .token = words[3]});
    if (!fault)
        return CLI_OK;
    cli_complain("%s:%u: %s", path, number, fault);
    return CLI_FAILED;
}

static int
keys_read_file(struct serve_keys *keys, const char *path)
{
    int code = keys_load_file(keys, path);
    unsigned number = 0;
    char *rest = keys->text;
    char *line;

    while (code == CLI_OK && (line = strsep(&rest, "\n")) != NULL)
        code = keys_add_line(keys, line, path, ++number);
    if (code == CLI_OK && keys->count == 0) {
        cli_complain("%s: it has no keys", path);
        code = CLI_FAILED;
    }
    return code;
}

/* ---- Keys of the settings ---- */

static const lbx_settings_rule key_rules[] = {
    {.key = "secret", .type = LBX_SETTINGS_TYPE_STRING, .required = true},
    {.key = "account", .type = LBX_SETTINGS_TYPE_STRING},
    {.key = "token", .type = LBX_SETTINGS_TYPE_STRING},
};

/* SKEYS-1 for the file in which a value stands; NULL stands nowhere. */
static lbx_status
settings_check_file(const lbx_settings *value, lbx_fault *fault)
{
    const char *path = lbx_settings_file(value);
    const char *what = NULL;
    struct stat info;

    if (value)
        what = stat(path, &info) == 0 ? keys_file_fault(&info)
                                      : "the file cannot be examined";
    return what ? lbx_settings_write_fault(value, what, fault) : LBX_OK;
}

static lbx_status
settings_read_key(struct serve_keys *keys, const lbx_settings *section,
                  lbx_fault *fault)
{
    lbx_server_key key = {.access_key = lbx_settings_key(section)};
    const char *what;
    lbx_status status = lbx_settings_check(
        section, key_rules, sizeof(key_rules) / sizeof(key_rules[0]), fault);

    if (status == LBX_OK)
        status = settings_check_file(lbx_settings_at(section, "secret"), fault);
    if (status == LBX_OK)
        status = settings_check_file(lbx_settings_at(section, "token"), fault);
    if (status == LBX_OK)
        status =
            lbx_settings_read_string(section, "secret", &key.secret, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_string_or(section, "account", NULL,
                                             &key.account, fault);
    if (status == LBX_OK)
        status = lbx_settings_read_string_or(section, "token", NULL, &key.token,
                                             fault);
    if (status != LBX_OK)
        return status;
    what = keys_add(keys, &key);
    return what ? lbx_settings_write_fault(section, what, fault) : LBX_OK;
}

static int
keys_read_settings(struct serve_keys *keys, const lbx_settings *settings)
{
    const lbx_settings *section =
        lbx_settings_at(settings, "letterbox.server.access-keys");
    lbx_status status = LBX_OK;
    lbx_fault fault;

    // An empty list is more likely a mistake than a wish to be open to all.
    if (section && lbx_settings_count(section) == 0)
        status = lbx_settings_write_fault(section, "it has no keys", &fault);
    for (size_t i = 0; status == LBX_OK && i < lbx_settings_count(section); i++)
        status =
            settings_read_key(keys, lbx_settings_child(section, i), &fault);
    if (status != LBX_OK)
        return cli_complain_status(status, &fault, "access-keys");
    return CLI_OK;
}

int
serve_keys_read(struct serve_keys *keys, const char *path,
                const lbx_settings *settings)
{
    int code = path ? keys_read_file(keys, path) : CLI_OK;

    if (code == CLI_OK && settings)
        code = keys_read_settings(keys, settings);
    if (code != CLI_OK)
        serve_keys_free(keys);
    return code;
}

void
serve_keys_free(struct serve_keys *keys)
{
    if (keys->text)
        explicit_bzero(keys->text, keys->text_bytes);
    free(keys->text);
    free(keys->items);
    *keys = (struct serve_keys){.count = 0};
}
