/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures that are right: those that botocore makes and the one that AWS
 * publishes; and presigned URLs.
 */
#include "codec/sigv4_fixture.h"
#include "support/test.h"
#include "support/torture.h"

#include <stdio.h>

TEST(signatures_of_botocore_are_accepted)
{
    for (size_t i = 0; i < sigv4_vector_count; i++) {
        struct sigv4_signed one;

        sigv4_prepare(&one, &sigv4_vectors[i]);
        sigv4_authorize(&one, SCOPE, sigv4_vectors[i].names,
                        sigv4_vectors[i].signature);
        if (sigv4_check_now(&one) != LBX__SIGV4_OK)
            FAIL("%s: %s", sigv4_vectors[i].what, one.why);
        CHECK(lbx__slice_is(one.claim.access_key, KEY));
        CHECK(lbx__slice_is(one.claim.region, "us-east-1"));
        CHECK(lbx__slice_is(one.claim.service, "sqs"));
        CHECK_INT(DATE_S, one.claim.date_s);
        CHECK(!one.claim.in_query);
    }
}

TEST(signing_gives_the_published_signature)
{
    static const struct sigv4_vector vanilla = {.method = "GET", .path = "/"};
    struct sigv4_signed one;
    char text[512];

    sigv4_prepare(&one, &vanilla);
    CHECK_OK(lbx__sigv4_sign(
        &one.request,
        &(lbx__sigv4_signer){KEY, SECRET, "us-east-1", "service", DATE}, NULL,
        text, sizeof(text)));
    CHECK_STR(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/"
        "service/aws4_request, SignedHeaders=host;x-amz-date, Signature="
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        text);
}

TEST(signing_gives_the_signatures_of_botocore)
{
    for (size_t i = 0; i < sigv4_vector_count; i++) {
        struct sigv4_signed one, signed_one;
        char text[512];

        sigv4_prepare(&one, &sigv4_vectors[i]);
        sigv4_prepare(&signed_one, &sigv4_vectors[i]);
        sigv4_authorize(&signed_one, SCOPE, sigv4_vectors[i].names,
                        sigv4_vectors[i].signature);
        CHECK_OK(lbx__sigv4_sign(
            &one.request,
            &(lbx__sigv4_signer){KEY, SECRET, "us-east-1", "sqs", DATE}, NULL,
            text, sizeof(text)));
        CHECK_STR(signed_one.authorization, text);
        CHECK_STATUS(LBX_TOO_LARGE,
                     lbx__sigv4_sign(&one.request,
                                     &(lbx__sigv4_signer){
                                         KEY, SECRET, "us-east-1", "sqs", DATE},
                                     NULL, text, strlen(text)));
    }
}

TEST(a_field_that_is_sent_twice_is_joined_by_a_comma)
{
    static const struct sigv4_vector joined = {
        .method = "GET", .path = "/", .fields = {{"my-list", "a, b ,c"}}};
    static const struct sigv4_vector apart = {
        .method = "GET",
        .path = "/",
        .fields = {{"my-list", " a, b "}, {"my-list", "c"}}};
    struct sigv4_signed one, two;
    char first[512], second[512];

    sigv4_prepare(&one, &joined);
    sigv4_prepare(&two, &apart);
    CHECK_OK(lbx__sigv4_sign(&two.request,
                             &(lbx__sigv4_signer){KEY, SECRET, "r", "s", DATE},
                             NULL, second, sizeof(second)));
    one.fields[2].value = lbx__slice_of("a, b,c");
    CHECK_OK(lbx__sigv4_sign(&one.request,
                             &(lbx__sigv4_signer){KEY, SECRET, "r", "s", DATE},
                             NULL, first, sizeof(first)));
    CHECK_STR(first, second);
}

TEST(a_plus_in_a_query_string_is_signed_as_the_space_it_means)
{
    static const struct sigv4_vector plus = {
        .method = "GET", .path = "/", .query = "b=x+y&a"};
    static const struct sigv4_vector percent = {
        .method = "GET", .path = "/", .query = "a=&b=x%20y"};
    static const struct sigv4_vector real_plus = {
        .method = "GET", .path = "/", .query = "a=&b=x%2By"};
    const struct sigv4_vector *all[] = {&plus, &percent, &real_plus};
    char text[3][512];

    for (int i = 0; i < 3; i++) {
        struct sigv4_signed one;

        sigv4_prepare(&one, all[i]);
        CHECK_OK(lbx__sigv4_sign(
            &one.request, &(lbx__sigv4_signer){KEY, SECRET, "r", "s", DATE},
            NULL, text[i], sizeof(text[i])));
    }
    CHECK_STR(text[0], text[1]);
    CHECK(strcmp(text[1], text[2]) != 0); // SIGV4-3
}

