/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs and ARNs of queues.
 *
 * A URL that is read counts by its path only: clients reach one server under
 * many names, and keep URLs that they were given under another. The forms:
 *
 *     orders                                  a bare name
 *     http://host:9324/000000000000/orders    ours, and that of AWS
 *     /queue/orders, /queues/orders           of older servers for tests
 *     /queue/us-east-1/000000000000/orders
 *
 * Names are those of boxes, which may be longer than what CreateQueue allows:
 * programs make boxes too.
 */
#include "server/sqs/request.h"

#include "base/buffer.h"

#include <stdio.h>

enum {
    SEGMENTS_MAX = 4,
    ACCOUNT_DIGITS = LBX__ACCOUNT_BYTES - 1
};

static bool
url_is_name(lbx__slice name)
{
    if (name.size < 1 || name.size >= LBX_BOX_NAME_BYTES)
        return false;
    for (size_t i = 0; i < name.size; i++) {
        if (name.bytes[i] <= ' ' || name.bytes[i] > '~' || name.bytes[i] == '/')
            return false;
    }
    return true;
}

static bool
url_is_account(lbx__slice text)
{
    if (text.size != ACCOUNT_DIGITS)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
    }
    return true;
}

/* The path of a URL, from its slash on; a text without a scheme is a path. */
static lbx__slice
url_path(lbx__slice url)
{
    static const char mark[] = "://";
    const char *at = memmem(url.bytes, url.size, mark, sizeof(mark) - 1);
    const char *end = url.bytes + url.size, *slash;

    if (!at)
        return url;
    at += sizeof(mark) - 1;
    slash = memchr(at, '/', (size_t)(end - at));
    return slash ? (lbx__slice){slash, (size_t)(end - slash)}
                 : (lbx__slice){end, 0};
}

/* Splits a path at its slashes, of which several count as one; 0 when there
 * are too many parts. */
static size_t
url_split(lbx__slice path, lbx__slice segments[SEGMENTS_MAX])
{
    const char *at = path.bytes, *end = path.bytes + path.size;
    size_t count = 0;

    for (;;) {
        const char *slash;

        while (at < end && *at == '/')
            at++;
        if (at == end)
            return count;
        if (count == SEGMENTS_MAX)
            return 0;
        slash = memchr(at, '/', (size_t)(end - at));
        if (!slash)
            slash = end;
        segments[count++] = (lbx__slice){at, (size_t)(slash - at)};
        at = slash;
    }
}

bool
lbx__queue_parse_url(lbx__slice url, char account[LBX__ACCOUNT_BYTES],
                     lbx__slice *name)
{
    lbx__slice segments[SEGMENTS_MAX];
    const lbx__slice *owner = NULL;
    size_t count;

    if (!url.bytes || url.size == 0)
        return false;
    count = url_split(url_path(url), segments);
    if (count == 0 || !url_is_name(segments[count - 1]))
        return false;
    if (count == 2 && url_is_account(segments[0]))
        owner = &segments[0];
    else if (count == 2 && !lbx__slice_is(segments[0], "queue") &&
             !lbx__slice_is(segments[0], "queues"))
        return false;
    if (count == 4 && lbx__slice_is(segments[0], "queue") &&
        url_is_account(segments[2]))
        owner = &segments[2];
    if (count == 3 && url_is_account(segments[1])) // REGION/ACCOUNT/NAME
        owner = &segments[1];
    if (count > 2 && !owner)
        return false;
    if (owner) {
        memcpy(account, owner->bytes, ACCOUNT_DIGITS);
        account[ACCOUNT_DIGITS] = '\0';
    }
    *name = segments[count - 1];
    return true;
}

/* ---- Writing ---- */

/* The first of a list of values of a header that proxies add to; NULL bytes if
 * it has characters that no host has. */
static lbx__slice
url_first_host(lbx__slice value)
{
    static const char others[] = ".-_:[]";
    size_t size = 0;

    if (!value.bytes)
        return value;
    while (size < value.size && value.bytes[size] != ',') {
        const char byte = value.bytes[size];
        const bool plain = (byte >= '0' && byte <= '9') ||
                           (byte >= 'a' && byte <= 'z') ||
                           (byte >= 'A' && byte <= 'Z');

        if (!plain && (byte == '\0' || !strchr(others, byte)))
            return (lbx__slice){NULL, 0};
        size++;
    }
    return size > 0 ? (lbx__slice){value.bytes, size} : (lbx__slice){NULL, 0};
}

/* "http://localhost:9324", as the client sees it. */
static void
url_add_origin(const lbx__request *request, lbx_buffer *out)
{
    const lbx__http_request *http = &request->exchange->request;
    lbx__slice host = http->host, value;
    bool secure = http->is_secure;

    if (request->sqs->trusts_forwarded) {
        value = url_first_host(lbx__http_field_of(http, "x-forwarded-host"));
        if (value.bytes)
            host = value;
        value = lbx__http_field_of(http, "x-forwarded-proto");
        if (value.bytes)
            secure = lbx__slice_is(value, "https");
    }
    (void)lbx_buffer_append_text(out, secure ? "https://" : "http://");
    if (host.size > 0)
        lbx__buffer_add(out, host.bytes, host.size);
    else
        (void)lbx_buffer_append_text(out, "localhost");
}

void
lbx__queue_url(const lbx__request *request, const char *name, lbx_buffer *out)
{
    if (request->sqs->url)
        (void)lbx_buffer_append_text(out, request->sqs->url);
    else
        url_add_origin(request, out);
    if (out->size > 0 && out->bytes[out->size - 1] != '/')
        lbx__buffer_add_byte(out, '/');
    (void)lbx_buffer_append_text(out, request->world.account);
    lbx__buffer_add_byte(out, '/');
    (void)lbx_buffer_append_text(out, name);
}

/* ---- ARNs ---- */

const char *
lbx__queue_arn(const lbx__world *world, const char *name, char *buffer)
{
    (void)snprintf(buffer, LBX__ARN_BYTES, "arn:aws:sqs:%s:%s:%s",
                   world->region, world->account, name);
    return buffer;
}

lbx__slice
lbx__queue_name_of_arn(const lbx__world *world, lbx__slice arn)
{
    char prefix[LBX__ARN_BYTES];
    const size_t size = strlen(lbx__queue_arn(world, "", prefix));
    const lbx__slice none = {NULL, 0};
    lbx__slice name;

    if (!arn.bytes || arn.size <= size || memcmp(arn.bytes, prefix, size) != 0)
        return none;
    name = (lbx__slice){arn.bytes + size, arn.size - size};
    return url_is_name(name) ? name : none;
}
