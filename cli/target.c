/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs of stores and boxes, as they are typed. The library takes URLs apart
 * too; here it is done for what a person may have meant.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* A store that the library gets has a row here. */
static const char *const target_schemes[] = {"file:", "memory:", NULL};

bool
cli_target_has_scheme(const char *url)
{
    size_t i = 0;

    while (target_schemes[i] &&
           strncmp(url, target_schemes[i], strlen(target_schemes[i])) != 0)
        i++;
    return target_schemes[i] != NULL;
}

static int
target_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %20 and the like. False for what stands for no character, and what
 * is too long. */
static bool
target_decode(const char *text, char *decoded, size_t size_bytes)
{
    size_t size = 0;

    for (; *text && size + 1 < size_bytes; text++) {
        int byte = (unsigned char)*text;

        if (byte == '%') {
            const int high = target_hex(text[1]);
            const int low = high < 0 ? -1 : target_hex(text[2]);

            byte = low < 0 ? 0 : high * 16 + low;
            if (byte == 0 || byte == '/')
                return false;
            text += 2;
        }
        decoded[size++] = (char)byte;
    }
    decoded[size] = '\0';
    return *text == '\0';
}

static bool
target_is_box_name(const char *name)
{
    size_t size = 0;

    for (; name[size]; size++) {
        if (name[size] <= ' ' || name[size] > '~' || name[size] == '/')
            return false;
    }
    return size > 0 && size < LBX_BOX_NAME_BYTES;
}

static const char *
target_scheme_at(const void *list, size_t index)
{
    (void)list;
    return target_schemes[index];
}

static int
target_no_scheme(const char *url)
{
    const size_t size = strcspn(url, ":/");
    char scheme[16];
    const char *near = NULL;

    if (url[0] == '\0')
        cli_complain("the URL is empty: write file:DIR/BOX");
    else if (url[size] != ':')
        cli_complain("%s is a path, not a URL: write file:%s", url, url);
    else {
        if (size + 2 < sizeof(scheme)) {
            snprintf(scheme, sizeof(scheme), "%.*s:", (int)size, url);
            near = cli_nearest(scheme, target_scheme_at, NULL);
        }
        cli_complain("%s: there are no URLs that begin with %.*s:; %s%s%s", url,
                     (int)size, url, near ? "is it " : "",
                     near ? near : "write file:DIR/BOX", near ? "?" : "");
    }
    return CLI_USAGE;
}

/* What follows the scheme; NULL after a complaint. */
static const char *
target_rest(const char *url, int *ret_code)
{
    *ret_code = CLI_USAGE;
    for (size_t i = 0; target_schemes[i]; i++) {
        const size_t size = strlen(target_schemes[i]);

        if (strncmp(url, target_schemes[i], size) != 0)
            continue;
        if (strlen(url) >= CLI_URL_BYTES) {
            cli_complain("the URL has more than %d bytes", CLI_URL_BYTES - 1);
            return NULL;
        }
        if (url[size] == '~') {
            cli_complain("%s: the shell does not expand ~ here: write "
                         "file:$HOME%s",
                         url, url + size + 1);
            return NULL;
        }
        if (strpbrk(url, "?#")) {
            cli_complain("%s: nothing follows a %c in a URL: options are "
                         "--options; in a name write it as %%%X",
                         url, *strpbrk(url, "?#"),
                         (unsigned)*strpbrk(url, "?#"));
            return NULL;
        }
        return url + size;
    }
    target_no_scheme(url);
    return NULL;
}

/* Takes the URL of a box apart. */
static int
target_split(struct cli_target *target, const char *url)
{
    const char *slash;
    const char *box;
    size_t size;
    int code;
    const char *rest = target_rest(url, &code);

    if (!rest)
        return code;
    slash = strrchr(rest, '/');
    box = slash ? slash + 1 : rest;
    if (strncmp(url, "file:", 5) == 0 && (!slash || !*box)) {
        cli_complain("%s names %sno box: write %s%sBOX", url,
                     *rest ? "a folder and " : "", *rest ? url : "file:DIR",
                     slash ? "" : "/");
        return CLI_USAGE;
    }
    // Before a store is created for it.
    if (!target_decode(box, target->box, sizeof(target->box)) ||
        !target_is_box_name(target->box)) {
        cli_complain("%s: '%s' is no name of a box: allowed are 1 to %d "
                     "printable ASCII characters, no spaces, no '/'; %%25 is "
                     "%% itself",
                     url, box, LBX_BOX_NAME_BYTES - 1);
        return CLI_USAGE;
    }
    // "file:/orders" is in the root folder, whose path is the slash.
    size = (size_t)((slash && slash > rest ? slash : box) - url);
    memcpy(target->store_url, url, size);
    target->store_url[size] = '\0';
    return CLI_OK;
}