static void
check_and_sign_once(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    struct sigv4_signed *one = context;
    char text[512];
    const char *why;
    const lbx__sigv4_result result = lbx__sigv4_check(
        &one->request, &one->claim, SECRET, DATE_S, &allocator, &why);
    const lbx_status status = lbx__sigv4_sign(
        &one->request,
        &(lbx__sigv4_signer){KEY, SECRET, "us-east-1", "sqs", DATE}, &allocator,
        text, sizeof(text));

    CHECK(result == LBX__SIGV4_OK ||
          (result == LBX__SIGV4_NO_MEMORY && memory->failures > 0 && why));
    CHECK(status == LBX_OK ||
          (status == LBX_NO_MEMORY && memory->failures > 0));
}

/* Without memory it is not known whether a signature is right. */
TEST(checking_survives_every_failing_allocation)
{
    struct sigv4_signed one;

    sigv4_prepare(&one, &sigv4_vectors[0]);
    sigv4_authorize(&one, SCOPE, sigv4_vectors[0].names,
                    sigv4_vectors[0].signature);
    CHECK_INT(LBX__SIGV4_OK, sigv4_check_now(&one));
    CHECK(torture_every_allocation(check_and_sign_once, &one) > 0);
}

// ---- Presigned URLs ----

static lbx__sigv4_result
check_url(const char *query, const char *method, int64_t now_s)
{
    struct sigv4_signed one = {
        .request = {.method = lbx__slice_of(method),
                    .path = lbx__slice_of("/000000000000/orders"),
                    .query = lbx__slice_of(query)},
    };

    one.request.fields = one.fields;
    sigv4_add_field(&one, "host", HOST);
    return sigv4_check_at(&one, SECRET, now_s);
}

TEST(a_presigned_url_is_valid_as_long_as_it_says)
{
    const char *url = PRESIGNED PRESIGNED_SIGNATURE;

    CHECK_INT(LBX__SIGV4_OK, check_url(url, "GET", DATE_S));
    CHECK_INT(LBX__SIGV4_OK, check_url(url, "GET", DATE_S + 3600));
    CHECK_INT(LBX__SIGV4_OK, check_url(url, "GET", DATE_S - MINUTES(15)));
    CHECK_INT(LBX__SIGV4_EXPIRED, check_url(url, "GET", DATE_S + 3601));
    CHECK_INT(LBX__SIGV4_EXPIRED,
              check_url(url, "GET", DATE_S - MINUTES(15) - 1));
    CHECK_INT(LBX__SIGV4_MISMATCH, check_url(url, "POST", DATE_S));
    CHECK_INT(LBX__SIGV4_MISMATCH,
              check_url(PRESIGNED PRESIGNED_SIGNATURE "&VisibilityTimeout=0",
                        "GET", DATE_S));
}

TEST(a_presigned_url_needs_each_part_once)
{
    static const char *const parts[] = {
        "X-Amz-Algorithm=AWS4-HMAC-SHA256",
        "X-Amz-Credential=A%2F20150830%2Fr%2Fsqs%2faws4_request",
        "X-Amz-Expires=1",
        "X-Amz-SignedHeaders=host",
        "X-Amz-Signature=00",
        ("X-Amz-Date=" DATE),
    };

    for (int without = -1; without < 6; without++) {
        char query[512];
        size_t at = 0;

        for (int i = 0; i < 6; i++) {
            if (i != without)
                at += (size_t)snprintf(query + at, sizeof(query) - at, "&%s",
                                       parts[i]);
        }
        // All of them: the signature is wrong. Without a date: no signature
        // can be right.
        CHECK_INT(without == -1 || without == 5 ? LBX__SIGV4_MISMATCH
                                                : LBX__SIGV4_INCOMPLETE,
                  check_url(query, "GET", DATE_S));
        CHECK(at + 20 < sizeof(query));
        (void)snprintf(query + at, sizeof(query) - at, "&%s",
                       parts[without < 5 ? without + 1 : 0]);
        CHECK_INT(LBX__SIGV4_INCOMPLETE, check_url(query, "GET", DATE_S));
    }
}

