/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options of letterbox serve, and what texts they allow. */
#include "serve.h"

#include <string.h>

/* ---- What texts are allowed ---- */

static const char *
allowed_store(const char *text)
{
    return cli_target_has_scheme(text) ? NULL : "file:DIR or memory:";
}

static bool
text_is_number(const char *text, int64_t most)
{
    int64_t number;

    return cli_read_number(text, &number) && number <= most;
}

/* The host is left to the library. */
static const char *
allowed_listen(const char *text)
{
    const char *colon = strrchr(text, ':');
    bool is_good = colon && colon > text && text_is_number(colon + 1, 65535);

    if (strncmp(text, "unix:", 5) == 0)
        is_good = text[5] != '\0';
    return is_good ? NULL
                   : "127.0.0.1:9324 or another address and port, "
                     "[::1]:9324, unix:PATH or fd:NUMBER";
}

static const char *
allowed_region(const char *text)
{
    const size_t size = strlen(text);
    const bool is_good =
        size >= 1 && size <= 18 &&
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == size;

    return is_good ? NULL
                   : "1 to 18 lower-case letters, digits and hyphens, as "
                     "us-east-1";
}

const char *
serve_allowed_account(const char *text)
{
    return strlen(text) == 12 && strspn(text, "0123456789") == 12 ? NULL
                                                                  : "12 digits";
}

/* Queue URLs are this, a slash, an account, a slash and a name. */
static const char *
allowed_url(const char *text)
{
    const char *host = strstr(text, "://");
    const bool is_good = (strncmp(text, "http://", 7) == 0 ||
                          strncmp(text, "https://", 8) == 0) &&
                         host[3] != '\0' && text[strlen(text) - 1] != '/' &&
                         !strpbrk(text, " ?#");

    return is_good ? NULL
                   : "http://HOST or https://HOST, also with a port and a "
                     "path, without a slash at the end";
}

/* ---- The table ---- */

#define OFFSET(member) offsetof(struct serve_values, member)

/* Of a timeout; longer is none. */
#define TIMEOUT_MOST (86400 * LBX_SECOND)

static const char *const serve_levels[] = {"sync", "interval", "process", NULL};

