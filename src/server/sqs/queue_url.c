/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs and ARNs of queues.
 *
 * A URL that is read counts by its path: clients reach one server under many
 * names, and keep URLs that they were given under another. Its host counts for
 * the region of a request that names none. The forms:
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

static bool
url_is_region(lbx__slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        const char byte = text.bytes[i];

        if (!((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
              byte == '-'))
            return false;
    }
    return text.size > 0 && text.size < LBX__REGION_BYTES;
}

/* Whether a text has the form of the regions of AWS: "eu-central-1". */
static bool
url_is_aws_region(lbx__slice text)
{
    static const char *const parts[] = {"north", "south", "east", "west",
                                        "central"};
    const char *dash;
    bool found = false;

    if (!url_is_region(text))
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !found; i++)
        found = memmem(text.bytes, text.size, parts[i], strlen(parts[i]));
    dash = memrchr(text.bytes, '-', text.size);
    return found && text.bytes[0] >= 'a' && dash &&
           dash + 1 < text.bytes + text.size && dash[1] >= '0' &&
           dash[1] <= '9';
}

static void
url_set_region(lbx__world *world, lbx__slice region)
{
    memcpy(world->region, region.bytes, region.size);
    world->region[region.size] = '\0';
}

/* The part of a host before a dot, and `*host` becomes what is behind it. */
static lbx__slice
url_next_label(lbx__slice *host)
{
    const char *dot = memchr(host->bytes, '.', host->size);
    const lbx__slice label = {host->bytes,
                              dot ? (size_t)(dot - host->bytes) : host->size};

    host->bytes += dot ? label.size + 1 : label.size;
    host->size -= dot ? label.size + 1 : label.size;
    return label;
}

bool
lbx__queue_region_of_host(lbx__slice host, lbx__world *world)
{
    lbx__slice first, second;

    if (!host.bytes)
        return false;
    for (size_t i = 0; i < host.size; i++) {
        if (host.bytes[i] == ':' || host.bytes[i] == '/')
            host.size = i;
    }
    first = url_next_label(&host);
    second = url_next_label(&host);
    if ((lbx__slice_is(first, "sqs") || lbx__slice_is(first, "sqs-fips")) &&
        url_is_aws_region(second))
        url_set_region(world, second);
    else if (lbx__slice_is(second, "queue") && url_is_aws_region(first))
        url_set_region(world, first);
    else
        return false;
    return true;
}

bool
lbx__queue_region_of_url(lbx__slice url, lbx__world *world)
{
    static const char mark[] = "://";
    const char *at =
        url.bytes ? memmem(url.bytes, url.size, mark, sizeof(mark) - 1) : NULL;
    const char *end = url.bytes + url.size;

    if (!at)
        return false;
    at += sizeof(mark) - 1;
    return lbx__queue_region_of_host((lbx__slice){at, (size_t)(end - at)},
                                     world);
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
lbx__queue_parse_url(lbx__slice url, lbx__world *ret, lbx__slice *name)
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
        memcpy(ret->account, owner->bytes, ACCOUNT_DIGITS);
        ret->account[ACCOUNT_DIGITS] = '\0';
    }
    if ((count == 4 && url_is_region(segments[1])) ||
        (count == 3 && url_is_aws_region(segments[0])))
        url_set_region(ret, segments[count - 3]);
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
