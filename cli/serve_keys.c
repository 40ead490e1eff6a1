/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a server, from a file: a line each, ACCESS-KEY SECRET [ACCOUNT
 * [TOKEN]]; empty lines, and those that begin with #, do not count. */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEYS_FILE_MOST = 1 << 20
};

/* The whole file, with a NUL behind it. */
static int
keys_read_file(struct serve_keys *keys, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    ssize_t got = -1;

    if (fd < 0 || fstat(fd, &info) != 0) {
        cli_complain("%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return CLI_FAILED;
    }
    if (!S_ISREG(info.st_mode) || info.st_size >= KEYS_FILE_MOST)
        cli_complain("%s: keys are in a file of less than 1 MiB", path);
    else if (info.st_mode & 077)
        cli_complain("%s: others than its owner may read the secrets: "
                     "chmod 600 %s",
                     path, path);
    else {
        keys->text_bytes = (size_t)info.st_size + 1;
        keys->text = calloc(1, keys->text_bytes);
        if (keys->text)
            got = read(fd, keys->text, keys->text_bytes - 1);
        if (got < 0)
            cli_complain("%s: it could not be read", path);
    }
    close(fd);
    return got < 0 ? CLI_FAILED : CLI_OK;
}

static int
keys_add_line(struct serve_keys *keys, char *line, const char *path,
              unsigned number)
{
    const char *words[5] = {NULL};
    size_t count = 0;
    char *rest = NULL;
    lbx_server_key *items;

    for (char *word = strtok_r(line, " \t\r", &rest); word && count < 5;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    if (count == 0 || words[0][0] == '#')
        return CLI_OK;
    if (count < 2 || count > 4) {
        cli_complain("%s:%u: a line has ACCESS-KEY SECRET [ACCOUNT [TOKEN]]",
                     path, number);
        return CLI_FAILED;
    }
    items = realloc(keys->items, (keys->count + 1) * sizeof(*items));
    if (!items) {
        cli_complain("%s: there is no memory for its keys", path);
        return CLI_FAILED;
    }
    keys->items = items;
    items[keys->count++] = (lbx_server_key){.access_key = words[0],
                                            .secret = words[1],
                                            .account = words[2],
                                            .token = words[3]};
    return CLI_OK;
}

int
serve_keys_read(struct serve_keys *keys, const char *path)
{
    int code = keys_read_file(keys, path);
    unsigned number = 0;
    char *rest = keys->text;
    char *line;

    while (code == CLI_OK && (line = strsep(&rest, "\n")) != NULL)
        code = keys_add_line(keys, line, path, ++number);
    if (code == CLI_OK && keys->count == 0) {
        cli_complain("%s: it has no keys", path);
        code = CLI_FAILED;
    }
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
