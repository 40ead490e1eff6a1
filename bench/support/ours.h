/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side: the public API, as a user calls it. Every call checks its status.
 */
#ifndef BENCH_SUPPORT_OURS_H
#define BENCH_SUPPORT_OURS_H

#include "support/harness.h"
#include <letterbox/mailbox.h>
#include <letterbox/mailbox/messages.h>
#include <memory>

namespace bench
{

constexpr const char *ours_does =
    "close, exact depth, policy, stats, wakes sleepers, FIFO";

inline void
must(lbx_status status, const char *what)
{
    if (__builtin_expect(status != LBX_OK, 0))
        fail("%s: %s", what, lbx_status_name(status));
}

class Mailbox
{
  public:
    Mailbox(const char *kind, lbx_mailbox_options options)
    {
        lbx_fault fault = {};

        options.fault = &fault;
        lbx_status status = lbx_mailbox_create(kind, &options, &in, &out);
        if (status != LBX_OK)
            fail("%s: %s %s", kind, lbx_status_name(status), fault.text);
    }

    ~Mailbox()
    {
        lbx_producer_unref(in);
        lbx_consumer_unref(out);
    }

    Mailbox(const Mailbox &) = delete;
    Mailbox &operator=(const Mailbox &) = delete;

    class Producer
    {
      public:
        explicit Producer(Mailbox &mailbox) : in(mailbox.in)
        {
        }

        bool push(uint64_t value)
        {
            lbx_status status =
                lbx_producer_try_send(in, reinterpret_cast<void *>(value));

            if (status == LBX_OK)
                return true;
            if (status != LBX_FULL)
                must(status, "try_send");
            return false;
        }

        std::size_t push_batch(const uint64_t *values, std::size_t count)
        {
            std::size_t sent;
            lbx_status status = lbx_producer_try_send_batch(
                in,
                reinterpret_cast<void *const *>(const_cast<uint64_t *>(values)),
                count, &sent);

            if (status != LBX_OK && status != LBX_FULL)
                must(status, "try_send_batch");
            return sent;
        }

        void push_wait(uint64_t value)
        {
            must(lbx_producer_send(in, reinterpret_cast<void *>(value)),
                 "send");
        }

      protected:
        lbx_producer *in;
    };

    class Consumer
    {
      public:
        explicit Consumer(Mailbox &mailbox) : out(mailbox.out)
        {
        }

        bool pop(uint64_t &value)
        {
            void *message;
            lbx_status status = lbx_consumer_try_receive(out, &message);

            if (status == LBX_OK) {
                value = reinterpret_cast<uint64_t>(message);
                return true;
            }
            if (status != LBX_EMPTY)
                must(status, "try_receive");
            return false;
        }

        std::size_t pop_batch(uint64_t *values, std::size_t most)
        {
            std::size_t count;
            lbx_status status = lbx_consumer_try_receive_batch(
                out, reinterpret_cast<void **>(values), most, &count);

            if (status != LBX_OK && status != LBX_EMPTY)
                must(status, "try_receive_batch");
            return count;
        }

        void pop_wait(uint64_t &value)
        {
            void *message;

            must(lbx_consumer_receive(out, &message), "receive");
            value = reinterpret_cast<uint64_t>(message);
        }

        std::size_t pop_wait_batch(uint64_t *values, std::size_t most)
        {
            std::size_t count;

            must(lbx_consumer_receive_batch_until(
                     out, reinterpret_cast<void **>(values), most, &count,
                     LBX_FOREVER),
                 "receive_batch_until");
            return count;
        }

      protected:
        lbx_consumer *out;
    };

    lbx_producer *in;
    lbx_consumer *out;
};

/* Envelopes both ways, with the deadline given. */
class Enveloped : public Mailbox
{
  public:
    Enveloped(const char *kind, lbx_mailbox_options options, int64_t deadline)
        : Mailbox(kind, options), deadline_ns(deadline)
    {
    }

    class Producer : public Mailbox::Producer
    {
      public:
        explicit Producer(Enveloped &mailbox)
            : Mailbox::Producer(mailbox), deadline_ns(mailbox.deadline_ns)
        {
        }

        bool push(uint64_t value)
        {
            lbx_envelope envelope = lbx_envelope_with_default_priority(
                reinterpret_cast<void *>(value));

            envelope.deadline_ns = deadline_ns;
            must(lbx_producer_try_send_envelope(in, &envelope, nullptr),
                 "try_send_envelope");
            return true;
        }

      private:
        int64_t deadline_ns;
    };

    class Consumer : public Mailbox::Consumer
    {
      public:
        explicit Consumer(Enveloped &mailbox) : Mailbox::Consumer(mailbox)
        {
        }

        bool pop(uint64_t &value)
        {
            lbx_envelope envelope;
            lbx_status status =
                lbx_consumer_try_receive_envelope(out, &envelope);

            if (status == LBX_OK) {
                value = reinterpret_cast<uint64_t>(envelope.message);
                return true;
            }
            if (status != LBX_EMPTY)
                must(status, "try_receive_envelope");
            return false;
        }
    };

    int64_t deadline_ns;
};

/* A function that makes a fresh mailbox for each round. */
inline auto
mailbox(const char *kind)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    return [=] { return std::make_unique<Mailbox>(kind, options); };
}

inline auto
mailbox(const char *kind, lbx_mailbox_options options)
{
    return [=] { return std::make_unique<Mailbox>(kind, options); };
}

inline auto
bounded_mailbox(int64_t capacity, lbx_overflow overflow)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;

    options.capacity_messages = capacity;
    options.overflow = overflow;
    return mailbox(LBX_KIND_BOUNDED, options);
}

} // namespace bench

#endif
