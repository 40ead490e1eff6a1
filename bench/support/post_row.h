/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short ways to make a row of postboxes; everything such a program includes.
 * A figure is the time of one letter; beside it stand letters a second.
 */
#ifndef BENCH_SUPPORT_POST_ROW_H
#define BENCH_SUPPORT_POST_ROW_H

#include "support/folder.h"
#include "support/harness.h"
#include "support/our_post.h"

namespace bench
{

constexpr std::size_t under_way = 6; // batches, where several are
constexpr std::size_t sends_under_way = 64;

inline Row
post_row(const std::string &name, const std::string &workload)
{
    Row row;

    row.name = name;
    row.workload = workload;
    row.most_rounds = 5;    // they wait for the disk,
    row.limit_ms = 60000;   // which may be busy with others
    row.fixed_count = true; // who is slow is given less by hand
    row.beside_unit = "k letters/s";
    return row;
}

inline Sample
per_letter(int64_t ns, uint64_t letters)
{
    double each = double(ns) / double(letters);

    return {each, 1e6 / each};
}

/* The wall time of `work` on so many letters. */
template <class Work>
Sample
timed(uint64_t letters, Work work)
{
    int64_t start = now_ns();

    work();
    return per_letter(now_ns() - start, letters);
}

inline std::string
file_url(const std::string &name)
{
    return "file:" + folder(name);
}

/* Takes all letters out of a box, without waiting for the disk. */
inline void
empty_box(const std::string &url, const char *name)
{
    Store store(url, LBX_DURABILITY_PROCESS);
    Box box(store, name, 0);

    drain_with_fleet(box, under_way, box.letters());
}

/* A store in files as it is after some use: a new one has all its free pages in
 * a row, and is faster. */
inline void
use_store(const std::string &url, const char *name, std::size_t body_bytes)
{
    for (int i = 0; i < 3; i++) {
        {
            Store store(url, LBX_DURABILITY_PROCESS);
            Box box(store, name, body_bytes);

            send_with_fleet(box, under_way, batch_most, 20000);
        }
        empty_box(url, name);
    }
}

} // namespace bench

#endif
