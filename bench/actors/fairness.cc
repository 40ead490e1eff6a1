/* SPDX-License-Identifier: Apache-2.0 */
/* How long a quiet actor waits beside flooded ones. */
#include "support/actor_row.h"

using namespace bench;

namespace
{

uint64_t
flood_each()
{
    return scaled(300000) / note_every * note_every;
}

struct Quiet {
    static constexpr const char *name = "quiet";
    Finish *finish;
    uint64_t left;
    std::vector<int64_t> *waits;

    void receive(lbx_context *, uint64_t sent_ns)
    {
        waits->push_back(now_ns() - int64_t(sent_ns));
        if (--left == 0)
            finish->done(waits->size());
    }
};

struct Flooded {
    static constexpr const char *name = "flooded";
    static constexpr uint64_t go = UINT64_MAX;
    Finish *finish;
    lbx_ref quiet;
    bool takes_notes;
    uint64_t left;

    void receive(lbx_context *context, uint64_t number)
    {
        if (number == go) {
            for (uint64_t i = 0; i < queued; i++)
                tell_self(context, i);
            return;
        }
        if (left > queued)
            tell_self(context, number);
        left--;
        if (takes_notes && left % note_every == 0)
            tell(quiet, uint64_t(now_ns()));
        if (left == 0)
            finish->done(0);
    }
};

Sample
our_fairness(unsigned threads, uint64_t each)
{
    lbx_system *system = our_system(threads);
    std::vector<int64_t> waits;
    std::vector<lbx_ref> all;
    Finish heard, floods[flooded_actors];
    uint64_t notes = each / note_every;

    waits.reserve(notes);
    lbx_ref quiet = spawn(system, Quiet{&heard, notes, &waits});
    for (Finish &finish : floods)
        all.push_back(
            spawn(system, Flooded{&finish, quiet, all.empty(), each}));
    for (lbx_ref flooded : all)
        tell(flooded, Flooded::go);
    for (Finish &finish : floods)
        finish.wait(0);
    heard.wait(notes);
    Waits seen = waits_of(std::move(waits));
    return {seen.most_us, seen.longest_us};
}

/* The figure that a row is about: what 99 of 100 messages do not exceed, or the
 * longest wait; the other one stands beside. */
enum class Figure {
    most,
    longest,
};

Sample
chosen(Figure figure, Sample sample)
{
    return figure == Figure::most ? sample : Sample{sample.beside, sample.cost};
}

Row
fairness(const char *name, const char *workload, Figure figure)
{
    Row row = actor_row(name, workload, 1);

    row.unit = "us";
    row.beside_unit =
        figure == Figure::most ? "us at the longest" : "us for 99 of 100";
    row.most_rounds = 1000; // one bad moment of the machine shows: take many
    add_threads(row, Side::ours, "letterbox",
                "lets others run after 5 messages, the default", Threads::two,
                [=](unsigned n) {
                    return chosen(figure, our_fairness(n, flood_each()));
                });
#ifdef HAVE_ERLANG
    add_threads(
        row, Side::peer, "erlang", "lets others run after 4,000 reductions",
        Threads::two, [=](unsigned n) {
            return chosen(figure, erlang(schedulers(n), "fairness", "round",
                                         {flooded_actors, queued, flood_each(),
                                          note_every}));
        });
#endif
#ifdef HAVE_CAF
    add_caf(row,
            "told to let others run after 5 messages; its default is never",
            Threads::two, [=](const CafSetup &setup) {
                return chosen(figure, caf_fairness(setup, flood_each()));
            });
#endif
    return row;
}

const char *const banner =
    "Four actors on two cores always have 1,000 messages queued, since they\n"
    "send themselves one for each that they handle. Every 300 messages the\n"
    "first of them sends a quiet actor the time; that takes the time again\n"
    "when it handles the message: 1,000 waits a round. The longest is also\n"
    "what the machine does: the kernel may run somebody else for some ms. "
    "What\n"
    "99 of 100 do not exceed is a row of its own.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(
        argc, argv, "actors/fairness", banner,
        {
            [] {
                return fairness("actor-fairness",
                                "a quiet actor beside four flooded ones: its "
                                "longest wait of 1,000",
                                Figure::longest);
            },
            [] {
                return fairness("actor-fairness-99",
                                "the same: how long 99 of 100 messages wait "
                                "at most",
                                Figure::most);
            },
        });
}
