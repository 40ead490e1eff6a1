/* SPDX-License-Identifier: Apache-2.0 */
/* URLs and ARNs of queues: what is read, and what is written. */
#include "server/sqs/request.h"
#include "support/test.h"

static const lbx__world world = {"000000000000", "us-east-1"};

/* Checks what a URL means; name NULL: it cannot be a queue. */
static void
check_url(const char *url, const char *account, const char *name)
{
    lbx__world got = {"left", "left"};
    lbx__slice part = {NULL, 0};
    const bool good = lbx__queue_parse_url(lbx__slice_of(url), &got, &part);

    if (good != (name != NULL))
        FAIL("%s: %s", url ? url : "(NULL)", good ? "read" : "refused");
    if (!name)
        return;
    CHECK_STR(account, got.account);
    if (!lbx__slice_is(part, name))
        FAIL("%s: the name is %.*s", url, (int)part.size, part.bytes);
}

TEST(a_url_is_read_by_its_path_in_every_form_that_is_in_use)
{
    check_url("orders", "left", "orders");
    check_url("/orders", "left", "orders");
    check_url("http://localhost:9324/000000000000/orders", "000000000000",
              "orders");
    check_url("https://sqs.us-east-1.amazonaws.com/123456789012/a.fifo",
              "123456789012", "a.fifo");
    check_url("/123456789012/orders", "123456789012", "orders");
    check_url("http://elastic/queue/orders", "left", "orders");
    check_url("/queues/orders", "left", "orders");
    check_url("http://x/queue/eu-west-1/123456789012/orders", "123456789012",
              "orders");
    check_url("http://h/orders", "left", "orders");
    check_url("http://h/123456789012/orders/", "123456789012", "orders");
    check_url("http://h//123456789012//orders", "123456789012", "orders");
    check_url("/eu-west-1/123456789012/orders", "123456789012", "orders");
}

static void
check_region(const char *region, const char *url)
{
    lbx__world got = {"left", "left"};
    lbx__slice name;

    (void)lbx__queue_region_of_url(lbx__slice_of(url), &got);
    (void)lbx__queue_parse_url(lbx__slice_of(url), &got, &name);
    CHECK_STR(region, got.region);
}

TEST(a_region_is_in_the_path_or_in_the_host)
{
    check_region("eu-west-1", "/queue/eu-west-1/123456789012/orders");
    check_region("local", "/queue/local/123456789012/orders");
    check_region("eu-west-1", "/eu-west-1/123456789012/orders");
    check_region("left", "/prefix/123456789012/orders");
    check_region("left", "/prefix-1/123456789012/orders");
    check_region("left", "http://localhost:9324/123456789012/orders");
    check_region("eu-west-1", "https://sqs.eu-west-1.amazonaws.com/1/orders");
    check_region("us-gov-west-1", "https://sqs-fips.us-gov-west-1.x:1/orders");
    check_region("eu-north-1", "http://eu-north-1.queue.localhost:4566/orders");
    check_region("left", "http://queue.localhost:4566/123456789012/orders");
    check_region("left", "http://sqs.localhost/123456789012/orders");
    check_region("eu-west-1", "http://sqs.eu-west-1:9324/orders");
    check_region("left", "http://sqs.north-/orders");
    check_region("left", "http://sqs.eu-west-1000000000000000.x/orders");
    check_region("left", "sqs.eu-west-1.amazonaws.com");
    check_region("left", "http://");
}

TEST(a_url_that_cannot_be_a_queue_is_refused)
{
    check_url(NULL, NULL, NULL);
    check_url("", NULL, NULL);
    check_url("/", NULL, NULL);
    check_url("http://whatever", NULL, NULL);
    check_url("http://whatever/", NULL, NULL);
    check_url("http://h/12345678901/orders", NULL, NULL);
    check_url("http://h/1234567890123/orders", NULL, NULL);
    check_url("http://h/12345678901x/orders", NULL, NULL);
    check_url("http://h/other/orders", NULL, NULL);
    check_url("http://h/a/12345678901/orders", NULL, NULL);
    check_url("/queue/eu/12345678901/orders", NULL, NULL);
    check_url("/queue/eu/123456789012/x/orders", NULL, NULL);
    check_url("two words", NULL, NULL);
    check_url("\x7f", NULL, NULL);
    check_url("h\xc3\xbc", NULL, NULL);
}

