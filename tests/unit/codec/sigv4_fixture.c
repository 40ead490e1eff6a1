/* SPDX-License-Identifier: Apache-2.0 */
/* Signed requests; see sigv4_fixture.h. */
#include "codec/sigv4_fixture.h"

#include "support/test.h"

#include <stdio.h>

const struct sigv4_vector sigv4_vectors[] = {
    {"sorted query string",
     "GET",
     "/",
     "b=2&a=2&a=1&a-b=3&c",
     "host;x-amz-date",
     "",
     "215110e9aecbb6fd7a582ebd55cd392aab87e9f278dc772819bb665cd905a1c3",
     {{0}}},
    {"dots and slashes",
     "GET",
     "/a/./b/../c//d/",
     NULL,
     "host;x-amz-date",
     "",
     "a3bae5514018266ed6ff35329ea13603959a1c6a8962a54d348b12220a7c213a",
     {{0}}},
    {"path encoded twice",
     "GET",
     "/a%20b/%C3%BC~_-.x/",
     NULL,
     "host;x-amz-date",
     "",
     "b2f34cfef9713ce58fc68796700ad99aefeb49be085b0998722c4ebece3ce678",
     {{0}}},
    {"spaces in values",
     "GET",
     "/",
     NULL,
     "host;my-header1;my-header2;x-amz-date",
     "",
     "026fd6a77bb783e2162203c5a29eaad8f6183ba71768286539024e0647846f1b",
     {{"my-header1", "  a   b   c "}, {"my-header2", "\"a   b\""}}},
    {"AWS JSON",
     "POST",
     "/",
     NULL,
     "content-type;host;x-amz-date;x-amz-target;x-amzn-query-mode",
     "{\"QueueUrl\":\"q\",\"MessageBody\":\"hello\"}",
     "04664a1400921f82f6d4db737ffea3f31186643355603b797870e648daa68e6a",
     {{"content-type", "application/x-amz-json-1.0"},
      {"x-amz-target", "AmazonSQS.SendMessage"},
      {"x-amzn-query-mode", "true"}}},
    {"a form",
     "POST",
     "/000000000000/orders",
     NULL,
     "content-type;host;x-amz-date",
     "Action=ListQueues&Version=2012-11-05",
     "9e29d3b42f446b6da2435c599076f19f5b013570e4bb4500c81df403f8686db5",
     {{"content-type", "application/x-www-form-urlencoded; charset=utf-8"}}},
    {"encoded query string",
     "GET",
     "/",
     "Action=SendMessage&MessageBody=a%20b%2Bc%25%26%3D%C3%BC&X=%2F",
     "host;x-amz-date",
     "",
     "25cc2a0fa81bd2d7648616f69864ed164867a09537b19435f8deffbb670e1890",
     {{0}}},
    {"session token",
     "GET",
     "/",
     NULL,
     "host;x-amz-date;x-amz-security-token",
     "",
     "226acdb13c928088e0a2f8a83395cb1fb8369b2c693afb48705a82624d3636ae",
     {{"x-amz-security-token", "tok/en+=="}}},
};

const size_t sigv4_vector_count =
    sizeof(sigv4_vectors) / sizeof(sigv4_vectors[0]);

void
sigv4_add_field(struct sigv4_signed *one, const char *name, const char *value)
{
    one->fields[one->request.field_count++] =
        (lbx__sigv4_field){lbx__slice_of(name), lbx__slice_of(value)};
}

void
sigv4_authorize(struct sigv4_signed *one, const char *scope, const char *names,
                const char *signature)
{
    CHECK(snprintf(one->authorization, sizeof(one->authorization),
                   "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, "
                   "Signature=%s",
                   KEY, scope, names, signature) > 0);
    sigv4_add_field(one, "authorization", one->authorization);
}

void
sigv4_prepare(struct sigv4_signed *one, const struct sigv4_vector *vector)
{
    *one = (struct sigv4_signed){
        .request = {.method = lbx__slice_of(vector->method),
                    .path = lbx__slice_of(vector->path),
                    .query = lbx__slice_of(vector->query),
                    .body = lbx__slice_of(vector->body)},
    };
    one->request.fields = one->fields;
    sigv4_add_field(one, "host", HOST);
    sigv4_add_field(one, "x-amz-date", DATE);
    for (int i = 0; i < MOST_FIELDS && vector->fields[i][0]; i++)
        sigv4_add_field(one, vector->fields[i][0], vector->fields[i][1]);
}

lbx__sigv4_result
sigv4_check_at(struct sigv4_signed *one, const char *secret, int64_t now_s)
{
    const lbx__sigv4_result result =
        lbx__sigv4_read(&one->request, &one->claim, &one->why);

    if (result != LBX__SIGV4_OK)
        return result;
    return lbx__sigv4_check(&one->request, &one->claim, secret, now_s, NULL,
                            &one->why);
}

lbx__sigv4_result
sigv4_check_now(struct sigv4_signed *one)
{
    return sigv4_check_at(one, SECRET, DATE_S);
}
