/* SPDX-License-Identifier: Apache-2.0 */
/* What a server can be started with. */
#include "server/server.h"

#include "base/fault.h"
#include "net/address.h"

#include <string.h>
#include <sys/socket.h>

lbx_status
lbx__server_check_home(const lbx_server_options *options, lbx__world *ret)
{
    lbx__slice account = lbx__slice_of(options->account);
    lbx__slice region = lbx__slice_of(options->region);

    if (!lbx__gate_is_account(account))
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "account: it must have 12 digits");
    if (!lbx__gate_is_region(region))
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "region: 1 to %d lower-case letters, digits and "
                              "hyphens, as in us-east-1",
                              LBX__REGION_BYTES - 1);
    memcpy(ret->account, account.bytes, account.size + 1);
    memcpy(ret->region, region.bytes, region.size + 1);
    return LBX_OK;
}

/* Whether only this machine can connect; false for what is no socket. */
static bool
server_is_local(const lbx__address *address)
{
    struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(bound);

    if (address->kind != LBX__ADDRESS_FD)
        return lbx__address_is_local(&address->socket);
    return getsockname(address->fd, (struct sockaddr *)&bound, &size) == 0 &&
           lbx__address_is_local(&bound);
}

static lbx_status
server_check_timeouts(const lbx_server_options *options)
{
    const struct {
        const char *name;
        int64_t ns;
    } rows[] = {
        {"request_timeout_ns", options->request_timeout_ns},
        {"write_timeout_ns", options->write_timeout_ns},
        {"idle_timeout_ns", options->idle_timeout_ns},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].ns < LBX_MS)
            return lbx__fault_set(options->fault, LBX_INVALID,
                                  "%s is %lld; %lld, a millisecond, or more is "
                                  "allowed",
                                  rows[i].name, (long long)rows[i].ns,
                                  (long long)LBX_MS);
    }
    return LBX_OK;
}

lbx_status
lbx__server_check_options(const lbx_server_options *options)
{
    lbx__address address;
    lbx_status status;

    if (!options->store)
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "store: there is none");
    if (!options->listen || !options->listen[0])
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "listen: there is no address; 127.0.0.1:9324 is "
                              "one");
    if (!options->tls_certificate != !options->tls_key)
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "TLS needs both files, a certificate and its "
                              "key");
    if (options->max_leased < 1)
        return lbx__fault_set(options->fault, LBX_INVALID,
                              "max_leased is %lld; 1 or more is allowed",
                              (long long)options->max_leased);
    status = lbx__address_parse(options->listen, &address, options->fault);
    if (status != LBX_OK)
        return status;
    status = server_check_timeouts(options);
    if (status != LBX_OK)
        return status;
    if (options->key_count == 0 && !options->insecure &&
        !server_is_local(&address))
        return lbx__fault_set(options->fault, LBX_DENIED,
                              "%s can be reached by others, and there are no "
                              "keys: anybody could read and delete every "
                              "message. Add keys, listen on 127.0.0.1, or say "
                              "that it is meant (insecure)",
                              options->listen);
    return LBX_OK;
}
