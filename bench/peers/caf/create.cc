/* SPDX-License-Identifier: Apache-2.0 */
/* A parent and many children. They begin with their first message (lazy_init),
 * which spares CAF one turn each. */
#include "peers/caf/system.h"
#include "support/memory.h"
#include <time.h>

namespace bench
{

namespace
{

class Child : public caf::event_based_actor
{
  public:
    Child(caf::actor_config &config, bool is_to_stay)
        : event_based_actor(config), stays(is_to_stay)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](uint64_t number) {
                if (!stays)
                    quit();
                return number;
            },
        };
    }

  private:
    bool stays;
};

class Parent : public caf::event_based_actor
{
  public:
    Parent(caf::actor_config &config, Finish *end, uint64_t count,
           bool they_stay)
        : event_based_actor(config), finish(end), last(count), stay(they_stay)
    {
        if (stay)
            children.reserve(count);
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](uint64_t number) {
                sum += number;
                if (++answers == last)
                    finish->done(sum);
            },
            [this](bool go) {
                uint64_t until = std::min(made + chunk, last);

                while (made < until)
                    make();
                if (made < last)
                    send(this, go);
            },
        };
    }

  private:
    void make()
    {
        auto child = spawn<Child, caf::lazy_init>(stay);

        send(child, ++made);
        if (stay)
            children.push_back(std::move(child)); // unreachable ones would end
    }

    Finish *finish;
    uint64_t last, made = 0, answers = 0, sum = 0;
    bool stay;
    std::vector<caf::actor> children;
};

Sample
create(const CafSetup &setup, uint64_t count, bool stay)
{
    caf::actor_system &system = caf_system(setup);
    Finish finish;
    double before = resident_bytes();
    auto parent = system.spawn<Parent>(&finish, count, stay);

    finish.start();
    caf::anon_send(parent, true);
    double ns = finish.wait(sum_to(count)) / double(count);
    double bytes = (resident_bytes() - before) / double(count);
    if (stay && system.registry().running() < count)
        fail("not all children are alive");
    for (int i = 0; !stay && system.registry().running() > 10; i++) {
        const timespec moment = {0, 1000000};

        if (i == 5000)
            fail("children did not end");
        nanosleep(&moment, nullptr);
    }
    return stay ? Sample{bytes, ns} : Sample{ns, 0};
}

} // namespace

Sample
caf_create(const CafSetup &setup, uint64_t count)
{
    return create(setup, count, false);
}

Sample
caf_memory(const CafSetup &setup, uint64_t count)
{
    return create(setup, count, true);
}

} // namespace bench
