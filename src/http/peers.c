/* SPDX-License-Identifier: Apache-2.0 */
#include "http/peers.h"

#include "base/alloc.h"
#include "codec/random.h"
#include "net/address.h"
#include <netinet/in.h>
#include <string.h>

struct peer_entry {
    lbx__peer_key key;
    uint32_t count;
};

void
lbx__peers_init(lbx__peers *peers, const lbx_allocator *allocator)
{
    memset(peers, 0, sizeof(*peers));
    peers->allocator = allocator;
    // Without random bytes the limit still holds, only more slowly.
    (void)lbx__random(&peers->seed, sizeof(peers->seed));
}

void
lbx__peers_fini(lbx__peers *peers)
{
    struct peer_entry *entry;
    size_t position = 0;

    while ((entry = lbx__map_next(&peers->map, &position)))
        lbx__free(peers->allocator, entry, sizeof(*entry));
    lbx__map_fini(&peers->map, peers->allocator);
}

lbx__peer_key
lbx__peers_network(const struct sockaddr_storage *socket)
{
    const struct sockaddr_in *in = (const void *)socket;
    const struct sockaddr_in6 *in6 = (const void *)socket;
    const uint8_t *bytes = in6->sin6_addr.s6_addr;
    lbx__peer_key key = 0;
    uint32_t address;

    if (socket->ss_family != AF_INET && socket->ss_family != AF_INET6)
        return 0;
    if (socket->ss_family == AF_INET6 &&
        !IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
        memcpy(&key, bytes, sizeof(key));
        return key ? key : 1;
    }
    if (socket->ss_family == AF_INET)
        address = in->sin_addr.s_addr;
    else
        memcpy(&address, bytes + 12, sizeof(address));
    return (lbx__peer_key)1 << 32 | address;
}

lbx__peer_key
lbx__peers_key(const struct sockaddr_storage *socket)
{
    return lbx__address_is_local(socket) ? 0 : lbx__peers_network(socket);
}

static bool
peers_equal(const void *item, const void *key)
{
    const struct peer_entry *entry = item;
    const lbx__peer_key *wanted = key;

    return entry->key == *wanted;
}

static uint64_t
peers_hash(const lbx__peers *peers, lbx__peer_key key)
{
    return lbx__map_hash_word(key ^ peers->seed);
}

static bool
peers_add_first(lbx__peers *peers, lbx__peer_key key)
{
    struct peer_entry *entry;

    if (!lbx__map_reserve(&peers->map, peers->allocator))
        return false;
    entry = lbx__zalloc(peers->allocator, sizeof(*entry));
    if (!entry)
        return false;
    *entry = (struct peer_entry){.key = key, .count = 1};
    lbx__map_add(&peers->map, peers_hash(peers, key), entry);
    return true;
}

bool
lbx__peers_add(lbx__peers *peers, lbx__peer_key key, uint32_t max)
{
    struct peer_entry *entry;
    bool done;

    if (key == 0)
        return true;
    lbx__lock_take(&peers->lock);
    entry =
        lbx__map_find(&peers->map, peers_hash(peers, key), peers_equal, &key);
    if (!entry) {
        done = peers_add_first(peers, key);
    } else {
        done = max == 0 || entry->count < max;
        entry->count += done;
    }
    lbx__lock_give(&peers->lock);
    return done;
}

void
lbx__peers_remove(lbx__peers *peers, lbx__peer_key key)
{
    struct peer_entry *entry;

    if (key == 0)
        return;
    lbx__lock_take(&peers->lock);
    entry =
        lbx__map_find(&peers->map, peers_hash(peers, key), peers_equal, &key);
    if (entry && --entry->count == 0) {
        (void)lbx__map_remove(&peers->map, peers_hash(peers, key), peers_equal,
                              &key);
        lbx__free(peers->allocator, entry, sizeof(*entry));
    }
    lbx__lock_give(&peers->lock);
}
