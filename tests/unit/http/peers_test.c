/* SPDX-License-Identifier: Apache-2.0 */
#include "http/peers.h"

#include "http/fixture.h"
#include "net/address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static lbx__peer_key
key_of(const char *text)
{
    lbx__address address;

    CHECK_OK(lbx__address_parse(text, &address, NULL));
    return lbx__peers_key(&address.socket);
}

TEST(connections_of_a_peer_are_limited)
{
    TORTURE(memory, allocator);
    lbx__peers peers;
    lbx__peer_key one = key_of("192.0.2.1:1"), two = key_of("192.0.2.2:1");

    lbx__peers_init(&peers, &allocator);
    CHECK(lbx__peers_add(&peers, one, 2));
    CHECK(lbx__peers_add(&peers, one, 2));
    CHECK(!lbx__peers_add(&peers, one, 2));
    CHECK(lbx__peers_add(&peers, two, 2));
    lbx__peers_remove(&peers, one);
    CHECK(lbx__peers_add(&peers, one, 2));
    lbx__peers_remove(&peers, one);
    lbx__peers_remove(&peers, one);
    lbx__peers_fini(&peers); // with `two` still inside
    CHECK_INT(0, memory.live_bytes);
}

TEST(peers_are_told_apart_by_network)
{
    CHECK(key_of("192.0.2.1:1") == key_of("192.0.2.1:2"));
    CHECK(key_of("192.0.2.1:1") != key_of("192.0.2.2:1"));
    CHECK(key_of("192.0.2.1:1") == key_of("[::ffff:192.0.2.1]:1"));
    CHECK(key_of("[2001:db8::1]:1") == key_of("[2001:db8::2]:1"));
    CHECK(key_of("[2001:db8::1]:1") != key_of("[2001:db8:0:1::1]:1"));
    CHECK(key_of("127.0.0.1:1") == 0);
    CHECK(key_of("[::1]:1") == 0);
    CHECK(key_of("unix:/a") == 0);
}

/* An address of this machine that is not loopback. False: there is none. */
static bool
find_own_address(struct sockaddr_in *ret)
{
    struct ifaddrs *all, *one;
    bool found = false;

    if (getifaddrs(&all) != 0)
        return false;
    for (one = all; one && !found; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET ||
            (one->ifa_flags & IFF_LOOPBACK) || !(one->ifa_flags & IFF_UP))
            continue;
        memcpy(ret, one->ifa_addr, sizeof(*ret));
        found = true;
    }
    freeifaddrs(all);
    return found;
}

static void
open_from(struct client *client, const struct rig *rig,
          struct sockaddr_in address)
{
    const char *text = lbx__http_address(rig->http);

    address.sin_port =
        htons((uint16_t)strtol(strrchr(text, ':') + 1, NULL, 10));
    client_open_socket(client);
    CHECK(connect(client->fd, (struct sockaddr *)&address, sizeof(address)) ==
          0);
}

/* A connection counts for its peer until it is closed, and no longer. */
TEST(peer_at_its_limit_is_refused_until_it_closes)
{
    struct sockaddr_in address;
    struct rig rig;
    struct client first, more, local;
    lbx__http_counts counts;
    int i;

    if (!find_own_address(&address)) {
        test_note("this machine has no address but loopback");
        return;
    }
    rig_init(&rig);
    rig.options.address = "0.0.0.0:0";
    rig.options.limits.max_connections_per_peer = 1;
    rig_open(&rig);
    for (i = 0; i < 3; i++) {
        open_from(&first, &rig, address);
        client_send(&first, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect(&first, 200);
        open_from(&more, &rig, address);
        client_expect(&more, 503);
        client_close(&more);
        client_open(&local, &rig); // loopback has no limit
        client_send(&local, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect(&local, 200);
        client_close(&local);
        client_close(&first);
        EVENTUALLY((rig_counts(&rig, &counts), counts.connections == 0));
    }
    CHECK_INT(3, counts.refused);
    rig_close(&rig);
}
