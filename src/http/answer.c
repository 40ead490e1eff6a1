/* SPDX-License-Identifier: Apache-2.0 */
#include "http/answer.h"

#include "base/alloc.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    /* More than the status line and our own fields have. */
    ANSWER_HEAD_BYTES = 256
};

static const struct answer_phrase {
    int status;
    const char *text; /* with the status: also the body of a refusal */
} answer_phrases[] = {
    {200, "200 OK"},
    {201, "201 Created"},
    {204, "204 No Content"},
    {304, "304 Not Modified"},
    {307, "307 Temporary Redirect"},
    {400, "400 Bad Request"},
    {401, "401 Unauthorized"},
    {403, "403 Forbidden"},
    {404, "404 Not Found"},
    {405, "405 Method Not Allowed"},
    {408, "408 Request Timeout"},
    {409, "409 Conflict"},
    {411, "411 Length Required"},
    {413, "413 Content Too Large"},
    {414, "414 URI Too Long"},
    {415, "415 Unsupported Media Type"},
    {417, "417 Expectation Failed"},
    {429, "429 Too Many Requests"},
    {431, "431 Request Header Fields Too Large"},
    {500, "500 Internal Server Error"},
    {501, "501 Not Implemented"},
    {503, "503 Service Unavailable"},
    {505, "505 HTTP Version Not Supported"},
};

static const char *
answer_phrase_of(int status, char buffer[16])
{
    size_t i;

    for (i = 0; i < sizeof(answer_phrases) / sizeof(answer_phrases[0]); i++) {
        if (answer_phrases[i].status == status)
            return answer_phrases[i].text;
    }
    (void)snprintf(buffer, 16, "%03d Status", status);
    return buffer;
}

static char *
answer_add(char *at, const char *bytes, size_t size)
{
    if (size > 0)
        memcpy(at, bytes, size);
    return at + size;
}

static char *
answer_add_text(char *at, const char *text)
{
    return answer_add(at, text, strlen(text));
}

static char *
answer_add_field(char *at, lbx__slice name, lbx__slice value)
{
    assert(!memchr(value.bytes ? value.bytes : "", '\n', value.size));
    at = answer_add(at, name.bytes, name.size);
    at = answer_add(at, ": ", 2);
    at = answer_add(at, value.bytes, value.size);
    return answer_add(at, "\r\n", 2);
}

