/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mini mailbox and its bugs: see mini.h.
 *
 * MINI-1  granted <= length: a promise is a message that is there.
 * MINI-2  A receiver waits only while length == granted; a sender only while
 *         length == capacity. A thread that changes a length restores this.
 */
#include "stress/mini.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/test.h"

void
mini_init(struct mini *mini, unsigned bug, size_t capacity)
{
    *mini = (struct mini){
        .bug = bug,
        .chance = 88172645463325252u,
        .capacity = capacity,
        .room = 16,
    };
    CHECK(pthread_mutex_init(&mini->lock, NULL) == 0);
    mini->messages = calloc(mini->room, sizeof(void *));
    CHECK(mini->messages != NULL);
}

void
mini_fini(struct mini *mini)
{
    pthread_mutex_destroy(&mini->lock);
    free(mini->messages);
}

// Whether the bug strikes now: once in `n`.
static bool
strikes(struct mini *mini, unsigned bug, uint64_t n)
{
    if (mini->bug != bug)
        return false;
    mini->chance ^= mini->chance << 13;
    mini->chance ^= mini->chance >> 7;
    mini->chance ^= mini->chance << 17;
    return mini->chance % n == 0;
}

static void
append(struct mini_wait **list, struct mini_wait *wait)
{
    wait->next = NULL;
    while (*list)
        list = &(*list)->next;
    *list = wait;
}

static void
withdraw(struct mini_wait **list, struct mini_wait *wait)
{
    while (*list && *list != wait)
        list = &(*list)->next;
    if (*list)
        *list = wait->next;
}

static void
wake(struct mini_wait *wait)
{
    if (wait->waker.wake)
        wait->waker.wake(wait->waker.context);
    wait->waker = (lbx_waker){0};
}

static void
push(struct mini *mini, void *message)
{
    mini->stats.accepted++;
    if (strikes(mini, MINI_LOSE, 1000))
        return;
    if (mini->length == mini->room) {
        void **bigger = calloc(2 * mini->room, sizeof(void *));

        CHECK(bigger != NULL);
        for (size_t i = 0; i < mini->length; i++)
            bigger[i] = mini->messages[(mini->first + i) % mini->room];
        free(mini->messages);
        mini->messages = bigger;
        mini->first = 0;
        mini->room *= 2;
    }
    mini->messages[(mini->first + mini->length++) % mini->room] = message;
}

// Gives messages to receivers and room to senders until MINI-2 holds.
static void
settle(struct mini *mini)
{
    while (mini->senders && mini->length < mini->capacity) {
        struct mini_wait *sender = mini->senders;

        mini->senders = sender->next;
        mini->stats.waiting_senders--;
        push(mini, sender->message);
        sender->state = MINI_OVER;
        sender->final = LBX_OK;
        wake(sender);
    }
    while (mini->receivers && mini->length > mini->granted) {
        struct mini_wait *receiver = mini->receivers;

        mini->receivers = receiver->next;
        mini->stats.waiting_receivers--;
        mini->granted++;
        receiver->state = MINI_GRANTED;
        wake(receiver);
    }
}

static void *
pop(struct mini *mini)
{
    void **first = &mini->messages[mini->first];
    void *message = *first;

    mini->stats.taken++;
    if (strikes(mini, MINI_DUPLICATE, 1000))
        return message;
    if (mini->length >= 2 && strikes(mini, MINI_OVERTAKE, 100)) {
        void **second = &mini->messages[(mini->first + 1) % mini->room];

        message = *second;
        *second = *first;
    }
    mini->first = (mini->first + 1) % mini->room;
    mini->length--;
    return message;
}

static bool
has_room(struct mini *mini)
{
    size_t extra = strikes(mini, MINI_OVERFILL, 1);

    if (mini->capacity == 0)
        return true;
    return !mini->senders && mini->length < mini->capacity + extra &&
           !strikes(mini, MINI_FALSE_FULL, 100);
}

lbx_status
mini_try_send(struct mini *mini, void *message)
{
    lbx_status status = LBX_OK;

    pthread_mutex_lock(&mini->lock);
    if (mini->closed) {
        status = LBX_CLOSED;
    } else if (!has_room(mini)) {
        status = LBX_FULL;
    } else {
        push(mini, message);
        settle(mini);
    }
    pthread_mutex_unlock(&mini->lock);
    return status;
}

// Under the lock: takes a message that is not promised.
static lbx_status
take(struct mini *mini, void **ret)
{
    if (mini->length == mini->granted)
        return mini->closed ? LBX_CLOSED : LBX_EMPTY;
    if (strikes(mini, MINI_FALSE_EMPTY, 100))
        return LBX_EMPTY;
    *ret = pop(mini);
    settle(mini);
    return LBX_OK;
}

lbx_status
mini_try_receive(struct mini *mini, void **ret)
{
    lbx_status status;

    pthread_mutex_lock(&mini->lock);
    status = take(mini, ret);
    pthread_mutex_unlock(&mini->lock);
    return status;
}

void
mini_send_start(struct mini *mini, struct mini_wait *wait, void *message,
                int64_t deadline_ns)
{
    *wait = (struct mini_wait){
        .mini = mini,
        .sends = true,
        .message = message,
        .deadline_ns = deadline_ns,
    };
}

void
mini_receive_start(struct mini *mini, struct mini_wait *wait,
                   int64_t deadline_ns)
{
    *wait = (struct mini_wait){.mini = mini, .deadline_ns = deadline_ns};
}

