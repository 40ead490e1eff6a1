/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of a queue with leases in memory: a list of what is ready, a hash
 * of what is leased, a heap of when leases end. No ids, no counts, no locks.
 */
#ifndef BENCH_PEERS_LISTS_H
#define BENCH_PEERS_LISTS_H

#include "support/harness.h"
#include "support/threads.h"
#include <list>
#include <queue>
#include <string>
#include <unordered_map>

namespace bench
{

class Lists
{
  public:
    void send(const std::string &body)
    {
        ready.emplace_back(++last, body);
    }

    uint64_t receive()
    {
        int64_t now = now_ns();

        while (!ends.empty() && ends.top().first <= now)
            ends.pop(); // none of these benchmarks waits so long
        uint64_t number = ready.front().first;
        leased.emplace(number,
                       ready.front().second); // a copy, for the receiver
        ready.pop_front();
        ends.emplace(now + 30000000000, number);
        return number;
    }

    void acknowledge(uint64_t number)
    {
        if (leased.erase(number) != 1)
            fail("the lists have lost one");
        while (!ends.empty() && leased.count(ends.top().second) == 0)
            ends.pop();
    }

  private:
    using End = std::pair<int64_t, uint64_t>;

    uint64_t last = 0;
    std::list<std::pair<uint64_t, std::string>> ready;
    std::unordered_map<uint64_t, std::string> leased;
    std::priority_queue<End, std::vector<End>, std::greater<End>> ends;
};

} // namespace bench

#endif
