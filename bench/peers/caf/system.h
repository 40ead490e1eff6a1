/* SPDX-License-Identifier: Apache-2.0 */
/* What all of CAF's rounds need. */
#ifndef BENCH_PEERS_CAF_SYSTEM_H
#define BENCH_PEERS_CAF_SYSTEM_H

#include "peers/caf.h"
#include "support/actor_shapes.h"
#include "support/finish.h"
#include <caf/all.hpp>

namespace bench
{

/* A system that is never destroyed: the round's process ends with it.
 * `throughput`: messages before an actor lets others run; 0: CAF's
 * own choice, which is without end. */
inline caf::actor_system &
caf_system(const CafSetup &setup, unsigned throughput = 0)
{
    auto *config = new caf::actor_system_config;

    config->set("scheduler.max-threads", setup.threads);
    if (setup.sharing)
        config->set("scheduler.policy", caf::atom("sharing"));
    if (throughput)
        config->set("scheduler.max-throughput", throughput);
    return *new caf::actor_system(*config);
}

} // namespace bench

#endif