static lbx_status
finish(struct mini_wait *wait, lbx_status final)
{
    wait->state = MINI_OVER;
    wait->final = final;
    return final;
}

// Under the lock: leaves the list it waits in.
static void
leave(struct mini_wait *wait)
{
    struct mini *mini = wait->mini;

    if (wait->sends) {
        withdraw(&mini->senders, wait);
        mini->stats.waiting_senders -= mini->bug != MINI_FORGET_WAIT;
    } else {
        withdraw(&mini->receivers, wait);
        mini->stats.waiting_receivers -= mini->bug != MINI_FORGET_WAIT;
    }
}

static lbx_status
poll_new(struct mini_wait *wait)
{
    struct mini *mini = wait->mini;
    lbx_status status;

    if (wait->sends) {
        if (mini->closed)
            return finish(wait, LBX_CLOSED);
        if (has_room(mini)) {
            push(mini, wait->message);
            settle(mini);
            return finish(wait, LBX_OK);
        }
        wait->state = MINI_WAITING;
        append(&mini->senders, wait);
        mini->stats.waiting_senders++;
    } else {
        status = take(mini, &wait->message);
        if (status != LBX_EMPTY)
            return finish(wait, status);
        if (mini->bug == MINI_LOST_WAKE) {
            pthread_mutex_unlock(&mini->lock);
            sched_yield();
            pthread_mutex_lock(&mini->lock);
        }
        wait->state = MINI_WAITING;
        append(&mini->receivers, wait);
        mini->stats.waiting_receivers++;
        if (mini->bug != MINI_LOST_WAKE)
            settle(mini);
    }
    return LBX_PENDING;
}

static lbx_status
poll_locked(struct mini_wait *wait, const lbx_waker *waker)
{
    struct mini *mini = wait->mini;

    if (wait->state == MINI_OVER)
        return wait->final;
    if (wait->state == MINI_NEW && poll_new(wait) != LBX_PENDING)
        return wait->final;
    if (wait->state == MINI_GRANTED) {
        mini->granted--;
        wait->message = pop(mini);
        settle(mini);
        return finish(wait, LBX_OK);
    }
    if (mini->closed || lbx_clock_now(NULL) >= wait->deadline_ns) {
        leave(wait);
        return finish(wait, mini->closed ? LBX_CLOSED : LBX_TIMEOUT);
    }
    wait->waker = waker ? *waker : (lbx_waker){0};
    return LBX_PENDING;
}

lbx_status
mini_poll(struct mini_wait *wait, const lbx_waker *waker)
{
    lbx_status status;

    pthread_mutex_lock(&wait->mini->lock);
    status = poll_locked(wait, waker);
    pthread_mutex_unlock(&wait->mini->lock);
    return status;
}

lbx_status
mini_cancel(struct mini_wait *wait)
{
    struct mini *mini = wait->mini;

    pthread_mutex_lock(&mini->lock);
    switch (wait->state) {
    case MINI_NEW:
        finish(wait, LBX_CANCELLED);
        break;
    case MINI_WAITING:
        leave(wait);
        finish(wait, LBX_CANCELLED);
        break;
    case MINI_GRANTED:
        mini->granted--;
        if (mini->bug == MINI_EAT_MESSAGE)
            pop(mini);
        if (mini->bug != MINI_DROP_GRANT)
            settle(mini);
        finish(wait, LBX_CANCELLED);
        break;
    case MINI_OVER:
        if (wait->sends && wait->final == LBX_OK && mini->bug == MINI_SEND_BOTH)
            wait->final = LBX_CANCELLED;
        break;
    }
    pthread_mutex_unlock(&mini->lock);
    return wait->final;
}

static void
write_event(void *context)
{
    uint64_t one = 1;

    CHECK(write(*(int *)context, &one, sizeof(one)) == sizeof(one));
}

lbx_status
mini_park(struct mini_wait *wait)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    lbx_waker waker = {write_event, &fd};
    struct pollfd event = {.fd = fd, .events = POLLIN};
    lbx_status status = mini_poll(wait, &waker);

    CHECK(fd >= 0);
    while (status == LBX_PENDING) {
        int64_t left_ns = wait->deadline_ns - lbx_clock_now(NULL);
        uint64_t count;

        poll(&event, 1,
             wait->deadline_ns == LBX_FOREVER ? -1
             : left_ns < 0                    ? 0
                                              : (int)(left_ns / LBX_MS + 1));
        if (event.revents & POLLIN)
            CHECK(read(fd, &count, sizeof(count)) == sizeof(count));
        status = mini_poll(wait, &waker);
    }
    close(fd);
    return status;
}

void
mini_close(struct mini *mini)
{
    pthread_mutex_lock(&mini->lock);
    mini->closed = true;
    for (struct mini_wait *wait = mini->receivers; wait; wait = wait->next)
        wake(wait);
    for (struct mini_wait *wait = mini->senders; wait; wait = wait->next)
        wake(wait);
    pthread_mutex_unlock(&mini->lock);
}

void
mini_numbers(struct mini *mini, lbx_mailbox_stats *ret)
{
    pthread_mutex_lock(&mini->lock);
    *ret = mini->stats;
    ret->size_bytes = sizeof(*ret);
    ret->depth = mini->length;
    pthread_mutex_unlock(&mini->lock);
}
