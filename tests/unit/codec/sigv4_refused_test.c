/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures that are refused, each for its own reason. */
#include "codec/sigv4_fixture.h"
#include "support/test.h"

#include <stdio.h>

/* The request of AWS JSON, with another Authorization. */
static lbx__sigv4_result
check_json(const char *scope, const char *names, const char *signature)
{
    struct sigv4_signed one;

    sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
    sigv4_authorize(&one, scope, names, signature);
    return sigv4_check_now(&one);
}

static lbx__sigv4_result
check_header(const char *authorization)
{
    struct sigv4_signed one;

    sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
    sigv4_add_field(&one, "authorization", authorization);
    return sigv4_check_now(&one);
}

TEST(a_request_without_a_signature_is_absent)
{
    struct sigv4_signed one;

    sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
    CHECK_INT(LBX__SIGV4_ABSENT, sigv4_check_now(&one));
    CHECK(one.why[0]);
}

TEST(a_wrong_signature_is_a_mismatch)
{
    const struct sigv4_vector *json = (&sigv4_vectors[SIGV4_JSON]);
    char upper[65], longer[66], shorter[64], other[65];

    for (size_t i = 0; i < 64; i++) {
        const char c = json->signature[i];

        upper[i] = c >= 'a' ? (char)(c - ('a' - 'A')) : c;
    }
    upper[64] = '\0';
    (void)snprintf(longer, sizeof(longer), "%s0", json->signature);
    (void)snprintf(shorter, sizeof(shorter), "%.63s", json->signature);
    CHECK_INT(LBX__SIGV4_OK, check_json(SCOPE, json->names, json->signature));
    for (size_t i = 0; i < 64; i++) { // each of its digits counts
        memcpy(other, json->signature, sizeof(other));
        other[i] = other[i] == '0' ? '1' : '0';
        CHECK_INT(LBX__SIGV4_MISMATCH, check_json(SCOPE, json->names, other));
    }
    CHECK_INT(LBX__SIGV4_MISMATCH, check_json(SCOPE, json->names, upper));
    CHECK_INT(LBX__SIGV4_MISMATCH, check_json(SCOPE, json->names, longer));
    CHECK_INT(LBX__SIGV4_MISMATCH, check_json(SCOPE, json->names, shorter));
    CHECK_INT(LBX__SIGV4_MISMATCH,
              check_json(SCOPE, json->names, sigv4_vectors[0].signature));
    CHECK_INT(LBX__SIGV4_MISMATCH, check_json(SCOPE, json->names, "zz"));
}

TEST(another_secret_and_an_unknown_key_are_a_mismatch)
{
    struct sigv4_signed one;

    sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
    sigv4_authorize(&one, SCOPE, (&sigv4_vectors[SIGV4_JSON])->names,
                    (&sigv4_vectors[SIGV4_JSON])->signature);
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_at(&one, "another", DATE_S));
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_at(&one, NULL, DATE_S));
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_at(&one, "", DATE_S));
    CHECK_INT(LBX__SIGV4_OK, sigv4_check_at(&one, SECRET, DATE_S));
}

/* Whoever can look up keys must not find one by an empty secret: the key that
 * is computed for unknown ones is no key. */
TEST(a_signature_with_the_secret_of_unknown_keys_is_a_mismatch)
{
    struct sigv4_signed one;
    char text[512];

    sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
    CHECK_OK(lbx__sigv4_sign(
        &one.request,
        &(lbx__sigv4_signer){KEY, "0000000000000000000000000000000000000000",
                             "us-east-1", "sqs", DATE},
        NULL, text, sizeof(text)));
    sigv4_add_field(&one, "authorization", text);
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_at(&one, NULL, DATE_S));
}

