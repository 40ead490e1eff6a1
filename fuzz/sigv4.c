/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed requests, written as HTTP. No request is accepted with a secret that
 * did not sign it; the same request, signed anew, is.
 */
#include "codec/sigv4.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_FIELDS = 100
};

struct text_request {
    lbx__sigv4_request request;
    lbx__sigv4_field fields[MOST_FIELDS + 1];
};

/* Takes what is before a separator, and the separator. */
static lbx__slice
take(lbx__slice *rest, char separator)
{
    const char *found =
        rest->size > 0 ? memchr(rest->bytes, separator, rest->size) : NULL;
    lbx__slice part = *rest;

    if (found)
        part.size = (size_t)(found - rest->bytes);
    rest->bytes += part.size + (found != NULL);
    rest->size -= part.size + (found != NULL);
    return part;
}

/* As the parser of HTTP would refuse it. */
static int
is_name(lbx__slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        const char byte = name.bytes[i];

        if (!(byte >= 'a' && byte <= 'z') && !(byte >= '0' && byte <= '9') &&
            byte != '-')
            return 0;
    }
    return name.size > 0;
}

static void
parse(struct text_request *text, lbx__slice rest)
{
    lbx__slice line = take(&rest, '\n');
    lbx__slice target;

    text->request.method = take(&line, ' ');
    target = line;
    text->request.path = take(&target, '?');
    text->request.query = target;
    text->request.fields = text->fields;
    while (rest.size > 0) {
        lbx__slice value = take(&rest, '\n');
        const lbx__slice name = take(&value, ':');

        if (name.size == 0)
            break;
        if (is_name(name) && text->request.field_count < MOST_FIELDS)
            text->fields[text->request.field_count++] =
                (lbx__sigv4_field){name, value};
    }
    text->request.body = rest;
}

static int
has_field(const lbx__sigv4_request *request, const char *name)
{
    for (size_t i = 0; i < request->field_count; i++) {
        if (lbx__slice_is(request->fields[i].name, name))
            return 1;
    }
    return 0;
}

/* Replaces Authorization by one that is right, and checks it. */
static void
sign_anew(struct text_request *text, const char *date, int64_t now_s)
{
    static char authorization[1 << 17];
    lbx__sigv4_claim claim;
    const char *why;
    size_t kept = 0;

    for (size_t i = 0; i < text->request.field_count; i++) {
        if (!lbx__slice_is(text->fields[i].name, "authorization"))
            text->fields[kept++] = text->fields[i];
    }
    text->request.field_count = kept;
    if (lbx__sigv4_sign(
            &text->request,
            &(lbx__sigv4_signer){"KEY", "secret", "us-east-1", "sqs", date},
            NULL, authorization, sizeof(authorization)) != LBX_OK)
        return; // a query string that is not properly encoded
    text->fields[text->request.field_count++] = (lbx__sigv4_field){
        lbx__slice_of("authorization"), lbx__slice_of(authorization)};
    if (lbx__sigv4_read(&text->request, &claim, &why) != LBX__SIGV4_OK ||
        lbx__sigv4_check(&text->request, &claim, "secret", now_s, NULL, &why) !=
            LBX__SIGV4_OK)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_request text = {.request = {.field_count = 0}};
    lbx__sigv4_claim claim;
    const char *why;
    char date[17];

    parse(&text, (lbx__slice){(const char *)data, size});
    if (lbx__sigv4_read(&text.request, &claim, &why) != LBX__SIGV4_OK)
        return 0;
    (void)lbx__sigv4_token_is(&claim, "token");
    if (lbx__sigv4_check(&text.request, &claim, "secret", claim.date_s, NULL,
                         &why) == LBX__SIGV4_OK)
        abort();
    if (claim.in_query || !has_field(&text.request, "host") ||
        has_field(&text.request, "x-amz-content-sha256"))
        return 0;
    memcpy(date, claim.date.bytes, 16);
    date[16] = '\0';
    sign_anew(&text, date, claim.date_s);
    return 0;
}
