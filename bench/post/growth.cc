/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How cost grows: the same work beside more and more letters, leases, boxes,
 * groups, waiters, and with larger bodies.
 *
 * Everything but the body's size is promised to be O(log n). Between the least
 * and the greatest n of a row, log n grows by less than 3 (from 1 on, it is
 * what a cold cache costs); a cost that grows with n itself, or with its root,
 * would be 30 to 100,000 times as great. So a row fails when the cost at the
 * greatest n is more than 3 times that at the least: 2 for log n, 1.5 for rows
 * that no longer fit the processor's caches. Letters that are queued are
 * promised more in memory: 1.5 times. A body's cost may grow with its size, and
 * no faster: 16 times the bytes, at most 24 times the cost.
 */
#include "support/post_row.h"
#include <random>

using namespace bench;

namespace
{

constexpr std::size_t body_bytes = 100;

int64_t
process_cpu_ns()
{
    timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/* Time on processors, the store's thread included: it does not see who else is
 * on the machine, nor how long threads take to hand over. */
template <class Work>
Sample
costs(uint64_t letters, Work work)
{
    int64_t start = process_cpu_ns();

    work();
    return per_letter(process_cpu_ns() - start, letters);
}

/* Where the letters of a row are. */
struct Kind {
    const char *name;
    bool file;

    std::string url(const std::string &place) const
    {
        return file ? file_url(place) : "memory:";
    }
};

lbx_durability
level(const Kind &kind)
{
    return kind.file ? LBX_DURABILITY_PROCESS : LBX_DURABILITY_DEFAULT;
}

std::string
short_number(uint64_t n)
{
    if (n >= 1000000)
        return std::to_string(n / 1000000) + " M";
    if (n >= 1000)
        return std::to_string(n / 1000) + " k";
    return std::to_string(n);
}

std::string
short_bytes(uint64_t n)
{
    if (n >= 1 << 20)
        return std::to_string(n >> 20) + " MiB";
    if (n >= 1 << 10)
        return std::to_string(n >> 10) + " KiB";
    return std::to_string(n) + " B";
}

/* A row over sizes: ours is the greatest, the peer the least, and the others
 * are shown. */
template <class Round>
Row
grow(const Kind &kind, const char *what, const std::string &workload,
     const std::vector<uint64_t> &sizes, Round round,
     std::string (*word)(uint64_t) = short_number)
{
    Row row =
        post_row(std::string("grow-") + kind.name + "-" + what,
                 std::string(kind.file ? "files" : "memory") + ": " + workload);

    row.best_of = false;
    row.goal = 1 / 3.0;
    row.goal_text = "at most 3 x the cost of the least";
    for (std::size_t i = 0; i < sizes.size(); i++) {
        Side side = i == 0                  ? Side::peer
                    : i + 1 == sizes.size() ? Side::ours
                                            : Side::less;
        uint64_t size = sizes[i];

        row.contestants.push_back(
            {side, word(size), what, "", [=] { return round(kind, size); }});
    }
    return row;
}

std::vector<uint64_t>
sizes_to(uint64_t first, uint64_t most, uint64_t full_most)
{
    std::vector<uint64_t> sizes;

    for (uint64_t size = first; size <= (settings.full ? full_most : most);
         size *= 10)
        sizes.push_back(size);
    return sizes;
}

void
turn_batches(Box &box, uint64_t letters)
{
    for (uint64_t i = 0; i < letters; i += batch_most)
        box.turn_batch();
}

/* ---- Letters queued ---- */

std::string
queued_place(uint64_t queued)
{
    return "queued-" + std::to_string(queued);
}

Sample
queued_round(const Kind &kind, uint64_t queued)
{
    Store store(kind.url(queued_place(queued)), level(kind));
    Box box(store, "letters", body_bytes);

    if (box.letters() < queued)
        box.fill(queued - box.letters());
    turn_batches(box, 1000);
    return costs(20000, [&] { turn_batches(box, 20000); });
}

Row
queued(const Kind &kind)
{
    std::vector<uint64_t> sizes = sizes_to(1000, 1000000, 10000000);
    Row row = grow(kind, "queued",
                   "send, receive, acknowledge, batches of 10, by letters "
                   "queued",
                   sizes, queued_round);

    if (!kind.file) {
        row.goal = 1 / 1.5;
        row.goal_text = "at most 1.5 x the cost of the least";
    } else {
        row.prepare = [=] {
            for (uint64_t size : sizes) {
                Store store(kind.url(queued_place(size)), level(kind));
                Box box(store, "letters", body_bytes);

                send_with_fleet(box, under_way, batch_most, size);
            }
        };
    }
    return row;
}

/* ---- Letters in flight ---- */

/* One of those that are leased, anyone, is acknowledged; another one is sent
 * and leased in its place. */
Sample
leased_round(const Kind &kind, uint64_t leased)
{
    constexpr uint64_t turns = 10000;
    Store store(kind.url("leased"), level(kind));
    Box box(store, "leased-" + std::to_string(leased), body_bytes);
    std::vector<lbx_letter *> letters(leased);
    std::mt19937_64 random(leased);

    box.purge();
    box.fill(leased);
    for (uint64_t i = 0; i < leased;)
        i +=
            box.receive(&letters[i],
                        std::size_t(std::min<uint64_t>(batch_most, leased - i)),
                        3600 * LBX_SECOND);
    Sample sample = costs(turns, [&] {
        for (uint64_t i = 0; i < turns; i++) {
            lbx_letter *&letter = letters[random() % leased];

            box.acknowledge(&letter, 1);
            box.send();
            box.receive(&letter, 1, 3600 * LBX_SECOND);
        }
    });
    box.purge();
    return sample;
}

Row
leased(const Kind &kind)
{
    return grow(kind, "leased",
                "any leased letter is acknowledged, another sent and leased, "
                "by letters in flight",
                sizes_to(1000, 100000, 1000000), leased_round);
}

/* ---- Boxes ---- */

Sample
boxes_round(const Kind &kind, uint64_t count)
{
    constexpr uint64_t turns = 10000;
    Store store(kind.url("boxes-" + std::to_string(count)), level(kind));
    std::vector<std::unique_ptr<Box>> boxes;
    std::mt19937_64 random(count);

    for (uint64_t i = 0; i < count; i++) {
        boxes.push_back(std::make_unique<Box>(store, "box-" + std::to_string(i),
                                              body_bytes));
        if (boxes.back()->letters() == 0)
            boxes.back()->fill(batch_most);
    }
    return costs(turns, [&] {
        for (uint64_t i = 0; i < turns; i += batch_most)
            boxes[random() % count]->turn_batch();
    });
}

Row
boxes(const Kind &kind)
{
    std::vector<uint64_t> sizes = sizes_to(1, 10000, 100000);
    Row row = grow(kind, "boxes",
                   "send, receive, acknowledge, batches of 10, in any box, by "
                   "boxes with letters",
                   sizes, boxes_round);

    if (kind.file)
        row.prepare = [=] {
            for (uint64_t size : sizes)
                boxes_round(kind, size);
        };
    return row;
}

/* ---- Groups ---- */

void
send_to_group(Box &box, uint64_t group, uint64_t number)
{
    std::string name = "group-" + std::to_string(group);
    std::string duplicate = std::to_string(number);
    lbx_draft draft = box.drafts[0];

    draft.group = name.c_str();
    draft.deduplication_id = duplicate.c_str();
    check(lbx_postbox_send_draft(box.postbox, &draft, nullptr),
          "lbx_postbox_send_draft");
}

Sample
groups_round(const Kind &kind, uint64_t groups)
{
    constexpr uint64_t turns = 5000;
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    options.fifo = true;
    Store store(kind.url("groups"), level(kind));
    Box box(store, "groups-" + std::to_string(groups), body_bytes, &options);
    std::mt19937_64 random(groups);
    // The ids of duplicates are remembered for five minutes, over rounds.
    uint64_t number = uint64_t(now_ns());

    box.purge();
    for (uint64_t i = 0; i < groups; i++)
        send_to_group(box, i, number++);
    Sample sample = costs(turns, [&] {
        for (uint64_t i = 0; i < turns; i++) {
            lbx_letter *letter;

            send_to_group(box, random() % groups, number++);
            box.receive(&letter);
            box.acknowledge(&letter, 1);
        }
    });
    box.purge();
    return sample;
}

Row
groups(const Kind &kind)
{
    return grow(kind, "groups",
                "fifo: send to any group, receive, acknowledge, by groups with "
                "a letter",
                sizes_to(1, 10000, 100000), groups_round);
}

/* ---- Waiters ---- */

/* A receive that waits; when it has a letter, that is acknowledged, and it
 * waits again behind the others. */
struct Waiter {
    lbx_operation operation;
    lbx_letter *letter;
    std::size_t count;
    std::atomic<bool> woken;
    Box *box;

    static void wake(void *context)
    {
        static_cast<Waiter *>(context)->woken = true;
    }

    void wait()
    {
        lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
        lbx_waker waker = {wake, this};

        options.wait_ns = -1;
        woken = false;
        check(lbx_postbox_receive_init(&operation, box->postbox, &options,
                                       &letter, &count),
              "lbx_postbox_receive_init");
        if (lbx_operation_poll(&operation, &waker) != LBX_PENDING)
            fail("a receive that should wait does not");
    }

    /* False when it still waits. */
    bool take()
    {
        lbx_status status = LBX_PENDING;
        lbx_waker waker = {wake, this};

        if (woken)
            status = lbx_operation_poll(&operation, &waker);
        if (status == LBX_PENDING)
            return false;
        check(status, "a waiting receive");
        lbx_operation_fini(&operation);
        box->acknowledge(&letter, count);
        return true;
    }
};

Sample
waiters_round(const Kind &kind, uint64_t count)
{
    constexpr uint64_t turns = 5000;
    Store store(kind.url("waiters"), level(kind));
    Box box(store, "letters", body_bytes);
    std::vector<Waiter> waiters(count);

    for (Waiter &waiter : waiters) {
        waiter.box = &box;
        waiter.wait();
    }
    Sample sample = costs(turns, [&] {
        for (uint64_t i = 0; i < turns; i++) {
            Waiter &next = waiters[i % count]; // they are served in order

            box.send();
            while (!next.take())
                sched_yield();
            next.wait();
        }
    });
    for (Waiter &waiter : waiters)
        lbx_operation_fini(&waiter.operation);
    return sample;
}

Row
waiters(const Kind &kind)
{
    return grow(kind, "waiters",
                "send, a waiting receive ends, acknowledge, wait again, by "
                "receives that wait",
                sizes_to(1, 10000, 10000), waiters_round);
}

/* ---- Bodies ---- */

Sample
body_round(const Kind &kind, uint64_t bytes)
{
    const uint64_t turns = bytes > 100000 ? 200 : 2000;
    Store store(kind.url("bodies"), level(kind));
    Box box(store, "letters", std::size_t(bytes));

    for (int i = 0; i < 100; i++)
        box.turn_one();
    return costs(turns, [&] {
        for (uint64_t i = 0; i < turns; i++)
            box.turn_one();
    });
}

Row
bodies(const Kind &kind)
{
    Row row =
        grow(kind, "body",
             "send, receive, acknowledge, one at a time, by the body's "
             "size; against 64 KiB",
             {64 << 10, 16, 256, 4 << 10, 1 << 20}, body_round, short_bytes);

    row.goal = 1 / 24.0;
    row.goal_text = "16 x the bytes of 64 KiB, at most 24 x its cost";
    return row;
}

const char *const banner =
    "The first of each row is the least size, what counts is the greatest: a\n"
    "row fails when that costs more than 3 times as much (queued in memory:\n"
    "1.5 times; bodies: 24 times for 16 times the bytes). That is what log n\n"
    "and cold caches may cost. Time is that of processors, all threads\n"
    "together; files do not wait for the disk.";

} // namespace

int
main(int argc, char **argv)
{
    static const Kind kinds[] = {{"memory", false}, {"file", true}};
    std::vector<std::function<Row()>> rows;

    for (const Kind &kind : kinds)
        for (Row (*make)(const Kind &) :
             {queued, leased, boxes, groups, waiters, bodies})
            rows.push_back([&kind, make] { return make(kind); });
    return run_rows(argc, argv, "post/growth", banner, rows);
}
