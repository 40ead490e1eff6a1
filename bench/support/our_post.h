/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of the postbox rows, by the public API alone. A Box is an open
 * postbox of a store by URL; a Fleet keeps a number of operations under way
 * from one thread, which sleeps while all of them wait, after 50 us.
 */
#ifndef BENCH_SUPPORT_OUR_POST_H
#define BENCH_SUPPORT_OUR_POST_H

#include "support/harness.h"
#include "support/threads.h"
#include <atomic>
#include <cstring>
#include <functional>
#include <letterbox/letterbox.h>
#include <letterbox/post.h>
#include <memory>
#include <sched.h>
#include <semaphore.h>
#include <string>
#include <vector>

namespace bench
{

constexpr std::size_t batch_most = LBX_MAX_BATCH;

inline void
check(lbx_status status, const char *what)
{
    if (status != LBX_OK)
        fail("%s: %s", what, lbx_status_text(status));
}

class Store
{
  public:
    explicit Store(const std::string &url,
                   lbx_durability durability = LBX_DURABILITY_DEFAULT)
    {
        lbx_store_options options = LBX_STORE_OPTIONS_INIT;
        lbx_fault fault = {};

        options.durability = durability;
        options.fault = &fault;
        lbx_status status = lbx_store_open(url.c_str(), &options, &store);
        if (status != LBX_OK)
            fail("%s: %s: %s", url.c_str(), lbx_status_text(status),
                 fault.text);
    }

    ~Store()
    {
        lbx_store_unref(store);
    }

    Store(const Store &) = delete;

    lbx_store *store = nullptr;
};

/* A box, and a letter of some size to send to it again and again. */
class Box
{
  public:
    Box(const Store &store, const std::string &name, std::size_t body_bytes,
        const lbx_box_options *options = nullptr)
        : body(body_bytes, 'x'), drafts(batch_most)
    {
        lbx_postbox_options mine = LBX_POSTBOX_OPTIONS_INIT;

        mine.box = options;
        check(lbx_postbox_open_in(store.store, name.c_str(), &mine, &postbox),
              "lbx_postbox_open_in");
        for (lbx_draft &draft : drafts)
            draft = lbx_draft_of_bytes(body.data(), body.size());
    }

    ~Box()
    {
        lbx_postbox_unref(postbox);
    }

    Box(const Box &) = delete;

    void send(std::size_t count = 1)
    {
        check(lbx_postbox_send_batch(postbox, drafts.data(), count, nullptr),
              "lbx_postbox_send_batch");
    }

    /* So many letters more, in batches. */
    void fill(uint64_t letters)
    {
        for (; letters >= batch_most; letters -= batch_most)
            send(batch_most);
        if (letters > 0)
            send(letters);
    }

    /* Leases letters that are there. */
    std::size_t receive(lbx_letter **ret, std::size_t most = 1,
                        int64_t lease_ns = LBX_DEFAULT)
    {
        lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
        std::size_t count;

        options.max_letters = uint32_t(most);
        options.lease_ns = lease_ns;
        check(lbx_postbox_receive_batch(postbox, &options, ret, &count),
              "lbx_postbox_receive_batch");
        return count;
    }

    void acknowledge(lbx_letter **letters, std::size_t count)
    {
        lbx_settle_item settles[batch_most];

        for (std::size_t i = 0; i < count; i++)
            settles[i] = {LBX_SETTLE_ACKNOWLEDGE, 0, letters[i], nullptr,
                          LBX_OK};
        check(lbx_postbox_settle_batch(postbox, settles, count),
              "lbx_postbox_settle_batch");
        for (std::size_t i = 0; i < count; i++)
            lbx_letter_destroy(letters[i]);
    }

    /* One letter through all of its life, by the calls for single letters. */
    void turn_one()
    {
        lbx_letter *letter;

        check(lbx_postbox_send(postbox, body.data(), body.size(), nullptr),
              "lbx_postbox_send");
        check(lbx_postbox_receive(postbox, 0, &letter), "lbx_postbox_receive");
        check(lbx_letter_acknowledge(letter), "lbx_letter_acknowledge");
        lbx_letter_destroy(letter);
    }

    /* A batch through all of its life. */
    void turn_batch()
    {
        lbx_letter *letters[batch_most];

        send(batch_most);
        std::size_t count = receive(letters, batch_most);
        if (count != batch_most)
            fail("%zu letters, not %zu", count, batch_most);
        acknowledge(letters, count);
    }

    uint64_t letters()
    {
        lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

        check(lbx_postbox_count(postbox, &counts), "lbx_postbox_count");
        return counts.ready + counts.leased + counts.delayed;
    }

    void purge()
    {
        check(lbx_postbox_purge(postbox, nullptr), "lbx_postbox_purge");
    }

    std::string body;
    std::vector<lbx_draft> drafts;
    lbx_postbox *postbox = nullptr;
};

/* Operations under way, each with what comes after it. */
class Fleet
{
  public:
    struct Ship {
        lbx_operation operation;
        Fleet *fleet;
        Ship *next;
        lbx_letter *letters[batch_most];
        lbx_settle_item settles[batch_most];
        std::size_t count;
        int step;
    };

    explicit Fleet(std::size_t size) : ships(size)
    {
        sem_init(&semaphore, 0, 0);
        for (Ship &ship : ships)
            ship.fleet = this;
    }

    Fleet(const Fleet &) = delete;

