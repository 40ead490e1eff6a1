/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that `letterbox serve` reads: each input is a file of keys, and a
 * settings file with options, keys and queues.
 *
 * What is accepted keeps to the limits; what is refused leaves nothing behind.
 * In a file of keys every line that is no comment is one; keys that are written
 * again are read back as the same.
 */
#include "base/buffer.h"
#include "serve.h"
#include "target.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 40

/* A file in memory that only its owner can read; the path is for open(). */
static int
make_file(const void *bytes, size_t size, char path[PATH_BYTES])
{
    const int fd = memfd_create("keys", MFD_CLOEXEC);

    must_be(fd >= 0 && fchmod(fd, 0600) == 0);
    must_be(write(fd, bytes, size) == (ssize_t)size);
    (void)snprintf(path, PATH_BYTES, "/proc/self/fd/%d", fd);
    return fd;
}

static void
check_limits(const struct serve_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        const lbx_server_key *key = &keys->items[i];
        const size_t secret = strlen(key->secret);

        must_be(strlen(key->access_key) >= 3 && strlen(key->access_key) <= 128);
        must_be(secret >= 8 && secret <= 256);
        must_be(!key->account || !serve_allowed_account(key->account));
        must_be(!key->token || (key->token[0] && strlen(key->token) < 4096));
        for (size_t k = 0; k < i; k++)
            must_be(strcmp(keys->items[k].access_key, key->access_key) != 0);
    }
}

/* Lines that have a word, and no comment as their first. */
static size_t
count_lines(const char *text, size_t size)
{
    size_t count = 0;
    bool begins = true;

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            begins = true;
        else if (begins && text[i] != ' ' && text[i] != '\t' &&
                 text[i] != '\r') {
            count += text[i] != '#';
            begins = false;
        }
    }
    return count;
}

static void
add_word(lbx_buffer *out, const char *word, char end)
{
    (void)lbx_buffer_append_text(out, word);
    lbx__buffer_add_byte(out, end);
}

static void
print_keys(const struct serve_keys *keys, lbx_buffer *out)
{
    for (size_t i = 0; i < keys->count; i++) {
        const lbx_server_key *key = &keys->items[i];

        add_word(out, key->access_key, ' ');
        add_word(out, key->secret, key->account ? ' ' : '\n');
        if (key->account)
            add_word(out, key->account, key->token ? ' ' : '\n');
        if (key->token)
            add_word(out, key->token, '\n');
    }
}

/* Reads a file of keys and prints them; false: it was refused. */
static bool
read_and_print(const void *bytes, size_t size, lbx_buffer *out)
{
    struct serve_keys keys = {.count = 0};
    char path[PATH_BYTES];
    const int fd = make_file(bytes, size, path);
    const bool good = serve_keys_read(&keys, path, NULL) == CLI_OK;

    must_be(good == (keys.count > 0) && good == (keys.text != NULL));
    if (good) {
        must_be(keys.count == count_lines(bytes, size));
        check_limits(&keys);
        print_keys(&keys, out);
    }
    serve_keys_free(&keys);
    close(fd);
    return good;
}

static void
check_settings(const void *bytes, size_t size)
{
    struct serve_values values = {.max_in_flight = 1};
    struct serve_keys keys = {.count = 0};
    lbx_settings *settings = NULL;
    char path[PATH_BYTES];
    const int fd = make_file(bytes, size, path);

    if (serve_config_read(path, &values, &settings) == CLI_RUN) {
        must_be(values.threads >= 0 && values.threads <= 64);
        must_be(values.level >= 0 && values.level <= 2);
        must_be(!values.account || !serve_allowed_account(values.account));
        must_be(!values.region || strlen(values.region) <= 18);
        if (serve_keys_read(&keys, NULL, settings) == CLI_OK)
            check_limits(&keys);
        serve_keys_free(&keys);
    } else {
        must_be(settings == NULL);
    }
    lbx_settings_unref(settings);
    close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lbx_buffer once, twice;

    lbx__buffer_init(&once, NULL, 1 << 21);
    lbx__buffer_init(&twice, NULL, 1 << 21);
    if (read_and_print(data, size, &once))
        must_be(read_and_print(once.bytes, once.size, &twice) &&
                strcmp(once.bytes, twice.bytes) == 0);
    if (!memmem(data, size, "include", 7)) // no other files
        check_settings(data, size);
    lbx__buffer_fini(&once);
    lbx__buffer_fini(&twice);
    return 0;
}
