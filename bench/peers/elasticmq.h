/* SPDX-License-Identifier: Apache-2.0 */
/* ElasticMQ 0.7, an SQS server in memory for Java, from npm. */
#ifndef BENCH_PEERS_ELASTICMQ_H
#define BENCH_PEERS_ELASTICMQ_H

#include "peers/daemon.h"
#include <cstdlib>
#include <unistd.h>

namespace bench
{

class ElasticMq
{
  public:
    ElasticMq() : port(free_port()), daemon(port, command(port))
    {
    }

    static bool is_there()
    {
        return access(jar().c_str(), R_OK) == 0 &&
               std::system("command -v java >/dev/null") == 0;
    }

    const int port;

  private:
    static std::string jar()
    {
        return NPM_PEERS "/node_modules/elasticmq/elasticmq-server-0.7.1.jar";
    }

    /* It is of 2013: what it opens of Java is closed by now. */
    static std::vector<std::string> command(int port)
    {
        std::string number = std::to_string(port);

        return {"java",
                "--add-opens=java.base/java.util.regex=ALL-UNNAMED",
                "-Drest-sqs.bind-hostname=127.0.0.1",
                "-Drest-sqs.bind-port=" + number,
                "-Dnode-address.host=127.0.0.1",
                "-Dnode-address.port=" + number,
                "-jar",
                jar()};
    }

    Daemon daemon;
};

} // namespace bench

#endif
