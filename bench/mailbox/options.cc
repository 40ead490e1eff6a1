/* SPDX-License-Identifier: Apache-2.0 */
/* What our own options cost: a control lane, timestamps, deadlines. The
 * "peer" is the same mailbox without. */
#include "support/row.h"

using namespace bench;

namespace
{

/* Every sixteenth message goes to the control lane. */
struct TwoLanes : Mailbox {
    TwoLanes()
        : Mailbox(LBX_KIND_UNBOUNDED_CONTROL_AWARE,
                  lbx_mailbox_options LBX_MAILBOX_OPTIONS_INIT)
    {
    }

    struct Producer : Mailbox::Producer {
        using Mailbox::Producer::Producer;

        bool push(uint64_t value)
        {
            if (value >> 4 & 15)
                return Mailbox::Producer::push(value);
            lbx_envelope envelope = lbx_envelope_control(
                reinterpret_cast<void *>(value), LBX_PRIORITY_DEFAULT);
            must(lbx_producer_try_send_envelope(in, &envelope, nullptr),
                 "try_send_envelope");
            return true;
        }
    };
};

Row
control_lane(const char *name, const Shape &shape)
{
    const char *kind = LBX_KIND_UNBOUNDED_CONTROL_AWARE;
    Row row;

    row.name = name;
    row.workload = "control-aware, every 16th message urgent, against one "
                   "lane: " +
                   shape_text(shape);
    row.goal = 1 / 1.3;
    row.goal_text = "at most 1.3 x the time of one lane";
    row.best_of = false;
    row.patience = {1, 16};
    add_stream(row, Side::ours, "two-lanes", "single", "1 in 16 control", shape,
               fresh<TwoLanes>(), PutOne{}, TakeOne{});
    add_stream(row, Side::ours, "two-lanes", "bulk", "1 in 16 control", shape,
               fresh<TwoLanes>(), PutOne{}, TakeBulk{});
    add_stream(row, Side::ours, "two-lanes-user-only", "single", "no control",
               shape, mailbox(kind), PutOne{}, TakeOne{});
    add_stream(row, Side::peer, "one-lane", "single", "\"unbounded\"", shape,
               mailbox(LBX_KIND_UNBOUNDED), PutOne{}, TakeOne{});
    add_stream(row, Side::peer, "one-lane", "bulk", "\"unbounded\"", shape,
               mailbox(LBX_KIND_UNBOUNDED), PutOne{}, TakeBulk{});
    return row;
}

auto
enveloped(bool timestamps, int64_t deadline_ns)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.envelopes = true;
    options.timestamps = timestamps;
    return [=] {
        return std::make_unique<Enveloped>(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
                                           options, deadline_ns);
    };
}

template <class Make>
void
add_one_thread(Row &row, Side side, const char *name, const char *does,
               Make make)
{
    add(row, side, name, "single", does,
        [=] { return one_thread(1000000, 1, make, TakeOne{}); });
}

Row
timestamps()
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    Row row;

    row.name = "timestamps";
    row.workload = "one thread, 1 in, 1 out: timestamps on, against off";
    row.goal_text = "none set: a clock reading at each end is the price";
    row.best_of = false;
    options.timestamps = true;
    add_one_thread(row, Side::ours, "with", "time in mailbox in the stats",
                   mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, options));
    add_one_thread(row, Side::ours, "with, envelopes", "and in the envelope",
                   enveloped(true, LBX_FOREVER));
    add_one_thread(row, Side::peer, "without", "plain",
                   mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER));
    return row;
}

Row
deadlines()
{
    Row row;

    row.name = "deadlines";
    row.workload = "one thread, 1 in, 1 out: a deadline on each message (one "
                   "hour away), against none";
    row.goal_text = "none set: a clock reading at the take is the price";
    row.best_of = false;
    add_one_thread(
        row, Side::ours, "with", "expired ones would be lost",
        enveloped(false, lbx_deadline_after(nullptr, 3600 * LBX_SECOND)));
    add_one_thread(row, Side::peer, "envelopes without", "no deadline",
                   enveloped(false, LBX_FOREVER));
    add_one_thread(row, Side::less, "without envelopes", "plain",
                   mailbox(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER));
    return row;
}

const char *const banner =
    "Our mailbox against itself: the \"peer\" is the same mailbox without the\n"
    "option. A ratio of 0.50 says that the option doubles the time.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(
        argc, argv, "mailbox/options", banner,
        {
            [] {
                return control_lane("control-lane-1p1c", {1, 1, 2000000});
            },
            [] {
                return control_lane("control-lane-4p1c", {4, 1, 2000000});
            },
            timestamps,
            deadlines,
        });
}