TEST(a_malformed_header_is_incomplete)
{
#define CREDENTIAL "Credential=AKIDEXAMPLE/" SCOPE
#define NAMES      "SignedHeaders=host;x-amz-date"
#define SIGNATURE  "Signature=00"
    static const char *const bad[] = {
        "",
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 ",
        "Basic dXNlcjpwYXNz",
        "AWS4-HMAC-SHA512 " CREDENTIAL ", " NAMES ", " SIGNATURE,
        "AWS4-HMAC-SHA256 " CREDENTIAL ", " NAMES,
        "AWS4-HMAC-SHA256 " CREDENTIAL ", " SIGNATURE,
        "AWS4-HMAC-SHA256 " NAMES ", " SIGNATURE,
        "AWS4-HMAC-SHA256 " CREDENTIAL ", " NAMES ", Signature=",
        "AWS4-HMAC-SHA256 " CREDENTIAL ", " NAMES ", " SIGNATURE ", " SIGNATURE,
        "AWS4-HMAC-SHA256 " CREDENTIAL ", " NAMES ", " SIGNATURE ", More=1",
        "AWS4-HMAC-SHA256 " CREDENTIAL ",, " NAMES ", " SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE, " NAMES ", " SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830, " NAMES
        ", " SIGNATURE,
        "AWS4-HMAC-SHA256 Credential=/" SCOPE ", " NAMES ", " SIGNATURE,
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(LBX__SIGV4_INCOMPLETE, check_header(bad[i]));
    CHECK_INT(LBX__SIGV4_MISMATCH, // spaces do not matter
              check_header("AWS4-HMAC-SHA256   " SIGNATURE "," CREDENTIAL
                           " ,  " NAMES));
}

TEST(two_signatures_are_incomplete)
{
    const struct sigv4_vector *json = (&sigv4_vectors[SIGV4_JSON]);
    struct sigv4_signed one;

    sigv4_prepare(&one, json);
    sigv4_authorize(&one, SCOPE, json->names, json->signature);
    sigv4_add_field(&one, "authorization", one.authorization);
    CHECK_INT(LBX__SIGV4_INCOMPLETE, sigv4_check_now(&one));

    sigv4_prepare(&one, json);
    sigv4_authorize(&one, SCOPE, json->names, json->signature);
    one.request.query = lbx__slice_of(PRESIGNED PRESIGNED_SIGNATURE);
    CHECK_INT(LBX__SIGV4_INCOMPLETE, sigv4_check_now(&one));
    one.request.query = lbx__slice_of("X-Amz-Signature=0");
    CHECK_INT(LBX__SIGV4_INCOMPLETE, sigv4_check_now(&one));

    sigv4_prepare(&one, json);
    sigv4_authorize(&one, SCOPE, json->names, json->signature);
    sigv4_add_field(&one, "x-amz-date", DATE);
    CHECK_INT(LBX__SIGV4_INCOMPLETE, sigv4_check_now(&one));
}

TEST(a_scope_of_another_day_or_end_is_a_mismatch)
{
    const struct sigv4_vector *json = (&sigv4_vectors[SIGV4_JSON]);
    static const char *const bad[] = {
        "20150829/us-east-1/sqs/aws4_request",
        "2015083/us-east-1/sqs/aws4_request",
        "20150830/us-east-1/sqs/aws5_request",
        "20150830/us-east-1/sqs/aws4_request/",
        "20150830/us-east-1/sqs/",
        "20150830/eu-west-1/sqs/aws4_request",
        "20150830/us-east-1/sns/aws4_request",
    };

    struct sigv4_signed one;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(LBX__SIGV4_MISMATCH,
                  check_json(bad[i], json->names, json->signature));
    // Whatever the signature is: a key of another day could have made it.
    sigv4_prepare(&one, json);
    sigv4_authorize(&one, bad[0], json->names, json->signature);
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_now(&one));
    CHECK_STR("The credential's day is not that of X-Amz-Date.", one.why);
}

TEST(a_date_that_is_missing_or_no_date_is_a_mismatch)
{
    static const char *const bad[] = {
        "",
        "20150830",
        "20150830T123600",
        "20150830T123600z",
        "20150830 123600Z",
        "20151330T123600Z",
        "20150830T246000Z",
        "2015-08-30T12:36:00Z",
        "Sun, 30 Aug 2015 12:36:00 GMT",
        "2015083\0T123600Z",
    };
    struct sigv4_signed one;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
        sigv4_authorize(&one, SCOPE, (&sigv4_vectors[SIGV4_JSON])->names,
                        (&sigv4_vectors[SIGV4_JSON])->signature);
        one.fields[1].value = lbx__slice_of(bad[i]);
        CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_now(&one));
    }
    sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
    sigv4_authorize(&one, SCOPE, (&sigv4_vectors[SIGV4_JSON])->names,
                    (&sigv4_vectors[SIGV4_JSON])->signature);
    one.fields[1].name = lbx__slice_of("y-amz-date");
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_now(&one));
}

/* Clients that cannot set X-Amz-Date. */
TEST(date_stands_in_for_a_missing_x_amz_date)
{
    static const struct sigv4_vector plain = {.method = "GET", .path = "/"};
    struct sigv4_signed one;
    char text[512];

    sigv4_prepare(&one, &plain);
    one.fields[1].name = lbx__slice_of("date");
    CHECK_OK(lbx__sigv4_sign(
        &one.request,
        &(lbx__sigv4_signer){KEY, SECRET, "us-east-1", "sqs", DATE}, NULL, text,
        sizeof(text)));
    sigv4_add_field(&one, "authorization", text);
    CHECK_INT(LBX__SIGV4_OK, sigv4_check_now(&one));
}

