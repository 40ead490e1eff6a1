/* SPDX-License-Identifier: Apache-2.0 */
/* A quiet actor beside flooded ones. CAF lets an actor run until its mailbox
 * is empty unless it is told otherwise: here it is. */
#include "peers/caf/system.h"

namespace bench
{

namespace
{

class Quiet : public caf::event_based_actor
{
  public:
    Quiet(caf::actor_config &config, Finish *end, uint64_t notes,
          std::vector<int64_t> *all)
        : event_based_actor(config), finish(end), left(notes), waits(all)
    {
        waits->reserve(notes);
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](int64_t sent_ns) {
                waits->push_back(now_ns() - sent_ns);
                if (--left == 0)
                    finish->done(waits->size());
            },
        };
    }

  private:
    Finish *finish;
    uint64_t left;
    std::vector<int64_t> *waits;
};

class Flooded : public caf::event_based_actor
{
  public:
    Flooded(caf::actor_config &config, Finish *end, const caf::actor &notes_to,
            uint64_t each)
        : event_based_actor(config), finish(end), quiet(notes_to), left(each)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](uint64_t number) {
                if (left > queued)
                    send(this, number);
                left--;
                if (quiet && left % note_every == 0)
                    send(quiet, now_ns());
                if (left == 0)
                    finish->done(0);
            },
            [this](bool) {
                for (uint64_t i = 0; i < queued; i++)
                    send(this, i);
            },
        };
    }

  private:
    Finish *finish;
    caf::actor quiet;
    uint64_t left;
};

} // namespace

Sample
caf_fairness(const CafSetup &setup, uint64_t each)
{
    caf::actor_system &system = caf_system(setup, 5);
    std::vector<int64_t> waits;
    std::vector<caf::actor> all;
    Finish heard, floods[flooded_actors];
    uint64_t notes = each / note_every;
    auto quiet = system.spawn<Quiet>(&heard, notes, &waits);

    for (Finish &finish : floods)
        all.push_back(system.spawn<Flooded>(
            &finish, all.empty() ? quiet : caf::actor(), each));
    for (const caf::actor &flooded : all)
        caf::anon_send(flooded, true);
    for (Finish &finish : floods)
        finish.wait(0);
    heard.wait(notes);
    Waits seen = waits_of(std::move(waits));
    return {seen.most_us, seen.longest_us};
}

} // namespace bench