    /* Starts an operation on each ship, and another one on each that has come
     * back, until `start` answers false for all of them. */
    void run(const std::function<bool(Ship &)> &start)
    {
        std::size_t away = 0;

        for (Ship &ship : ships)
            away += sail(ship, start);
        while (away > 0) {
            await();
            for (Ship *ship = back.exchange(nullptr), *next; ship;
                 ship = next) {
                next = ship->next;
                lbx_waker waker = waker_of(*ship);
                lbx_status status =
                    lbx_operation_poll(&ship->operation, &waker);

                if (status == LBX_PENDING)
                    continue; // it will be called again
                check(status, "operation");
                lbx_operation_fini(&ship->operation);
                away -= !sail(*ship, start);
            }
        }
    }

  private:
    static void wake(void *context)
    {
        Ship *ship = static_cast<Ship *>(context);
        Fleet *fleet = ship->fleet;
        Ship *first = fleet->back.load();

        do
            ship->next = first;
        while (!fleet->back.compare_exchange_weak(first, ship));
        if (!first)
            sem_post(&fleet->semaphore);
    }

    /* As the library's own calls do: a moment awake, then asleep. */
    void await()
    {
        const int64_t until = now_ns() + 50000;

        while (sem_trywait(&semaphore) != 0)
            if (now_ns() < until)
                sched_yield();
            else if (sem_wait(&semaphore) == 0)
                return;
    }

    static lbx_waker waker_of(Ship &ship)
    {
        return {wake, &ship};
    }

    /* False when it stays in harbour. */
    bool sail(Ship &ship, const std::function<bool(Ship &)> &start)
    {
        while (start(ship)) {
            lbx_waker waker = waker_of(ship);
            lbx_status status = lbx_operation_poll(&ship.operation, &waker);

            if (status == LBX_PENDING)
                return true;
            check(status, "operation");
            lbx_operation_fini(&ship.operation);
        }
        return false;
    }

    std::vector<Ship> ships;
    std::atomic<Ship *> back{nullptr};
    sem_t semaphore;
};

/* Sends letters with so many sends of `each` letters under way. */
inline void
send_with_fleet(Box &box, std::size_t under_way, std::size_t each,
                uint64_t letters)
{
    Fleet fleet(under_way);
    uint64_t left = letters;

    fleet.run([&](Fleet::Ship &ship) {
        if (left == 0)
            return false;
        std::size_t count = std::size_t(std::min<uint64_t>(each, left));

        left -= count;
        check(lbx_postbox_send_init(&ship.operation, box.postbox,
                                    box.drafts.data(), count, nullptr,
                                    LBX_FOREVER),
              "lbx_postbox_send_init");
        return true;
    });
}

/* Starts to acknowledge the letters of a ship. */
inline void
settle(Fleet::Ship &ship, Box &box)
{
    for (std::size_t i = 0; i < ship.count; i++)
        ship.settles[i] = {LBX_SETTLE_ACKNOWLEDGE, 0, ship.letters[i], nullptr,
                           LBX_OK};
    check(lbx_postbox_settle_init(&ship.operation, box.postbox, ship.settles,
                                  ship.count, nullptr, nullptr),
          "lbx_postbox_settle_init");
}

/* Leases and acknowledges so many letters that are there, in batches. */
inline void
drain_with_fleet(Box &box, std::size_t under_way, uint64_t letters)
{
    Fleet fleet(under_way);
    uint64_t left = letters, done = 0;

    fleet.run([&](Fleet::Ship &ship) {
        lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;

        if (ship.step == 1) {
            settle(ship, box);
            ship.step = 2;
            return true;
        }
        for (std::size_t i = 0; i < ship.count; i++)
            lbx_letter_destroy(ship.letters[i]);
        done += ship.count;
        ship.count = 0;
        if (left == 0)
            return false;
        options.max_letters = uint32_t(std::min<uint64_t>(batch_most, left));
        options.min_letters = options.max_letters;
        options.wait_ns = LBX_SECOND;
        left -= options.max_letters;
        check(lbx_postbox_receive_init(&ship.operation, box.postbox, &options,
                                       ship.letters, &ship.count),
              "lbx_postbox_receive_init");
        ship.step = 1;
        return true;
    });
    if (done != letters)
        fail("%llu letters, not %llu", (unsigned long long)done,
             (unsigned long long)letters);
}

/* Sends, receives and acknowledges so many letters, by batches. Each batch that
 * is received is of the letters that are there longest. */
inline void
turn_with_fleet(Box &box, std::size_t under_way, uint64_t letters)
{
    enum Step {
        sends,
        receives,
        settles
    };
    Fleet fleet(under_way);
    uint64_t left = letters, done = 0;
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;

    options.max_letters = options.min_letters = batch_most;
    options.wait_ns = LBX_SECOND;
    fleet.run([&](Fleet::Ship &ship) {
        switch (ship.step) {
        case sends:
            for (std::size_t i = 0; i < ship.count; i++)
                lbx_letter_destroy(ship.letters[i]);
            done += ship.count;
            ship.count = 0;
            if (left == 0)
                return false;
            left -= batch_most;
            check(lbx_postbox_send_init(&ship.operation, box.postbox,
                                        box.drafts.data(), batch_most, nullptr,
                                        LBX_FOREVER),
                  "lbx_postbox_send_init");
            break;
        case receives:
            check(lbx_postbox_receive_init(&ship.operation, box.postbox,
                                           &options, ship.letters, &ship.count),
                  "lbx_postbox_receive_init");
            break;
        default:
            settle(ship, box);
        }
        ship.step = (ship.step + 1) % (settles + 1);
        return true;
    });
    if (done != letters)
        fail("%llu letters, not %llu", (unsigned long long)done,
             (unsigned long long)letters);
}

} // namespace bench

#endif