TEST(a_name_is_at_most_as_long_as_that_of_a_box)
{
    char name[LBX_BOX_NAME_BYTES + 1];

    memset(name, 'x', sizeof(name));
    name[LBX_BOX_NAME_BYTES] = '\0';
    check_url(name, NULL, NULL);
    name[LBX_BOX_NAME_BYTES - 1] = '\0';
    check_url(name, "left", name);
}

TEST(an_arn_names_a_queue_of_its_own_world_only)
{
    char arn[LBX__ARN_BYTES];
    lbx__slice name;

    CHECK_STR("arn:aws:sqs:us-east-1:000000000000:orders",
              lbx__queue_arn(&world, "orders", arn));
    name = lbx__queue_name_of_arn(&world, lbx__slice_of(arn));
    CHECK(lbx__slice_is(name, "orders"));
    CHECK(!lbx__queue_name_of_arn(&world, lbx__slice_of(NULL)).bytes);
#define NONE(text)                                                             \
    CHECK(!lbx__queue_name_of_arn(&world, lbx__slice_of(text)).bytes)
    NONE("arn:aws:sqs:us-east-2:000000000000:orders");
    NONE("arn:aws:sqs:us-east-1:000000000001:orders");
    NONE("arn:aws:sns:us-east-1:000000000000:orders");
    NONE("arn:aws:sqs:us-east-1:000000000000:");
    NONE("arn:aws:sqs:us-east-1:000000000000:a/b");
    NONE("orders");
    NONE("");
#undef NONE
}

/* ---- Writing ---- */

struct writing {
    lbx__sqs sqs;
    lbx__http_exchange exchange;
    lbx__http_field fields[2];
    lbx__request request;
};

static void
check_written(struct writing *writing, const char *expected)
{
    lbx_buffer out;

    writing->request.sqs = &writing->sqs;
    writing->request.exchange = &writing->exchange;
    writing->request.world = world;
    writing->exchange.request.fields = writing->fields;
    lbx__buffer_init(&out, NULL, 1024);
    lbx__queue_url(&writing->request, "orders", &out);
    CHECK_OK(out.status);
    CHECK_STR(expected, out.bytes);
    lbx__buffer_fini(&out);
}

static void
writing_init(struct writing *writing, const char *host)
{
    memset(writing, 0, sizeof(*writing));
    writing->exchange.request.host = lbx__slice_of(host);
}

TEST(a_url_is_written_with_the_host_of_the_request)
{
    struct writing writing;

    writing_init(&writing, "queue.shop:9324");
    check_written(&writing, "http://queue.shop:9324/000000000000/orders");
    writing.exchange.request.is_secure = true;
    check_written(&writing, "https://queue.shop:9324/000000000000/orders");
    writing_init(&writing, NULL); // HTTP/1.0
    check_written(&writing, "http://localhost/000000000000/orders");
}

TEST(a_url_that_is_set_counts_more_than_the_host)
{
    struct writing writing;

    writing_init(&writing, "queue.shop:9324");
    writing.sqs.url = "https://q.example";
    check_written(&writing, "https://q.example/000000000000/orders");
    writing.sqs.url = "https://q.example/";
    check_written(&writing, "https://q.example/000000000000/orders");
}

TEST(forwarded_fields_count_only_when_they_are_trusted)
{
    struct writing writing;

    writing_init(&writing, "inside:1");
    writing.fields[0] = (lbx__http_field){lbx__slice_of("x-forwarded-host"),
                                          lbx__slice_of("outside, inside")};
    writing.fields[1] = (lbx__http_field){lbx__slice_of("x-forwarded-proto"),
                                          lbx__slice_of("https")};
    writing.exchange.request.field_count = 2;
    check_written(&writing, "http://inside:1/000000000000/orders");
    writing.sqs.trusts_forwarded = true;
    check_written(&writing, "https://outside/000000000000/orders");
    writing.fields[0].value = lbx__slice_of("[::1]:8443");
    check_written(&writing, "https://[::1]:8443/000000000000/orders");
    // What no host has is not repeated to others.
    writing.fields[0].value = lbx__slice_of("a/\"b");
    check_written(&writing, "https://inside:1/000000000000/orders");
    writing.fields[0].value = lbx__slice_of("");
    check_written(&writing, "https://inside:1/000000000000/orders");
}
