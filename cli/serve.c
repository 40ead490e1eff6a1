/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letterbox serve: a store as SQS, until a signal ends it.
 *
 * SERVE-1  SIGTERM and SIGINT end it with 0 after every answer was sent; a
 *          second one ends it at once.
 * SERVE-2  SIGHUP reads the keys and the files of TLS again; what cannot be
 *          used is reported, and the server goes on with what it has.
 */
#include "serve.h"
#include "commands.h"

#include <letterbox/server.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define OFFSET(member) offsetof(struct serve_values, member)

static const char *const serve_levels[] = {"sync", "interval", "process", NULL};

static const struct cli_option serve_options[] = {
    {.name = "config",
     .letter = 'c',
     .kind = CLI_TEXT,
     .offset = OFFSET(config),
     .argument = "FILE",
     .help = "settings: these options, and queues; see letterbox.conf(5)"},
    {.name = "store",
     .letter = 's',
     .kind = CLI_TEXT,
     .offset = OFFSET(store),
     .argument = "URL",
     .help = "where messages are kept: file:DIR or memory: "
             "(file:letterbox-data)"},
    {.name = "listen",
     .letter = 'l',
     .kind = CLI_TEXT,
     .offset = OFFSET(listen),
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
     .argument = "NAME",
     .help = "whose queues are the boxes of the store (us-east-1)"},
    {.name = "account",
     .kind = CLI_TEXT,
     .offset = OFFSET(account),
     .argument = "DIGITS",
     .help = "the same for the account (000000000000)"},
    {.name = "url",
     .kind = CLI_TEXT,
     .offset = OFFSET(url),
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
    {.name = "tls-certificate",
     .kind = CLI_TEXT,
     .offset = OFFSET(tls_certificate),
     .argument = "FILE",
     .help = "speak TLS, with this certificate chain (PEM)"},
    {.name = "tls-key",
     .kind = CLI_TEXT,
     .offset = OFFSET(tls_key),
     .argument = "FILE",
     .help = "and its key"},
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
     .help = "more are refused (10000)"},
    {.name = "max-in-flight",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_in_flight),
     .argument = "NUMBER",
     .least = 1,
     .most = 1000000000,
     .help = "of queues that are created: messages that are received and not "
             "deleted (120000)"},
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
    {.name = "no-sandbox",
     .kind = CLI_FLAG,
     .offset = OFFSET(no_sandbox),
     .help = "keep what the server has no use for: other files, running "
             "programs"},
    {.name = "quiet",
     .letter = 'q',
     .kind = CLI_FLAG,
     .offset = OFFSET(quiet),
     .help = "print nothing at the start"},
    CLI_STORE_OPTIONS(struct serve_values),
    {.name = NULL},
};

static void
serve_log(void *context, const char *line)
{
    struct timespec now;
    struct tm utc;
    char time_text[32];

    (void)context;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(stderr, "%s.%03ldZ %s\n", time_text, now.tv_nsec / 1000000, line);
}

static int
serve_open_store(const struct serve_values *values, lbx_store **ret)
{
    static const lbx_durability levels[] = {LBX_DURABILITY_POWER_CUT,
                                            LBX_DURABILITY_INTERVAL,
                                            LBX_DURABILITY_PROCESS};
    lbx_store_options options = LBX_STORE_OPTIONS_INIT;
    lbx_fault fault;
    lbx_status status;

    options.fault = &fault;
    options.log = serve_log;
    options.busy_ms = values->common.busy_ns / LBX_MS;
    options.group = values->common.group_store;
    if (strncmp(values->store, "memory:", 7) != 0)
        options.durability = levels[values->level];
    status = lbx_store_open(values->store, &options, ret);
    if (status != LBX_OK)
        return cli_complain_status(status, &fault, values->store);
    return CLI_OK;
}

static void
serve_greet(const struct serve_values *values, const char *address)
{
    const char *scheme = values->tls_certificate ? "https" : "http";

    if (values->quiet)
        return;
    printf("letterbox serves %s at %s://%s\n", values->store, scheme, address);
    fflush(stdout);
}

static void
serve_reload(const struct serve_values *values, lbx_server *server)
{
    struct serve_keys keys = {.count = 0};
    lbx_fault fault;

    if (values->keys && serve_keys_read(&keys, values->keys) != CLI_OK)
        return;
    if (lbx_server_reload(server, keys.items, keys.count, &fault) != LBX_OK)
        cli_complain("nothing was reloaded: %s", fault.text);
    else
        serve_log(NULL, "keys and certificates were read again");
    serve_keys_free(&keys);
}

static void
serve_until_signal(const struct serve_values *values, lbx_server *server,
                   int signals)
{
    for (;;) {
        struct pollfd ready = {.fd = signals, .events = POLLIN};
        int signal_number;

        if (poll(&ready, 1, -1) < 0)
            continue;
        signal_number = cli_signals_take(signals);
        if (signal_number == SIGHUP)
            serve_reload(values, server);
        else if (signal_number != 0)
            break;
    }
    // SERVE-1: a second signal ends the program as always.
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    serve_notify("STOPPING=1");
    lbx_server_stop(server);
}