TEST(a_list_of_signed_fields_has_its_rules)
{
    struct sigv4_signed one;
    static const struct {
        const char *names;
        const char *why;
    } bad[] = {
        {"content-type;x-amz-date;x-amz-target;x-amzn-query-mode", "Host"},
        {"content-type;host;x-amz-date;x-amzn-query-mode", "X-Amz-*"},
        {"content-type;host;x-amz-target;x-amz-date;x-amzn-query-mode",
         "sorted"},
        {"content-type;host;host;x-amz-date;x-amz-target", "sorted"},
        {"content-type;host;none;x-amz-date;x-amz-target", "not sent"},
        {"Content-Type;host;x-amz-date;x-amz-target", "not sent"},
        {";host;x-amz-date;x-amz-target", "not sent"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        sigv4_prepare(&one, (&sigv4_vectors[SIGV4_JSON]));
        sigv4_authorize(&one, SCOPE, bad[i].names,
                        (&sigv4_vectors[SIGV4_JSON])->signature);
        CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_now(&one));
        CHECK(strstr(one.why, bad[i].why));
    }
}

/* x-amzn-trace-id is what proxies add. */
TEST(only_fields_of_x_amz_must_be_signed)
{
    const struct sigv4_vector *json = (&sigv4_vectors[SIGV4_JSON]);
    struct sigv4_signed one;

    sigv4_prepare(&one, json);
    sigv4_authorize(&one, SCOPE, json->names, json->signature);
    sigv4_add_field(&one, "x-amzn-trace-id", "Root=1");
    sigv4_add_field(&one, "accept", "*");
    CHECK_INT(LBX__SIGV4_OK, sigv4_check_now(&one));
    sigv4_add_field(&one, "x-amz-user-agent", "x");
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_now(&one));
    CHECK(strstr(one.why, "X-Amz-*"));
}

TEST(a_request_that_was_changed_is_a_mismatch)
{
    const struct sigv4_vector *json = (&sigv4_vectors[SIGV4_JSON]);
    struct sigv4_signed one;

    for (int i = 0; i < 6; i++) {
        sigv4_prepare(&one, json);
        sigv4_authorize(&one, SCOPE, json->names, json->signature);
        if (i == 1)
            one.request.body = lbx__slice_of("{}");
        else if (i == 2)
            one.request.path = lbx__slice_of("/x");
        else if (i == 3)
            one.request.method = lbx__slice_of("PUT");
        else if (i == 4)
            one.request.query = lbx__slice_of("a=1");
        else if (i == 5)
            one.fields[0].value = lbx__slice_of("example.org");
        CHECK_INT(i == 0 ? LBX__SIGV4_OK : LBX__SIGV4_MISMATCH,
                  sigv4_check_now(&one));
    }
    one.request.query = lbx__slice_of("a=%1");
    CHECK_INT(LBX__SIGV4_MISMATCH, sigv4_check_now(&one));
}

/* SIGV4-1 */
TEST(a_hash_of_the_body_that_is_sent_must_be_right)
{
    static const char *const hashes[] = {
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        "2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824",
        "UNSIGNED-PAYLOAD",
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        "",
    };

    for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        const struct sigv4_vector hello = {
            .method = "POST",
            .path = "/",
            .body = "hello",
            .fields = {{"x-amz-content-sha256", hashes[i]}}};
        struct sigv4_signed one;
        char text[512];

        sigv4_prepare(&one, &hello);
        CHECK_OK(lbx__sigv4_sign(
            &one.request,
            &(lbx__sigv4_signer){KEY, SECRET, "us-east-1", "sqs", DATE}, NULL,
            text, sizeof(text)));
        sigv4_add_field(&one, "authorization", text);
        CHECK_INT(i == 0 ? LBX__SIGV4_OK : LBX__SIGV4_MISMATCH,
                  sigv4_check_now(&one));
    }
}

TEST(a_signature_is_valid_for_fifteen_minutes)
{
    const struct sigv4_vector *json = (&sigv4_vectors[SIGV4_JSON]);
    struct sigv4_signed one;

    sigv4_prepare(&one, json);
    sigv4_authorize(&one, SCOPE, json->names, json->signature);
    CHECK_INT(LBX__SIGV4_OK,
              sigv4_check_at(&one, SECRET, DATE_S + MINUTES(15)));
    CHECK_INT(LBX__SIGV4_OK,
              sigv4_check_at(&one, SECRET, DATE_S - MINUTES(15)));
    CHECK_INT(LBX__SIGV4_EXPIRED,
              sigv4_check_at(&one, SECRET, DATE_S + MINUTES(15) + 1));
    CHECK_INT(LBX__SIGV4_EXPIRED,
              sigv4_check_at(&one, SECRET, DATE_S - MINUTES(15) - 1));
    CHECK(one.why[0]);
    CHECK_INT(LBX__SIGV4_MISMATCH,
              sigv4_check_at(&one, "another", DATE_S + MINUTES(16)));
}
