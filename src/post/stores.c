/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open stores of this process, by URL.
 *
 * F2  One store per place and process. A place is listed from before its store is
 *     opened until after it is closed; who asks for one that is being opened or
 *     closed waits for the end of that.
 * F3  A child after fork() finds none of its parent's: places have the life of the
 *     process they were opened in. (store.h)
 *
 * One lock, held for a search. Stores are opened and closed without it.
 */
#include "post/stores.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/park.h"
#include "post/store.h"
#include <letterbox/post/postbox.h>

#include <pthread.h>
#include <string.h>

typedef struct place {
    lbx__link link;
    const lbx_allocator *allocator;
    const lbx__scheme *scheme;
    lbx_store *store; /* NULL: being opened */
    uint32_t life;
    bool closing;
    uint32_t closers; /* who still has to say that it is closed */
    uintptr_t later;  /* the thread that closes it when it comes to its end */
    size_t size;
    char name[];
} place;

static lbx__lock lock;
static lbx__link places = {&places, &places};
static _Atomic(uint32_t) changes; /* a futex: something was opened or closed */
static _Atomic(uint32_t) life = 1;
static pthread_once_t watch_forks_once = PTHREAD_ONCE_INIT;

static void
before_fork(void)
{
    lbx__lock_take(&lock);
}

static void
after_fork(void)
{
    lbx__lock_give(&lock);
}

static void
begin_life(void)
{
    // Relaxed: a child has one thread.
    (void)lbx__add(&life, 1, relaxed);
    lbx__lock_give(&lock);
}

static void
watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, begin_life);
}

uint32_t
lbx__stores_life(void)
{
    (void)pthread_once(&watch_forks_once, watch_forks);
    // Relaxed: it changes in a child before anything else runs there.
    return lbx__load(&life, relaxed);
}

static void
announce(void)
{
    // Release: who waited sees the list as it is now, by the lock besides.
    (void)lbx__add(&changes, 1, release);
    lbx__futex_wake(&changes, INT32_MAX);
}

/* Under the lock. */
static place *
find(const lbx__scheme *scheme, const char *name)
{
    const uint32_t now = lbx__stores_life();

    for (lbx__link *link = places.next; link != &places; link = link->next) {
        place *each = lbx__member(link, place, link);

        if (each->scheme == scheme && each->life == now &&
            strcmp(each->name, name) == 0)
            return each;
    }
    return NULL;
}

static place *
make_place(const lbx__scheme *scheme, const char *name,
           const lbx_allocator *allocator)
{
    const size_t size = sizeof(place) + strlen(name) + 1;
    place *made = lbx__zalloc(allocator, size);

    if (!made)
        return NULL;
    made->allocator = allocator;
    made->scheme = scheme;
    made->life = lbx__stores_life();
    made->size = size;
    memcpy(made->name, name, strlen(name) + 1);
    return made;
}

static void
free_place(place *old)
{
    if (old)
        lbx__free(old->allocator, old, old->size);
}

/* A reference to the store of a place; or NULL, and `mine` is listed, to be
 * opened. BUSY: this thread is closing it, and cannot wait for itself. */
static lbx_status
enter(place *mine, lbx_store **ret)
{
    lbx_store *store = NULL;

    for (;;) {
        bool is_me = false;
        uint32_t seen;
        place *there;

        lbx__lock_take(&lock);
        there = find(mine->scheme, mine->name);
        if (!there)
            lbx__list_append(&places, &mine->link);
        else if (there->store && !there->closing)
            store = lbx_store_ref(there->store);
        else
            is_me = there->later == lbx__thread_self();
        // Acquire: pairs with announce().
        seen = lbx__load(&changes, acquire);
        lbx__lock_give(&lock);
        *ret = store;
        if (!there || store || is_me)
            return is_me ? LBX_BUSY : LBX_OK;
        lbx__futex_wait(&changes, seen, -1);
    }
}

static void
remove_place(place *old)
{
    lbx__lock_take(&lock);
    lbx__list_remove(&old->link);
    lbx__lock_give(&lock);
    announce();
    free_place(old);
}

static lbx_status
open_listed(place *mine, const lbx_store_options *options, lbx_store **ret)
{
    lbx_store *store;
    lbx_status status = enter(mine, &store);

    if (status != LBX_OK) {
        free_place(mine);
        return lbx__fault_set(options->fault, status,
                              "this thread has still to close it");
    }
    if (store) {
        if (mine->scheme->suits && !mine->scheme->suits(store, options)) {
            free_place(mine);
            lbx_store_unref(store);
            return lbx__fault_set(options->fault, LBX_INVALID,
                                  "it is open already, with other options");
        }
        free_place(mine);
        *ret = store;
        return LBX_OK;
    }
    status = mine->scheme->open(mine->name, options, &store);
    if (status != LBX_OK) {
        remove_place(mine);
        return status;
    }
    lbx__lock_take(&lock);
    lbx__store_own_of(store)->place = mine;
    mine->store = store;
    lbx__lock_give(&lock);
    announce();
    *ret = store;
    return LBX_OK;
}

bool
lbx__stores_drop(lbx_store *store)
{
    _Atomic(uint32_t) *users = &lbx__store_own_of(store)->users;
    // Relaxed: only a hint for the exchange below.
    uint32_t seen = lbx__load(users, relaxed);
    bool last;

    while (seen > 1) {
        // Release: what we did comes before the end; pairs with the last.
        if (lbx__cas(users, &seen, seen - 1, acq_rel))
            return false;
    }
    lbx__lock_take(&lock); // F2: nobody finds it any more
    // Acquire and release: all use comes before the end.
    last = lbx__sub(users, 1, acq_rel) == 1;
    if (last) {
        place *mine = lbx__store_own_of(store)->place;

        mine->closing = true;
        mine->closers = 1;
    }
    lbx__lock_give(&lock);
    return last;
}

void *
lbx__stores_keep(lbx_store *store)
{
    place *mine = lbx__store_own_of(store)->place;

    if (!mine)
        return NULL;
    lbx__lock_take(&lock);
    mine->closers++;
    mine->later = lbx__thread_self();
    lbx__lock_give(&lock);
    return mine;
}

void
lbx__stores_closed(void *closed)
{
    place *old = closed;
    bool last;

    if (!old)
        return;
    lbx__lock_take(&lock);
    last = --old->closers == 0;
    lbx__lock_give(&lock);
    if (last)
        remove_place(old);
}

lbx_status
lbx__stores_open(const lbx__scheme *scheme, const char *name,
                 const lbx_store_options *options, lbx_store **ret)
{
    place *made = make_place(scheme, name, options->allocator);

    return made ? open_listed(made, options, ret) : LBX_NO_MEMORY;
}
