/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head.h"

#include <strings.h>

/* The fields that framing depends on, while they are read. */
struct head_reader {
    lbx__head_facts *facts;
    lbx__slice host;
    lbx__slice coding; /* Transfer-Encoding */
    bool is_old;
    bool keeps;  /* Connection: keep-alive */
    bool closes; /* Connection: close */
};

static bool
head_is(lbx__slice text, const char *word)
{
    size_t size = strlen(word);

    return text.size == size && strncasecmp(text.bytes, word, size) == 0;
}

static int
head_read_length(struct head_reader *reader, lbx__slice value)
{
    uint64_t length = 0;
    size_t i;

    if (reader->facts->has_length || value.size == 0)
        return 400;
    for (i = 0; i < value.size; i++) {
        if (value.bytes[i] < '0' || value.bytes[i] > '9' ||
            __builtin_mul_overflow(length, (uint64_t)10, &length) ||
            __builtin_add_overflow(length, (uint64_t)(value.bytes[i] - '0'),
                                   &length))
            return 400;
    }
    reader->facts->has_length = true;
    reader->facts->content_length = length;
    return 0;
}

static int
head_read_coding(struct head_reader *reader, lbx__slice value)
{
    if (reader->coding.bytes || reader->is_old)
        return 400;
    reader->coding = value;
    reader->facts->is_chunked = head_is(value, "chunked");
    if (reader->facts->is_chunked)
        return 0;
    // A list with chunked in it is an attempt to be read in two ways.
    return value.size == 0 || memchr(value.bytes, ',', value.size) ? 400 : 501;
}

static bool
head_is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* The tokens of a list; others than these two are not ours. */
static void
head_read_connection(struct head_reader *reader, lbx__slice value)
{
    size_t at = 0;

    while (at < value.size) {
        size_t begin, end;

        while (at < value.size &&
               (value.bytes[at] == ',' || head_is_space(value.bytes[at])))
            at++;
        begin = at;
        while (at < value.size && value.bytes[at] != ',')
            at++;
        end = at;
        while (end > begin && head_is_space(value.bytes[end - 1]))
            end--;
        if (head_is((lbx__slice){value.bytes + begin, end - begin}, "close"))
            reader->closes = true;
        else if (head_is((lbx__slice){value.bytes + begin, end - begin},
                         "keep-alive"))
            reader->keeps = true;
    }
}

/* A host name or an address, and a port perhaps. */
static bool
head_host_is_good(lbx__slice host)
{
    static const char others[] = "-._~%!$&'()*+;=";
    size_t i = 0, digits;

    if (host.size > 0 && host.bytes[0] == '[') {
        for (i = 1; i < host.size && host.bytes[i] != ']'; i++) {
            if (!strchr("0123456789abcdefABCDEF:.", host.bytes[i]) ||
                host.bytes[i] == '\0')
                return false;
        }
        if (i == host.size || i < 3)
            return false;
        i++;
    } else {
        for (; i < host.size && host.bytes[i] != ':'; i++) {
            char c = host.bytes[i];

            if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
                !(c >= 'A' && c <= 'Z') && (c == '\0' || !strchr(others, c)))
                return false;
        }
    }
    if (i == 0 || i == host.size)
        return i > 0;
    for (digits = i + 1; digits < host.size; digits++) {
        if (host.bytes[digits] < '0' || host.bytes[digits] > '9')
            return false;
    }
    return host.bytes[i] == ':' && digits - i <= 6;
}

/* One field. Its length tells most names apart before they are compared. */
static int
head_read_field(struct head_reader *reader, const lbx__http_field *field)
{
    switch (field->name.size) {
    case 4:
        if (!lbx__slice_is(field->name, "host"))
            return 0;
        if (reader->host.bytes || !head_host_is_good(field->value))
            return 400;
        reader->host = field->value;
        return 0;
    case 6:
        if (!lbx__slice_is(field->name, "expect") || reader->is_old)
            return 0;
        reader->facts->expects_continue = head_is(field->value, "100-continue");
        return reader->facts->expects_continue ? 0 : 417;
    case 10:
        if (lbx__slice_is(field->name, "connection"))
            head_read_connection(reader, field->value);
        return 0;
    case 14:
        return lbx__slice_is(field->name, "content-length")
                   ? head_read_length(reader, field->value)
                   : 0;
    case 16:
        return lbx__slice_is(field->name, "content-encoding") &&
                       !head_is(field->value, "identity")
                   ? 415
                   : 0;
    case 17:
        return lbx__slice_is(field->name, "transfer-encoding")
                   ? head_read_coding(reader, field->value)
                   : 0;
    default:
        return 0;
    }
}

int
lbx__head_fields_check(lbx__http_request *request, bool is_old,
                       lbx__slice authority, lbx__head_facts *ret)
{
    struct head_reader reader = {.facts = ret, .is_old = is_old};
    int worst = 0;
    size_t i;

    *ret = (lbx__head_facts){.content_length = 0};
    // 400 before others: what is framed badly is not understood at all.
    for (i = 0; i < request->field_count; i++) {
        int status = head_read_field(&reader, &request->fields[i]);

        if (status == 400)
            return 400;
        if (!worst)
            worst = status;
    }
    if (reader.coding.bytes && ret->has_length)
        return 400;
    if (!reader.host.bytes && !is_old)
        return 400;
    if (authority.bytes &&
        (!reader.host.bytes || authority.size != reader.host.size ||
         strncasecmp(authority.bytes, reader.host.bytes, authority.size) != 0))
        return 400;
    request->host = reader.host;
    ret->closes = reader.closes || (is_old && !reader.keeps);
    return worst;
}