static char *
answer_add_number(char *at, size_t number)
{
    char digits[24];
    size_t i = sizeof(digits);

    do {
        digits[--i] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return answer_add(at, digits + i, sizeof(digits) - i);
}

/* 204 and 304 have no body and say nothing about its length. */
static bool
answer_has_length(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* Writes everything before the body; returns where it ends. */
static char *
answer_add_head(char *at, const lbx__http_reply *reply,
                const lbx__answer_frame *frame)
{
    char buffer[16];
    size_t i;

    at = answer_add_text(at, "HTTP/1.1 ");
    at = answer_add_text(at, answer_phrase_of(reply->status, buffer));
    at = answer_add_text(at, "\r\nDate: ");
    at = answer_add_text(at, frame->date);
    at = answer_add(at, "\r\n", 2);
    if (answer_has_length(reply->status)) {
        at = answer_add_text(at, "Content-Length: ");
        at = answer_add_number(at, reply->body.size);
        at = answer_add(at, "\r\n", 2);
    }
    if (reply->content_type)
        at = answer_add_field(at, lbx__slice_of("Content-Type"),
                              lbx__slice_of(reply->content_type));
    for (i = 0; i < reply->field_count; i++)
        at =
            answer_add_field(at, reply->fields[i].name, reply->fields[i].value);
    if (frame->is_last)
        at = answer_add_text(at, "Connection: close\r\n");
    else if (frame->is_old)
        at = answer_add_text(at, "Connection: keep-alive\r\n");
    return answer_add(at, "\r\n", 2);
}

static bool
answer_grow(size_t *size, size_t more)
{
    return !__builtin_add_overflow(*size, more, size);
}

/* The most bytes the answer can have; false: more than fit in memory. */
static bool
answer_measure(const lbx__http_reply *reply, size_t *ret)
{
    size_t size = sizeof(lbx__answer) + ANSWER_HEAD_BYTES, i;
    bool fits = answer_grow(&size, reply->body.size);

    if (reply->content_type)
        fits = fits && answer_grow(&size, strlen(reply->content_type));
    for (i = 0; fits && i < reply->field_count; i++)
        fits = answer_grow(&size, reply->fields[i].name.size) &&
               answer_grow(&size, reply->fields[i].value.size) &&
               answer_grow(&size, 4);
    *ret = size;
    return fits;
}

static lbx__answer *
answer_alloc(const lbx_allocator *allocator, size_t size)
{
    lbx__answer *answer = lbx__alloc(allocator, size, _Alignof(lbx__answer));

    if (answer) {
        *answer = (lbx__answer){.size_bytes = size};
        answer->chunk.bytes = answer->bytes;
    }
    return answer;
}

lbx__answer *
lbx__answer_create(const lbx_allocator *allocator, const lbx__http_reply *reply,
                   const lbx__answer_frame *frame)
{
    lbx__answer *answer;
    size_t size;
    char *at;

    if (!answer_measure(reply, &size))
        return NULL;
    answer = answer_alloc(allocator, size);
    if (!answer)
        return NULL;
    at = answer_add_head(answer->bytes, reply, frame);
    if (!frame->is_bodiless && answer_has_length(reply->status))
        at = answer_add(at, reply->body.bytes, reply->body.size);
    answer->chunk.size = (size_t)(at - answer->bytes);
    assert(sizeof(*answer) + answer->chunk.size <= size);
    answer->is_last = frame->is_last;
    return answer;
}

lbx__answer *
lbx__answer_create_continue(const lbx_allocator *allocator)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    lbx__answer *answer =
        answer_alloc(allocator, sizeof(*answer) + sizeof(text));

    if (answer) {
        memcpy(answer->bytes, text, sizeof(text));
        answer->chunk.size = sizeof(text) - 1;
    }
    return answer;
}

void
lbx__answer_destroy(const lbx_allocator *allocator, lbx__answer *answer)
{
    if (!answer)
        return;
    if (answer->budget)
        lbx__budget_give(answer->budget, answer->size_bytes);
    lbx__free(allocator, answer, answer->size_bytes);
}

void
lbx__answer_refusal(int status, lbx__http_reply *ret)
{
    static const lbx__http_field allow = {
        .name = {"Allow", 5},
        .value = {"GET, HEAD, POST, PUT, DELETE, OPTIONS", 37}};
    char buffer[16];

    *ret = (lbx__http_reply){
        .status = status, .content_type = "text/plain", .close = true};
    // Every status that refuses has a phrase, which is a constant.
    ret->body = lbx__slice_of(answer_phrase_of(status, buffer));
    assert(ret->body.bytes != buffer);
    if (status == 405) {
        ret->fields = &allow;
        ret->field_count = 1;
    }
}

void
lbx__answer_date(int64_t seconds, char ret[LBX__ANSWER_DATE])
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed",
                                    "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr",
                                       "May", "Jun", "Jul", "Aug",
                                       "Sep", "Oct", "Nov", "Dec"};
    time_t moment = (time_t)seconds;
    struct tm parts;

    if (!gmtime_r(&moment, &parts))
        parts = (struct tm){.tm_mday = 1, .tm_year = 70, .tm_wday = 4};
    (void)snprintf(
        ret, LBX__ANSWER_DATE, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
        days[parts.tm_wday], (unsigned)parts.tm_mday % 100,
        months[parts.tm_mon], (unsigned)(parts.tm_year + 1900) % 10000,
        (unsigned)parts.tm_hour % 100, (unsigned)parts.tm_min % 100,
        (unsigned)parts.tm_sec % 100);
}
