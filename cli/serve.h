/* SPDX-License-Identifier: Apache-2.0 */
/* letterbox serve: its options and settings, its keys, and systemd. */
#ifndef LBX_CLI_SERVE_H
#define LBX_CLI_SERVE_H

#include "cli.h"
#include <letterbox/server.h>
#include <letterbox/settings.h>

struct serve_values {
    struct cli_common common;
    const char *config;
    const char *store;
    const char *listen;
    const char *region;
    const char *account;
    const char *url;
    const char *keys;
    const char *tls_certificate;
    const char *tls_key;
    int64_t threads;
    int64_t max_connections;
    int64_t max_connections_per_address;
    int64_t max_requests_per_second;
    int64_t max_memory;
    int64_t max_polls;
    int64_t max_log_lines;
    int64_t request_timeout_ns;
    int64_t write_timeout_ns;
    int64_t idle_timeout_ns;
    int64_t max_in_flight;
    int level;
    bool trust_forwarded;
    bool insecure;
    bool quick_purge;
    bool quick_create;
    bool open_metrics;
    bool log_requests;
    bool no_sandbox;
    bool quiet;
};

/* Keys; the texts of those from a file are in `text`. */
struct serve_keys {
    lbx_server_key *items;
    size_t count;
    char *text;
    size_t text_bytes;
};

/* The table of options; a row without a name ends it. */
extern const struct cli_option serve_options[];

/* Reads the settings file, the environment and the command line into `values`,
 * whose texts live as long as `ret`, which is the caller's; NULL: there is no
 * settings file. CLI_RUN, or the exit code after a complaint. */
int serve_values_read(struct cli_call *call, struct serve_values *values,
                      lbx_settings **ret);

/* The next option after `after`, NULL for the first, whose values differ and
 * that cannot change while a server runs; NULL: there is none. */
const struct cli_option *
serve_values_next_fixed(const struct serve_values *running,
                        const struct serve_values *next,
                        const struct cli_option *after);

/* NULL for an account; else what is allowed. */
const char *serve_allowed_account(const char *text);

/* Reads the keys of a file and of the settings; each may be NULL. Only their
 * owner may be able to read what has keys. The settings must outlive them.
 * CLI_OK, or the exit code after a complaint with file and line. */
int serve_keys_read(struct serve_keys *keys, const char *path,
                    const lbx_settings *settings);
void serve_keys_free(struct serve_keys *keys);

/* Reads letterbox.server of a settings file into the values, by the table of
 * options, and checks the queues that it declares. Texts live as long as
 * `ret`, which is the caller's. CLI_RUN, or the exit code after a complaint. */
int serve_config_read(const char *path, struct serve_values *values,
                      lbx_settings **ret);

/* Where queues are declared. */
struct serve_queues {
    const struct serve_values *values;
    lbx_store *store;
    lbx_server *server; /* NULL: it is not started yet */
};

/* Creates the queues that the settings declare; NULL: none. */
int serve_config_declare(const lbx_settings *settings,
                         const struct serve_queues *where);

/* Gives up what a server does not need, before it has opened anything. */
void serve_sandbox(const struct serve_values *values,
                   void (*log)(void *context, const char *line));

/* The part of it that is about system calls. False: the kernel cannot. */
bool serve_seccomp(void);

/* Notifies systemd, if it has started this: "READY=1". */
void serve_notify(const char *state);
void serve_notify_reloading(void);

/* "fd:3" if systemd has passed a socket, else the usual address. */
const char *serve_passed_socket(void);

#endif
