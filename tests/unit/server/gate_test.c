/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, and whose requests are admitted. Signatures themselves have their tests
 * beside sigv4.c. */
#include "server/gate.h"

#include "base/clock.h"
#include "codec/sigv4.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define KEY     "AKIDEXAMPLE"
#define SECRET  "wJalrXUtnFEMI"
#define ACCOUNT "222222222222"

static const lbx__world home = {"000000000000", "us-east-1"};

/* ---- Keys ---- */

static lbx_status
check_key(const char *access_key, const char *secret, const char *account,
          const char *token)
{
    const lbx_server_key key = {access_key, secret, account, token};
    lbx_fault fault = {.text = ""};
    lbx_status status = lbx__gate_check_keys(&key, 1, &fault);

    CHECK((status == LBX_OK) == (fault.text[0] == '\0'));
    CHECK(!secret || strlen(secret) < 8 || !strstr(fault.text, secret));
    return status;
}

/* A text of so many characters, until the next one is made. */
static const char *
text_of(size_t size)
{
    static char text[8192];

    CHECK(size < sizeof(text));
    memset(text, 'k', size);
    text[size] = '\0';
    return text;
}

TEST(keys_have_sizes_and_characters)
{
    CHECK_OK(check_key(KEY, SECRET, NULL, NULL));
    CHECK_OK(check_key("a_-.9", SECRET, ACCOUNT, "t"));
    CHECK_STATUS(LBX_INVALID, check_key(NULL, SECRET, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, check_key("ab", SECRET, NULL, NULL));
    CHECK_OK(check_key("abc", SECRET, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, check_key("a/b/c", SECRET, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, check_key("a b c", SECRET, NULL, NULL));
    CHECK_OK(check_key(text_of(128), SECRET, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, check_key(text_of(129), SECRET, NULL, NULL));
}

TEST(secrets_accounts_and_tokens_have_sizes)
{
    CHECK_STATUS(LBX_INVALID, check_key(KEY, NULL, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, check_key(KEY, text_of(7), NULL, NULL));
    CHECK_OK(check_key(KEY, text_of(8), NULL, NULL));
    CHECK_OK(check_key(KEY, text_of(LBX__SIGV4_SECRET_MAX), NULL, NULL));
    CHECK_STATUS(LBX_INVALID, check_key(KEY, text_of(LBX__SIGV4_SECRET_MAX + 1),
                                        NULL, NULL));
    CHECK_STATUS(LBX_INVALID, check_key(KEY, SECRET, "22222222222", NULL));
    CHECK_STATUS(LBX_INVALID, check_key(KEY, SECRET, "2222222222222", NULL));
    CHECK_STATUS(LBX_INVALID, check_key(KEY, SECRET, "22222222222a", NULL));
    CHECK_STATUS(LBX_INVALID, check_key(KEY, SECRET, NULL, ""));
    CHECK_OK(check_key(KEY, SECRET, NULL, text_of(4095)));
    CHECK_STATUS(LBX_INVALID, check_key(KEY, SECRET, NULL, text_of(4096)));
}

TEST(accounts_and_regions_have_their_characters)
{
    CHECK(lbx__gate_is_account(lbx__slice_of(ACCOUNT)));
    CHECK(!lbx__gate_is_account(lbx__slice_of("")));
    CHECK(!lbx__gate_is_account(lbx__slice_of("AKIDEXAMPLE1")));
    CHECK(lbx__gate_is_region(lbx__slice_of("eu-west-1")));
    CHECK(!lbx__gate_is_region(lbx__slice_of("")));
    CHECK(!lbx__gate_is_region(lbx__slice_of("EU-WEST-1")));
    CHECK(!lbx__gate_is_region(lbx__slice_of("../etc")));
    CHECK(
        lbx__gate_is_region((lbx__slice){text_of(100), LBX__REGION_BYTES - 1}));
    CHECK(!lbx__gate_is_region((lbx__slice){text_of(100), LBX__REGION_BYTES}));
}

/* ---- Requests ---- */

struct signed_request {
    char date[32];
    char authorization[512];
    lbx__http_field fields[3];
    lbx__http_request request;
};

/* A GET of /, signed by this key so many seconds ago. */
static void
sign_before(struct signed_request *made, time_t seconds, const char *access_key,
            const char *secret, const char *region, const char *service)
{
    const time_t now = (time_t)(lbx__clock_wall() / LBX_SECOND) - seconds;
    const lbx__sigv4_signer signer = {access_key, secret, region, service,
                                      made->date};
    lbx__sigv4_request request = {.method = lbx__slice_of("GET"),
                                  .path = lbx__slice_of("/"),
                                  .field_count = 2};
    lbx__sigv4_field fields[2];
    struct tm utc;

    CHECK(gmtime_r(&now, &utc) != NULL);
    CHECK(strftime(made->date, sizeof(made->date), "%Y%m%dT%H%M%SZ", &utc) > 0);
    fields[0].name = lbx__slice_of("host");
    fields[0].value = lbx__slice_of("localhost");
    fields[1].name = lbx__slice_of("x-amz-date");
    fields[1].value = lbx__slice_of(made->date);
    request.fields = fields;
    CHECK_OK(lbx__sigv4_sign(&request, &signer, NULL, made->authorization,
                             sizeof(made->authorization)));
    for (size_t i = 0; i < 2; i++)
        made->fields[i] = (lbx__http_field){fields[i].name, fields[i].value};
    made->fields[2].name = lbx__slice_of("authorization");
    made->fields[2].value = lbx__slice_of(made->authorization);
    made->request = (lbx__http_request){.method = LBX__HTTP_GET,
                                        .method_name = request.method,
                                        .path = request.path,
                                        .fields = made->fields,
                                        .field_count = 3};
}

static void
sign(struct signed_request *made, const char *access_key, const char *secret,
     const char *region, const char *service)
{
    sign_before(made, 0, access_key, secret, region, service);
}

static lbx__sqs_error
admit(lbx__gate *gate, const char *access_key, const char *secret,
      lbx__world *ret)
{
    struct signed_request made;
    const char *text = NULL;
    lbx__sqs_error error;

    sign(&made, access_key, secret, "eu-west-1", "sqs");
    error = lbx__gate_admit(gate, &made.request, ret, &text);
    CHECK((error == LBX__SQS_OK) == !text || error == LBX__SQS_OK);
    return error;
}

TEST(request_acts_for_the_account_of_its_key)
{
    const lbx_server_key keys[] = {{KEY, SECRET, NULL, NULL},
                                   {KEY "2", SECRET "2", ACCOUNT, NULL}};
    lbx__world world;
    lbx__gate gate;

    lbx__gate_init(&gate, NULL, &home);
    CHECK_OK(lbx__gate_set_keys(&gate, keys, 2, NULL));
    CHECK(!lbx__gate_is_open(&gate));
    CHECK_INT(LBX__SQS_OK, admit(&gate, KEY, SECRET, &world));
    CHECK_STR(home.account, world.account);
    CHECK_STR("eu-west-1", world.region);
    CHECK_INT(LBX__SQS_OK, admit(&gate, KEY "2", SECRET "2", &world));
    CHECK_STR(ACCOUNT, world.account);
    CHECK_INT(LBX__SQS_InvalidSignatureException,
              admit(&gate, KEY, SECRET "2", &world));
    CHECK_INT(LBX__SQS_UnrecognizedClientException,
              admit(&gate, KEY "3", SECRET, &world));
    lbx__gate_fini(&gate);
}

TEST(request_of_another_service_is_refused)
{
    const lbx_server_key key = {KEY, SECRET, NULL, NULL};
    struct signed_request made;
    const char *text = NULL;
    lbx__world world;
    lbx__gate gate;

    lbx__gate_init(&gate, NULL, &home);
    CHECK_OK(lbx__gate_set_keys(&gate, &key, 1, NULL));
    sign(&made, KEY, SECRET, "us-east-1", "s3");
    CHECK_INT(LBX__SQS_InvalidSignatureException,
              lbx__gate_admit(&gate, &made.request, &world, &text));
    sign(&made, KEY, SECRET, "us-east-1", "sts");
    CHECK_INT(LBX__SQS_OK,
              lbx__gate_admit(&gate, &made.request, &world, &text));
    made.request.field_count = 2; // without its signature
    CHECK_INT(LBX__SQS_MissingAuthenticationTokenException,
              lbx__gate_admit(&gate, &made.request, &world, &text));
    lbx__gate_fini(&gate);
}

/* A client whose clock is wrong can tell that from a wrong secret. */
TEST(signature_that_has_expired_has_an_error_of_its_own)
{
    const lbx_server_key key = {KEY, SECRET, NULL, NULL};
    struct signed_request made;
    const char *text = NULL;
    lbx__world world;
    lbx__gate gate;

    lbx__gate_init(&gate, NULL, &home);
    CHECK_OK(lbx__gate_set_keys(&gate, &key, 1, NULL));
    sign_before(&made, 3600, KEY, SECRET, "us-east-1", "sqs");
    CHECK_INT(LBX__SQS_RequestExpired,
              lbx__gate_admit(&gate, &made.request, &world, &text));
    CHECK(text && strstr(text, "expired"));
    sign_before(&made, 3600, KEY, SECRET "2", "us-east-1", "sqs");
    CHECK_INT(LBX__SQS_InvalidSignatureException,
              lbx__gate_admit(&gate, &made.request, &world, &text));
    lbx__gate_fini(&gate);
}

/* GATE-2: a server without keys believes what it is told. */
TEST(open_gate_takes_accounts_and_regions_as_they_are_told)
{
    lbx__world world;
    lbx__gate gate;

    lbx__gate_init(&gate, NULL, &home);
    CHECK(lbx__gate_is_open(&gate));
    CHECK_INT(LBX__SQS_OK, admit(&gate, KEY, "whatever", &world));
    CHECK_STR(home.account, world.account);
    CHECK_STR("eu-west-1", world.region);
    CHECK_INT(LBX__SQS_OK, admit(&gate, ACCOUNT, "whatever", &world));
    CHECK_STR(ACCOUNT, world.account);
    lbx__gate_fini(&gate);
}

/* GATE-3: keys that cannot be used leave those that there are. */
TEST(new_keys_take_the_place_of_the_old_ones)
{
    const lbx_server_key old = {KEY, SECRET, NULL, NULL};
    const lbx_server_key new = {KEY, SECRET "2", NULL, NULL};
    const lbx_server_key bad = {KEY, "short", NULL, NULL};
    lbx_fault fault = {.text = ""};
    lbx__world world;
    lbx__gate gate;

    lbx__gate_init(&gate, NULL, &home);
    CHECK_OK(lbx__gate_set_keys(&gate, &old, 1, NULL));
    CHECK_STATUS(LBX_INVALID, lbx__gate_set_keys(&gate, &bad, 1, &fault));
    CHECK(strstr(fault.text, "key 1") != NULL);
    CHECK_INT(LBX__SQS_OK, admit(&gate, KEY, SECRET, &world));
    CHECK_OK(lbx__gate_set_keys(&gate, &new, 1, NULL));
    CHECK_INT(LBX__SQS_OK, admit(&gate, KEY, SECRET "2", &world));
    CHECK_INT(LBX__SQS_InvalidSignatureException,
              admit(&gate, KEY, SECRET, &world));
    lbx__gate_fini(&gate);
}