static int
serve_start(const struct serve_values *values, lbx_store *store,
            const struct serve_keys *keys, lbx_server **ret)
{
    lbx_server_options options = LBX_SERVER_OPTIONS_INIT;
    lbx_fault fault;
    lbx_status status;

    options.fault = &fault;
    options.store = store;
    options.listen = values->listen;
    options.threads = (uint32_t)values->threads;
    options.region = values->region;
    options.account = values->account;
    options.url = values->url;
    options.trust_forwarded = values->trust_forwarded;
    options.keys = keys->items;
    options.key_count = keys->count;
    options.insecure = values->insecure;
    options.tls_certificate = values->tls_certificate;
    options.tls_key = values->tls_key;
    options.max_connections = (uint32_t)values->max_connections;
    options.max_leased = values->max_in_flight;
    options.quick_purge = values->quick_purge;
    options.quick_create = values->quick_create;
    options.log = serve_log;
    options.log_requests = values->log_requests;
    status = lbx_server_start(&options, ret);
    if (status != LBX_OK)
        return cli_complain_status(status, &fault, values->listen);
    return CLI_OK;
}

/* As many descriptors as may be had: each connection takes one. */
static void
serve_raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int
serve_store(const struct serve_values *values, const struct serve_keys *keys,
            const lbx_settings *settings)
{
    int signals = cli_signals_open();
    lbx_server *server;
    lbx_store *store;
    int code;

    if (signals < 0) {
        cli_complain("signals cannot be awaited");
        return CLI_FAILED;
    }
    serve_raise_limits();
    if (!values->no_sandbox)
        serve_sandbox(values, serve_log);
    code = serve_open_store(values, &store);
    if (code != CLI_OK)
        return code;
    code = serve_config_declare(settings, values, store);
    if (code == CLI_OK)
        code = serve_start(values, store, keys, &server);
    if (code == CLI_OK) {
        serve_greet(values, lbx_server_address(server));
        serve_notify("READY=1");
        serve_until_signal(values, server, signals);
    }
    lbx_store_unref(store);
    close(signals);
    return code;
}

/* The environment counts more than the settings file, and less than the
 * command line. */
static void
serve_read_environment(struct serve_values *values)
{
    const struct {
        const char *name;
        const char **value;
    } rows[] = {
        {"LETTERBOX_STORE", &values->store},
        {"LETTERBOX_LISTEN", &values->listen},
        {"LETTERBOX_REGION", &values->region},
        {"LETTERBOX_ACCOUNT", &values->account},
        {"LETTERBOX_URL", &values->url},
        {"LETTERBOX_KEYS", &values->keys},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = getenv(rows[i].name);

        if (text && text[0])
            *rows[i].value = text;
    }
}

/* The value of --config, before anything else is read: what it says is
 * overridden by the rest of the line. */
static const char *
serve_find_config(const struct cli_call *call)
{
    for (int i = 1; i < call->argc; i++) {
        const char *word = call->argv[i];

        if (strncmp(word, "--config=", 9) == 0)
            return word + 9;
        if (i + 1 < call->argc &&
            (strcmp(word, "--config") == 0 || strcmp(word, "-c") == 0))
            return call->argv[i + 1];
    }
    return getenv("LETTERBOX_CONFIG");
}

static int
serve_run(struct cli_call *call)
{
    struct serve_values values = {
        .common = CLI_COMMON_INIT,
        .store = "file:letterbox-data",
        .listen = serve_passed_socket(),
        .region = "us-east-1",
        .account = "000000000000",
        .max_connections = 10000,
        .max_in_flight = 120000,
    };
    const char *config = serve_find_config(call);
    struct serve_keys keys = {.count = 0};
    lbx_settings *settings = NULL;
    int code = CLI_OK;

    if (config)
        code = serve_config_read(config, serve_options, &values, &settings);
    serve_read_environment(&values);
    if (code == CLI_OK)
        code = cli_parse(call, &values);
    if (code == CLI_RUN) {
        code = values.keys ? serve_keys_read(&keys, values.keys) : CLI_OK;
        if (code == CLI_OK)
            code = serve_store(&values, &keys, settings);
    }
    serve_keys_free(&keys);
    lbx_settings_unref(settings);
    return code;
}

const struct cli_command cli_serve_command = {
    .name = "serve",
    .arguments = "",
    .summary = "serve a store as SQS, for any AWS SDK",
    .details =
        "Serves a store at an address that any AWS SDK can be given as its "
        "endpoint, until SIGTERM or SIGINT. SIGHUP reads keys and "
        "certificates again.\n\n"
        "The queues of the home account and region are the boxes of the "
        "store: letterbox receive file:DIR/QUEUE gets what an SDK has sent.\n\n"
        "GET /health, GET /metrics (Prometheus), GET "
        "/_aws/sqs/messages?QueueUrl=URL shows messages without receiving "
        "them.\n\n"
        "The environment has defaults: LETTERBOX_CONFIG, LETTERBOX_STORE, "
        "LETTERBOX_LISTEN, "
        "LETTERBOX_REGION, LETTERBOX_ACCOUNT, LETTERBOX_URL, "
        "LETTERBOX_KEYS.",
    .options = serve_options,
    .examples =
        (const char *const[]){
            "on this machine, in a folder", "letterbox serve --store file:data",
            "for tests, in memory, at a port that is free",
            "letterbox serve --store memory: --listen 127.0.0.1:0",
            "for others, with keys and TLS",
            "letterbox serve --listen 0.0.0.0:443 --keys keys.txt "
            "--tls-certificate chain.pem --tls-key key.pem",
            NULL},
    .run = serve_run,
};
