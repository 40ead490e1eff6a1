/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of SQS as bytes, in both wire formats: JSON for servers of today,
 * Query for one that is older. Bodies and names need no escapes.
 */
#ifndef BENCH_SUPPORT_SQS_H
#define BENCH_SUPPORT_SQS_H

#include <string>
#include <string_view>

namespace bench
{

class Sqs
{
  public:
    virtual ~Sqs() = default;
    virtual std::string create(const std::string &queue) const = 0;
    virtual std::string send(const std::string &queue,
                             const std::string &body) const = 0;
    virtual std::string receive(const std::string &queue) const = 0;
    virtual std::string remove(const std::string &queue,
                               std::string_view receipt) const = 0;

    /* Of the one message in an answer to receive; empty: there is none. */
    virtual std::string receipt_of(std::string_view answer) const = 0;
};

class JsonSqs : public Sqs
{
  public:
    explicit JsonSqs(int port);
    std::string create(const std::string &queue) const override;
    std::string send(const std::string &queue,
                     const std::string &body) const override;
    std::string receive(const std::string &queue) const override;
    std::string remove(const std::string &queue,
                       std::string_view receipt) const override;
    std::string receipt_of(std::string_view answer) const override;

    /* Ten messages of this body. */
    std::string send_batch(const std::string &queue,
                           const std::string &body) const;
    std::string receive_waiting(const std::string &queue, int seconds) const;

  private:
    std::string request(const char *action, const std::string &text) const;
    std::string url(const std::string &queue) const;

    std::string host;
};

/* As ElasticMQ 0.7 wants it. */
class QuerySqs : public Sqs
{
  public:
    explicit QuerySqs(int port);
    std::string create(const std::string &queue) const override;
    std::string send(const std::string &queue,
                     const std::string &body) const override;
    std::string receive(const std::string &queue) const override;
    std::string remove(const std::string &queue,
                       std::string_view receipt) const override;
    std::string receipt_of(std::string_view answer) const override;

  private:
    std::string request(const std::string &path, const std::string &form) const;

    std::string host;
};

} // namespace bench

#endif
