/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Erlang/OTP: a round is a virtual machine of its own that runs one function of
 * peers/erlang/. It measures and checks inside; what it takes to start does not
 * count.
 */
#ifndef BENCH_PEERS_ERLANG_H
#define BENCH_PEERS_ERLANG_H

#include "support/harness.h"

namespace bench
{

/* `flags` are the virtual machine's, separated by single spaces; "+S 2:2": two
 * schedulers. `numbers` are the function's arguments. */
Sample erlang(const std::string &flags, const char *module,
              const char *function, const std::vector<uint64_t> &numbers);

} // namespace bench

#endif
