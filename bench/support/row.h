/* SPDX-License-Identifier: Apache-2.0 */
/* Short ways to add contestants to a row; everything a program includes. */
#ifndef BENCH_SUPPORT_ROW_H
#define BENCH_SUPPORT_ROW_H

#include "support/harness.h"
#include "support/ours.h"
#include "support/workloads.h"

namespace bench
{

/* A maker of fresh queues of a type that needs nothing to be told. */
template <class Queue>
auto
fresh()
{
    return [] { return std::make_unique<Queue>(); };
}

template <class Make, class Put, class Take>
void
add_stream(Row &row, Side side, const char *name, const char *style,
           const char *does, const Shape &shape, Make make, Put put, Take take)
{
    add(row, side, name, style, does,
        [=] { return stream(shape, make, put, take); });
}

inline std::string
goal_text(double goal)
{
    char text[80];

    std::snprintf(text, sizeof(text), "at least %.2f x the best peer's speed",
                  goal);
    return text;
}

inline std::string
shape_text(const Shape &shape)
{
    char text[120];

    std::snprintf(text, sizeof(text),
                  "%d producer%s, %d consumer%s, %.1f M "
                  "messages a round",
                  shape.producers, shape.producers > 1 ? "s" : "",
                  shape.consumers, shape.consumers > 1 ? "s" : "",
                  double(scaled(shape.messages)) / 1e6);
    return text;
}

} // namespace bench

#endif
