/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open stores of this process, a list. STORES-1 and STORES-2 are in
 * stores.h.
 *
 * A futex counts the changes of the list, for the threads that wait for an
 * entry to be opened or closed.
 */
#include "post/stores.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/park.h"
#include "base/refs.h"
#include "post/store.h"
#include <letterbox/post/postbox.h>

#include <pthread.h>
#include <string.h>

typedef struct listed_store {
    lbx__link link;
    const lbx_allocator *allocator;
    const lbx__scheme *scheme;
    lbx_store *store; /* NULL: being opened */
    uint32_t life;
    bool closing;
    uint32_t closers; /* calls of lbx__stores_closed() still to come */
    uintptr_t later;  /* the thread that closes it at its own end; 0: none */
    size_t size;
    char address[];
} listed_store;

static lbx__lock stores_lock;
static lbx__link stores_list = {&stores_list, &stores_list};
static _Atomic(uint32_t) stores_changes; /* a futex: opened or closed stores */
static pthread_once_t stores_watch_once = PTHREAD_ONCE_INIT;

static void
stores_before_fork(void)
{
    lbx__lock_take(&stores_lock);
}

static void
stores_after_fork(void)
{
    lbx__lock_give(&stores_lock);
}

static void
stores_watch_forks(void)
{
    (void)pthread_atfork(stores_before_fork, stores_after_fork,
                         stores_after_fork);
}

static void
stores_announce(void)
{
    // Release: pairs with the acquire in stores_enter().
    (void)lbx__add(&stores_changes, 1, release);
    lbx__futex_wake(&stores_changes, INT32_MAX);
}

/* Under the lock. */
static listed_store *
stores_find(const lbx__scheme *scheme, const char *address)
{
    const uint32_t now = lbx__store_life_now();

    for (lbx__link *link = stores_list.next; link != &stores_list;
         link = link->next) {
        listed_store *each = lbx__member(link, listed_store, link);

        if (each->scheme == scheme && each->life == now &&
            strcmp(each->address, address) == 0)
            return each;
    }
    return NULL;
}

static listed_store *
stores_make(const lbx__scheme *scheme, const char *address,
            const lbx_allocator *allocator)
{
    const size_t size = sizeof(listed_store) + strlen(address) + 1;
    listed_store *made = lbx__zalloc(allocator, size);

    if (!made)
        return NULL;
    made->allocator = allocator;
    made->scheme = scheme;
    made->life = lbx__store_life_now();
    made->size = size;
    memcpy(made->address, address, strlen(address) + 1);
    return made;
}

static void
stores_free(listed_store *old)
{
    if (old)
        lbx__free(old->allocator, old, old->size);
}

/* A reference to the store at the address of `mine`; or NULL, and `mine` is
 * listed, to be opened. BUSY: this thread is closing it, and cannot wait for
 * itself. */
static lbx_status
stores_enter(listed_store *mine, lbx_store **ret)
{
    lbx_store *store = NULL;

    for (;;) {
        bool is_me = false;
        uint32_t seen;
        listed_store *there;

        lbx__lock_take(&stores_lock);
        there = stores_find(mine->scheme, mine->address);
        if (!there)
            lbx__list_append(&stores_list, &mine->link);
        else if (there->store && !there->closing)
            store = lbx_store_ref(there->store);
        else
            is_me = there->later == lbx__thread_self();
        // Acquire: pairs with stores_announce().
        seen = lbx__load(&stores_changes, acquire);
        lbx__lock_give(&stores_lock);
        *ret = store;
        if (!there || store || is_me)
            return is_me ? LBX_BUSY : LBX_OK;
        lbx__futex_wait(&stores_changes, seen, -1);
    }
}

static void
stores_remove(listed_store *old)
{
    lbx__lock_take(&stores_lock);
    lbx__list_remove(&old->link);
    lbx__lock_give(&stores_lock);
    stores_announce();
    stores_free(old);
}

static lbx_status
stores_open_listed(listed_store *mine, const lbx_store_options *options,
                   lbx_store **ret)
{
    lbx_store *store;
    lbx_status status = stores_enter(mine, &store);

    if (status != LBX_OK) {
        stores_free(mine);
        return lbx__fault_set(options->fault, status,
                              "this thread has still to close it");
    }
    if (store) {
        const char *other = mine->scheme->differs
                                ? mine->scheme->differs(store, options)
                                : NULL;

        stores_free(mine);
        if (other) {
            lbx_store_unref(store);
            return lbx__fault_set(options->fault, LBX_INVALID,
                                  "it is open already, with other options: %s",
                                  other);
        }
        *ret = store;
        return LBX_OK;
    }
    status = mine->scheme->open(mine->address, options, &store);
    if (status != LBX_OK) {
        stores_remove(mine);
        return status;
    }
    lbx__lock_take(&stores_lock);
    lbx__store_private_of(store)->listed = mine;
    mine->store = store;
    lbx__lock_give(&stores_lock);
    stores_announce();
    *ret = store;
    return LBX_OK;
}

bool
lbx__stores_unref(lbx_store *store)
{
    _Atomic(uint32_t) *users = &lbx__store_private_of(store)->users;
    // Relaxed: only a hint for the exchange below.
    uint32_t seen = lbx__load(users, relaxed);
    bool last;

    assert(seen > 0 && seen < LBX__REFS_MAX); // REFS-1
    while (seen > 1) {
        // Release: our use comes before the close; pairs with the last unref.
        if (lbx__cas(users, &seen, seen - 1, acq_rel))
            return false;
    }
    lbx__lock_take(&stores_lock); // STORES-1: no open finds it
    last = lbx__refs_drop(users);
    if (last) {
        listed_store *mine = lbx__store_private_of(store)->listed;

        mine->closing = true;
        mine->closers = 1;
    }
    lbx__lock_give(&stores_lock);
    return last;
}

void *
lbx__stores_close_later(lbx_store *store)
{
    listed_store *mine = lbx__store_private_of(store)->listed;

    if (!mine)
        return NULL;
    lbx__lock_take(&stores_lock);
    mine->closers++;
    mine->later = lbx__thread_self();
    lbx__lock_give(&stores_lock);
    return mine;
}

void
lbx__stores_closed(void *closed)
{
    listed_store *old = closed;
    bool last;

    if (!old)
        return;
    lbx__lock_take(&stores_lock);
    last = --old->closers == 0;
    lbx__lock_give(&stores_lock);
    if (last)
        stores_remove(old);
}

lbx_status
lbx__stores_open(const lbx__scheme *scheme, const char *address,
                 const lbx_store_options *options, lbx_store **ret)
{
    listed_store *made;

    (void)pthread_once(&stores_watch_once, stores_watch_forks);
    made = stores_make(scheme, address, options->allocator);
    return made ? stores_open_listed(made, options, ret) : LBX_NO_MEMORY;
}
