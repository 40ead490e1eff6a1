/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: the same workload given to us and to our peers, in one run.
 *
 * A row has contestants. Each round runs every contestant once, so that a
 * noisy stretch of a shared machine hits all alike; the median of the rounds
 * is a contestant's figure, the smallest and the greatest are its spread.
 * Each round is a process of its own: nobody inherits another's memory, and a
 * peer that hangs (some do, with more threads than cores) is ended and says
 * so. Where threads spin, each runs with a short and with a longer pause after
 * an empty look, and the better of the two is its figure. The row's last line
 * is
 *
 *     mpsc-1p1c: ours=7.2ns peer=ramalhete 19.5ns ratio=2.71 goal=2.50 met
 *
 * where a ratio above 1 means that we are faster; a row with a limit ends in
 * limit=22.5ns as well, and needs no peer. Best of ours is compared with best
 * of theirs; where both take singly and in bulk, like is compared with like as
 * well, above that line.
 */
#ifndef BENCH_SUPPORT_HARNESS_H
#define BENCH_SUPPORT_HARNESS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench
{

enum class Side {
    ours,
    peer,
    less, // a peer that promises less than the row asks: shown, not counted
};

/* One round of one contestant: time per message, and what the row measures
 * beside it (memory left, for one). */
struct Sample {
    double cost;
    double beside;
};

struct Contestant {
    Side side;
    std::string name;
    std::string style; // "single", "bulk", ...: like is compared with like
    std::string does;  // what this side does for its time
    std::function<Sample()> round;
};

struct Row {
    std::string name;
    std::string workload; // one line for people
    double goal = 0;      // smallest ratio that is enough; 0: none set
    std::string goal_text;
    double limit = 0;           // ours must cost no more; 0: none set
    double limit_transfers = 0; // the same, in cache-line transfer times
    std::vector<Contestant> contestants;
    std::vector<std::string> missing; // peers that are not installed
    std::string unit = "ns";
    std::string beside_unit;  // empty: the row measures nothing beside
    double beside_goal = 0;   // ours must stay at or below; 0: none set
    bool best_of = true;      // false: the first of ours and the first peer
    int most_rounds = 1000;   // for rows whose rounds are long
    bool fixed_count = false; // true: slow ones get as many messages as all
    int limit_ms = 8000;      // rounds that hang are ended

    /* Runs once before the rounds, in a process of its own: what all of them
     * need on the disk. */
    std::function<void()> prepare;

    /* Pauses after an empty or full look. With several, everyone runs with
     * each and is judged by what suits it best. */
    std::vector<unsigned> patience = {1};
};

inline void
add(Row &row, Side side, const char *name, const char *style, const char *does,
    std::function<Sample()> round)
{
    row.contestants.push_back({side, name, style, does, std::move(round)});
}

struct Settings {
    int rounds = 7;
    double scale = 1;    // of every message count
    bool ours = false;   // without the peers
    bool full = false;   // sizes that take minutes, too
    std::string results; // tab-separated records are appended to this file
};

extern Settings settings;

/* Called when the program ends, also by fail(); not in the processes of
 * rounds. */
void at_end(void (*clean)());

/* A message count scaled as asked on the command line, and down for slow
 * contestants, so that a round takes no more than about half a second. */
uint64_t scaled(uint64_t messages);

/* Says what is wrong and ends the program: a wrong benchmark has no result. */
[[noreturn]] void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Runs the rows named on the command line, or all. Rows are made when asked
 * for, one at a time. What every side does goes into `banner`. `program` is
 * its group and its name, "mailbox/burst". */
int run_rows(int argc, char **argv, const char *program, const char *banner,
             const std::vector<std::function<Row()>> &rows);

} // namespace bench

#endif
