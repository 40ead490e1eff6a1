/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letterbox serve: a store as SQS, until a signal ends it.
 *
 * SERVE-1  SIGTERM, SIGINT and the end of its terminal end it with 0 after
 *          every answer was sent; a second signal ends it at once.
 * SERVE-2  SIGHUP reads the settings, the keys and the files of TLS again. A
 *          mistake in one of them is reported, and changes nothing; what
 *          cannot change while the server runs is named.
 * SERVE-3  One process serves a folder: a second one would not know the
 *          rules of 60 seconds and the move tasks of the first.
 */
#include "serve.h"
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <letterbox/server.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

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

/* ---- Reload ---- */

/* A daemon that is running, and what it was started with. */
struct daemon {
    struct cli_call *call;
    struct serve_values values;
    lbx_settings *settings; /* values point into it; NULL: none */
    lbx_store *store;
    lbx_server *server;
};

__attribute__((format(printf, 1, 2))) static void
serve_log_format(const char *format, ...)
{
    char line[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    serve_log(NULL, line);
}

/* With the running values: max-in-flight waits for the next start. */
static int
serve_declare(const struct daemon *daemon, const lbx_settings *settings)
{
    const struct serve_queues where = {
        .values = &daemon->values,
        .store = daemon->store,
        .server = daemon->server,
    };

    return serve_config_declare(settings, &where);
}

static int
reload_server(const struct daemon *daemon, const struct serve_values *next,
              const lbx_settings *settings)
{
    struct serve_keys keys = {.count = 0};
    lbx_fault fault;
    lbx_status status;
    int code = serve_keys_read(&keys, next->keys, settings);

    if (code != CLI_OK)
        return code;
    status = lbx_server_reload(daemon->server, keys.items, keys.count, &fault);
    serve_keys_free(&keys);
    if (status != LBX_OK)
        return cli_complain_status(status, &fault, "reload");
    return CLI_OK;
}

/* SERVE-2: everything is read and checked before the first change. */
static void
serve_reload(const struct daemon *daemon)
{
    const struct cli_option *fixed = NULL;
    struct serve_values next;
    lbx_settings *settings;

    if (serve_values_read(daemon->call, &next, &settings) != CLI_RUN) {
        serve_log(NULL, "reload: nothing was changed");
        return;
    }
    if (reload_server(daemon, &next, settings) != CLI_OK) {
        serve_log(NULL, "reload: nothing was changed");
        lbx_settings_unref(settings);
        return;
    }
    lbx_server_log_requests(daemon->server, next.log_requests);
    if (serve_declare(daemon, settings) != CLI_OK)
        serve_log(NULL, "reload: this queue, and those declared below it, "
                        "were not changed");
    while ((fixed = serve_values_next_fixed(&daemon->values, &next, fixed)))
        serve_log_format("reload: %s changes with the next start, not before",
                         fixed->name);
    serve_log(NULL, "reload: settings, keys and certificates were read");
    lbx_settings_unref(settings);
}

/* A terminal that is closed sends SIGHUP too: then the server must end, for
 * no terminal is left from which it could be ended. */
static bool
serve_terminal_is_closed(void)
{
    struct termios unused;

    return tcgetattr(STDIN_FILENO, &unused) != 0 && errno == EIO;
}

static void
serve_until_signal(const struct daemon *daemon, int signals)
{
    sigset_t set;

    for (;;) {
        struct pollfd ready = {.fd = signals, .events = POLLIN};
        int signal_number;

        if (poll(&ready, 1, -1) < 0)
            continue;
        signal_number = cli_signals_take(signals);
        if (signal_number == SIGHUP && !serve_terminal_is_closed()) {
            serve_notify_reloading();
            serve_reload(daemon);
            serve_notify("READY=1");
        } else if (signal_number != 0)
            break;
    }
    // SERVE-1: a second signal ends the program as always.
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    serve_notify("STOPPING=1");
    lbx_server_stop(daemon->server);
}

/* ---- Start ---- */

static int
serve_start(struct daemon *daemon, const struct serve_keys *keys)
{
    const struct serve_values *values = &daemon->values;
    lbx_server_options options = LBX_SERVER_OPTIONS_INIT;
    lbx_fault fault;
    lbx_status status;

    options.fault = &fault;
    options.store = daemon->store;
    options.listen = values->listen;
    options.threads = (uint32_t)values->threads;
    options.region = values->region;
    options.account = values->account;
    options.url = values->url;
    options.trust_forwarded = values->trust_forwarded;
    options.keys = keys->items;
    options.key_count = keys->count;
    options.insecure = values->insecure;
    options.open_metrics = values->open_metrics;
    options.tls_certificate = values->tls_certificate;
    options.tls_key = values->tls_key;
    options.max_connections = (uint32_t)values->max_connections;
    options.max_connections_per_address =
        (uint32_t)values->max_connections_per_address;
    options.max_requests_per_second = (uint32_t)values->max_requests_per_second;
    options.max_held_bytes = (size_t)values->max_memory;
    options.max_polls = (uint32_t)values->max_polls;
    options.max_log_lines = (uint32_t)values->max_log_lines;
    options.request_timeout_ns = values->request_timeout_ns;
    options.write_timeout_ns = values->write_timeout_ns;
    options.idle_timeout_ns = values->idle_timeout_ns;
    options.max_leased = values->max_in_flight;
    options.quick_purge = values->quick_purge;
    options.quick_create = values->quick_create;
    options.log = serve_log;
    options.log_requests = values->log_requests;
    status = lbx_server_start(&options, &daemon->server);
    if (status == LBX_OK)
        return CLI_OK;
    (void)cli_complain_status(status, &fault, "serve");
    if (status == LBX_EXISTS)
        cli_complain("use that process, stop it, or give another --listen "
                     "ADDRESS; with port 0, one is chosen");
    return cli_exit_of(status);
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

/* SERVE-3: locks the folder of the store, until the process ends. The store
 * itself can be shared, by processes that take part in its rules. */
static int
serve_claim(const struct serve_values *values, int *ret_fd)
{
    char folder[CLI_URL_BYTES];

    *ret_fd = -1;
    if (strncmp(values->store, "file:", 5) != 0)
        return CLI_OK;
    if (cli_target_folder(values->store, false, folder) != CLI_OK)
        return CLI_USAGE;
    *ret_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // A file system that cannot lock folders does not keep a second one out.
    if (*ret_fd < 0 || flock(*ret_fd, LOCK_EX | LOCK_NB) == 0 ||
        errno != EWOULDBLOCK)
        return CLI_OK;
    close(*ret_fd);
    cli_complain("%s is being served by another process: use that one, stop "
                 "it, or serve another --store",
                 values->store);
    return CLI_TEMPORARY;
}

/* Serves the open store. */
static int
serve_store(struct daemon *daemon, int signals)
{
    struct serve_keys keys = {.count = 0};
    int folder = -1;
    int code = serve_claim(&daemon->values, &folder);

    if (code == CLI_OK)
        code = serve_keys_read(&keys, daemon->values.keys, daemon->settings);
    if (code == CLI_OK)
        code = serve_declare(daemon, daemon->settings);
    if (code == CLI_OK)
        code = serve_start(daemon, &keys);
    serve_keys_free(&keys);
    if (code == CLI_OK) {
        serve_greet(&daemon->values, lbx_server_address(daemon->server));
        serve_notify("READY=1");
        serve_until_signal(daemon, signals);
    }
    if (folder >= 0)
        close(folder);
    return code;
}

static int
serve_daemon(struct daemon *daemon)
{
    int signals = cli_signals_open();
    int code;

    if (signals < 0) {
        cli_complain("signals cannot be awaited");
        return CLI_FAILED;
    }
    serve_raise_limits();
    if (!daemon->values.no_sandbox)
        serve_sandbox(&daemon->values, serve_log);
    code = serve_open_store(&daemon->values, &daemon->store);
    if (code == CLI_OK) {
        code = serve_store(daemon, signals);
        lbx_store_unref(daemon->store);
    }
    close(signals);
    return code;
}

static int
serve_run(struct cli_call *call)
{
    struct daemon daemon = {.call = call};
    int code = serve_values_read(call, &daemon.values, &daemon.settings);

    if (code == CLI_RUN)
        code = serve_daemon(&daemon);
    lbx_settings_unref(daemon.settings);
    return code;
}

const struct cli_command cli_serve_command = {
    .name = "serve",
    .arguments = "",
    .summary = "serve a store as SQS, for any AWS SDK",
    .details =
        "Serves a store at an address that any AWS SDK can be given as its "
        "endpoint, until SIGTERM or SIGINT. SIGHUP reads the settings, the "
        "keys and the certificates again.\n\n"
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
            ("letterbox serve --listen 0.0.0.0:443 --keys keys.txt "
             "--tls-certificate chain.pem --tls-key key.pem"),
            NULL},
    .run = serve_run,
};
