/* SPDX-License-Identifier: Apache-2.0 */
/* letterbox serve: its options, keys from a file, and systemd. */
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
    int64_t max_in_flight;
    int level;
    bool trust_forwarded;
    bool insecure;
    bool quick_purge;
    bool quick_create;
    bool log_requests;
    bool no_sandbox;
    bool quiet;
};

/* Keys that were read from a file; their texts are in `text`. */
struct serve_keys {
    lbx_server_key *items;
    size_t count;
    char *text;
    size_t text_bytes;
};

/* Reads a file of keys, which only its owner may read. CLI_OK, or the exit
 * code after a complaint with file and line. */
int serve_keys_read(struct serve_keys *keys, const char *path);
void serve_keys_free(struct serve_keys *keys);

/* Reads letterbox.server of a settings file into the values, by the table of
 * options. Texts live as long as `ret`, which is the caller's. CLI_OK, or the
 * exit code after a complaint. */
int serve_config_read(const char *path, const struct cli_option *options,
                      struct serve_values *values, lbx_settings **ret);

/* Creates the queues that the settings declare; NULL: none. */
int serve_config_declare(const lbx_settings *settings,
                         const struct serve_values *values, lbx_store *store);

/* Gives up what a server does not need, before it has opened anything. */
void serve_sandbox(const struct serve_values *values,
                   void (*log)(void *context, const char *line));

/* Tells systemd, if it has started this: "READY=1". */
void serve_notify(const char *state);

/* "fd:3" if systemd has passed a socket, else the usual address. */
const char *serve_passed_socket(void);

#endif