/* Lines of a store for people: recovery, and which process is waited for. */
static void
target_log(void *context, const char *line)
{
    (void)context;
    cli_complain("%s", line);
}

static lbx_status
target_open_url(const char *url, const struct cli_common *common, bool create,
                lbx_fault *fault, lbx_store **ret)
{
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;

    fault->text[0] = '\0';
    options.fault = fault;
    options.must_exist = !create && strncmp(url, "memory:", 7) != 0;
    options.group = common->group_store;
    options.busy_ms =
        common->busy_ns == LBX_UNLIMITED ? -1 : common->busy_ns / LBX_MS;
    if (options.busy_ms == 0)
        options.busy_ms = 1; // 0 is the default of the library
    options.log = target_log;
    return lbx_store_open(url, &options, ret);
}

static int
target_failed(lbx_status status, const lbx_fault *fault, const char *what)
{
    const int code = cli_complain_status(status, fault, what);

    return status == LBX_INVALID ? CLI_USAGE : code;
}

int
cli_target_open_store(struct cli_target *target, const char *url,
                      const struct cli_common *common, bool create)
{
    lbx_fault fault;
    lbx_status status;
    int code;

    *target = (struct cli_target){.url = url};
    code = target_split(target, url);
    if (code != CLI_OK)
        return code;
    status = target_open_url(target->store_url, common, create, &fault,
                             &target->store);
    return status == LBX_OK ? CLI_OK
                            : target_failed(status, &fault, target->store_url);
}

/* Whether a URL is that of a box: then it was meant as one. */
static bool
target_is_box(const char *url, const struct cli_common *common,
              struct cli_target *parts)
{
    lbx_fault fault;
    bool found;

    if (!strchr(url, '/') || url[strlen(url) - 1] == '/' ||
        target_split(parts, url) != CLI_OK ||
        target_open_url(parts->store_url, common, false, &fault,
                        &parts->store) != LBX_OK)
        return false;
    found = lbx_store_describe_box(parts->store, parts->box, NULL, NULL,
                                   NULL) == LBX_OK;
    lbx_store_unref(parts->store);
    return found;
}

int
cli_target_open_whole(struct cli_target *target, const char *url,
                      const struct cli_common *common)
{
    lbx_fault fault;
    lbx_status status;
    int code;

    *target = (struct cli_target){.url = url};
    if (!target_rest(url, &code))
        return code;
    snprintf(target->store_url, sizeof(target->store_url), "%s", url);
    status = target_open_url(url, common, false, &fault, &target->store);
    if (status == LBX_OK)
        return CLI_OK;
    if (status == LBX_NOT_FOUND && target_is_box(url, common, target)) {
        cli_complain("%s is a box; its store is %s", url, target->store_url);
        return CLI_USAGE;
    }
    return target_failed(status, &fault, url);
}

int
cli_target_open(struct cli_target *target, const char *url,
                const struct cli_common *common, bool create)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_fault fault = {.text = ""};
    lbx_status status;
    int code = cli_target_open_store(target, url, common, create);

    if (code != CLI_OK)
        return code;
    options.fault = &fault;
    options.must_exist = !create;
    status = lbx_postbox_open_in(target->store, target->box, &options,
                                 &target->postbox);
    if (status == LBX_OK)
        return CLI_OK;
    if (status == LBX_NOT_FOUND) {
        cli_complain("%s has no box %s; letterbox ls %s lists them, letterbox "
                     "create %s makes it",
                     target->store_url, target->box, target->store_url, url);
        code = CLI_NOT_FOUND;
    } else {
        code = target_failed(status, &fault, url);
    }
    cli_target_close(target);
    return code;
}

int
cli_target_folder(const char *url, bool path, char folder[CLI_URL_BYTES])
{
    const bool is_file = strncmp(url, "file:", 5) == 0;
    const char *rest = url + 5;
    int code;

    if (path && !is_file && url[strcspn(url, ":/")] != ':') {
        if (*url && strlen(url) < CLI_URL_BYTES) {
            snprintf(folder, CLI_URL_BYTES, "%s", url);
            return CLI_OK;
        }
        cli_complain("the name of the folder is empty, or too long");
        return CLI_USAGE;
    }
    if (!target_rest(url, &code))
        return code;
    if (!is_file || !*rest || !target_decode(rest, folder, CLI_URL_BYTES)) {
        cli_complain("%s is no store in files: write file:DIR", url);
        return CLI_USAGE;
    }
    return CLI_OK;
}

void
cli_target_close(struct cli_target *target)
{
    lbx_postbox_unref(target->postbox);
    lbx_store_unref(target->store);
    target->postbox = NULL;
    target->store = NULL;
}