const struct cli_option serve_options[] = {
    {.name = "config",
     .letter = 'c',
     .kind = CLI_TEXT,
     .offset = OFFSET(config),
     .argument = "FILE",
     .help = "settings: these options, keys and queues; see "
             "letterbox.conf(5)"},
    {.name = "store",
     .letter = 's',
     .kind = CLI_TEXT,
     .offset = OFFSET(store),
     .allowed = allowed_store,
     .argument = "URL",
     .help = "where messages are kept: file:DIR or memory: "
             "(file:letterbox-data)"},
    {.name = "listen",
     .letter = 'l',
     .kind = CLI_TEXT,
     .offset = OFFSET(listen),
     .allowed = allowed_listen,
     .argument = "ADDRESS",
     .help = "127.0.0.1:9324, [::1]:9324, unix:/run/sqs.sock, fd:3; port 0: "
             "one is chosen (127.0.0.1:9324)"},
    {.name = "durability",
     .kind = CLI_CHOICE,
     .offset = OFFSET(level),
     .argument = "LEVEL",
     .choices = serve_levels,
     .help = "of file: what an answer survives: sync, a power cut; interval, "
             "one but for the last 100 ms; process, kill -9 (sync)"},
    {.name = "region",
     .kind = CLI_TEXT,
     .offset = OFFSET(region),
     .allowed = allowed_region,
     .argument = "NAME",
     .help = "home region: its queues are the boxes of the store "
             "(us-east-1)"},
    {.name = "account",
     .kind = CLI_TEXT,
     .offset = OFFSET(account),
     .allowed = serve_allowed_account,
     .argument = "DIGITS",
     .help = "home account, likewise: 12 digits (000000000000)"},
    {.name = "url",
     .kind = CLI_TEXT,
     .offset = OFFSET(url),
     .allowed = allowed_url,
     .argument = "URL",
     .help = "what queue URLs begin with (the Host of each request)"},
    {.name = "trust-forwarded",
     .kind = CLI_FLAG,
     .offset = OFFSET(trust_forwarded),
     .help = "behind a proxy: X-Forwarded-Host and -Proto count"},
    {.name = "keys",
     .letter = 'k',
     .kind = CLI_TEXT,
     .offset = OFFSET(keys),
     .argument = "FILE",
     .help = "access keys; requests must be signed by one of them. A line "
             "each: ACCESS-KEY SECRET [ACCOUNT [TOKEN]]"},
    {.name = "insecure",
     .kind = CLI_FLAG,
     .offset = OFFSET(insecure),
     .help = "without keys, listen also where others can connect"},
    {.name = "open-metrics",
     .kind = CLI_FLAG,
     .offset = OFFSET(open_metrics),
     .help = "with keys, /metrics needs none: Prometheus cannot sign"},
    {.name = "tls-certificate",
     .kind = CLI_TEXT,
     .offset = OFFSET(tls_certificate),
     .argument = "FILE",
     .help = "speak TLS, with this certificate chain (PEM)"},
    {.name = "tls-key",
     .kind = CLI_TEXT,
     .offset = OFFSET(tls_key),
     .argument = "FILE",
     .help = "the private key of that certificate (PEM)"},
    {.name = "threads",
     .letter = 't',
     .kind = CLI_NUMBER,
     .offset = OFFSET(threads),
     .argument = "NUMBER",
     .least = 1,
     .most = 64,
     .help = "event loops (one per processor)"},
    {.name = "max-connections",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_connections),
     .argument = "NUMBER",
     .least = 1,
     .most = 1000000,
     .help = "open at once; more are refused (10000)"},
    {.name = "max-connections-per-address",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_connections_per_address),
     .argument = "NUMBER",
     .least = 0,
     .most = 1000000,
     .help = "the same for each remote address, not for this machine; 0: no "
             "limit (1000)"},
    {.name = "max-requests-per-second",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_requests_per_second),
     .argument = "NUMBER",
     .least = 0,
     .most = 1000000,
     .help = "of one address; more are refused with RequestThrottled; 0: no "
             "limit (0)"},
    {.name = "max-memory",
     .kind = CLI_SIZE,
     .offset = OFFSET(max_memory),
     .argument = "SIZE",
     .least = 0,
     .most = INT64_MAX,
     .help = "for requests and answers that are under way; more requests are "
             "refused with ServiceUnavailable; 0: no limit (256MiB)"},
    {.name = "max-polls",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_polls),
     .argument = "NUMBER",
     .least = 0,
     .most = 1000000,
     .help = "receives that wait at one queue; more are refused with "
             "RequestThrottled; 0: no limit (5000)"},
    {.name = "request-timeout",
     .kind = CLI_DURATION,
     .offset = OFFSET(request_timeout_ns),
     .argument = "DURATION",
     .least = LBX_MS,
     .most = TIMEOUT_MOST,
     .help = "for the head of a request, and for a body that comes slower than "
             "1 KiB a second; 1ms to 1d, as the other two (10s)"},
    {.name = "write-timeout",
     .kind = CLI_DURATION,
     .offset = OFFSET(write_timeout_ns),
     .argument = "DURATION",
     .least = LBX_MS,
     .most = TIMEOUT_MOST,
     .help = "for a client that does not read its answer, or reads it slower "
             "than 1 KiB a second (30s)"},
    {.name = "idle-timeout",
     .kind = CLI_DURATION,
     .offset = OFFSET(idle_timeout_ns),
     .argument = "DURATION",
     .least = LBX_MS,
     .most = TIMEOUT_MOST,
     .help = "for a connection between two requests (60s)"},
    {.name = "max-in-flight",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_in_flight),
     .argument = "NUMBER",
     .least = 1,
     .most = 1000000000,
     .help = "messages of one queue that are received and not deleted; set "
             "when the queue is created (120000)"},
    {.name = "quick-purge",
     .kind = CLI_FLAG,
     .offset = OFFSET(quick_purge),
     .help = "a queue may be purged again within 60 seconds"},
    {.name = "quick-create",
     .kind = CLI_FLAG,
     .offset = OFFSET(quick_create),
     .help = "a queue may be created within 60 seconds of its deletion"},
    {.name = "log-requests",
     .kind = CLI_FLAG,
     .offset = OFFSET(log_requests),
     .help = "a line for each request, without bodies"},
    {.name = "max-log-lines",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_log_lines),
     .argument = "NUMBER",
     .least = 0,
     .most = 1000000,
     .help = "in a second; more are dropped, and one line says how many; 0: "
             "no limit (1000)"},
    {.name = "no-sandbox",
     .kind = CLI_FLAG,
     .offset = OFFSET(no_sandbox),
     .help = "do not restrict the process: for debuggers and sanitizers"},
    {.name = "quiet",
     .letter = 'q',
     .kind = CLI_FLAG,
     .offset = OFFSET(quiet),
     .help = "print nothing at the start"},
    CLI_STORE_OPTIONS(struct serve_values),
    {.name = NULL},
};
