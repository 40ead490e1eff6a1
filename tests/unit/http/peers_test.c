/* SPDX-License-Identifier: Apache-2.0 */
#include "http/peers.h"

#include "net/address.h"
#include "support/test.h"
#include "support/torture.h"

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