TEST(a_presigned_url_expires_within_a_week)
{
    static const char *const bad[] = {
        "0", "604801", "-1", "", "1x", "99999999999999999999", "1.0"};
    char query[512];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(query, sizeof(query),
                       "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A/"
                       "20150830/r/s/aws4_request&X-Amz-Date=" DATE
                       "&X-Amz-SignedHeaders=host&X-Amz-Signature=00"
                       "&X-Amz-Expires=%s",
                       bad[i]);
        CHECK_INT(LBX__SIGV4_INCOMPLETE, check_url(query, "GET", DATE_S));
    }
}

TEST(a_presigned_url_has_one_algorithm)
{
    CHECK_INT(LBX__SIGV4_INCOMPLETE,
              check_url("X-Amz-Algorithm=AWS4-HMAC-SHA1&X-Amz-Credential=A/"
                        "20150830/r/s/aws4_request&X-Amz-Date=" DATE
                        "&X-Amz-SignedHeaders=host&X-Amz-Signature=00"
                        "&X-Amz-Expires=1",
                        "GET", DATE_S));
}

/* Only a presigned URL has a signature in it that is not signed itself: in any
 * other request every parameter is. */
TEST(a_parameter_that_looks_like_a_signature_is_signed)
{
    static struct sigv4_vector get = {
        .method = "GET", .path = "/", .query = "X-Amz-Sign%61ture=1"};
    struct sigv4_signed one;
    char text[512];

    sigv4_prepare(&one, &get);
    CHECK_OK(lbx__sigv4_sign(
        &one.request,
        &(lbx__sigv4_signer){KEY, SECRET, "us-east-1", "sqs", DATE}, NULL, text,
        sizeof(text)));
    sigv4_add_field(&one, "authorization", text);
    CHECK_INT(LBX__SIGV4_OK, sigv4_check_now(&one));
    one.request.query = lbx__slice_of("X-Amz-Sign%61ture=2");
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_now(&one));
}

TEST(a_session_token_is_compared_as_it_was_meant)
{
    static const char url[] =
        "Action=ListQueues&X-Amz-Algorithm=AWS4-HMAC-SHA256"
        "&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fsqs%2F"
        "aws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=604800"
        "&X-Amz-SignedHeaders=host&X-Amz-Security-Token=tok%2Fen%2B%3D%3D"
        "&X-Amz-Signature="
        "7236b6a769c6e137cbf68a38e4db05095e179484e9f86b17c74a39925ea382a7";
    static const struct sigv4_vector get = {
        .method = "GET", .path = "/", .query = url};
    struct sigv4_signed one;

    sigv4_prepare(&one, &get);
    one.request.field_count = 1; // only host
    CHECK_INT(LBX__SIGV4_OK, sigv4_check_at(&one, SECRET, DATE_S + 604800));
    CHECK(one.claim.in_query);
    CHECK_INT(604800, one.claim.expires_s);
    CHECK(lbx__sigv4_token_is(&one.claim, "tok/en+=="));
    CHECK(!lbx__sigv4_token_is(&one.claim, "tok/en+="));
    CHECK(!lbx__sigv4_token_is(&one.claim, "tok/en+==="));
    CHECK(!lbx__sigv4_token_is(&one.claim, "tok%2Fen%2B%3D%3D"));
    CHECK(!lbx__sigv4_token_is(&one.claim, NULL));

    sigv4_prepare(&one, &sigv4_vectors[SIGV4_TOKEN]);
    sigv4_authorize(&one, SCOPE, sigv4_vectors[SIGV4_TOKEN].names,
                    sigv4_vectors[SIGV4_TOKEN].signature);
    CHECK_INT(LBX__SIGV4_OK, sigv4_check_now(&one));
    CHECK(lbx__sigv4_token_is(&one.claim, "tok/en+=="));
    one.claim.token = (lbx__slice){0};
    CHECK(lbx__sigv4_token_is(&one.claim, NULL));
    CHECK(!lbx__sigv4_token_is(&one.claim, ""));
}
