/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a round that runs in threads of somebody else's: whoever handles
 * the last message says so and gives a result, the program waits for it. The
 * time is read where the last message is handled.
 */
#ifndef BENCH_SUPPORT_FINISH_H
#define BENCH_SUPPORT_FINISH_H

#include "support/harness.h"
#include "support/threads.h"
#include <semaphore.h>

namespace bench
{

class Finish
{
  public:
    Finish()
    {
        sem_init(&semaphore, 0, 0);
    }

    void start()
    {
        started = now_ns();
    }

    void done(uint64_t value)
    {
        ended = now_ns();
        result = value;
        sem_post(&semaphore);
    }

    /* Waits for done(); the ns between start() and there. */
    double wait(uint64_t expected)
    {
        while (sem_wait(&semaphore) != 0)
            ;
        if (result != expected)
            fail("messages lost or doubled: result %llu, not %llu",
                 (unsigned long long)result, (unsigned long long)expected);
        return double(ended - started);
    }

  private:
    sem_t semaphore;
    int64_t started = 0, ended = 0;
    uint64_t result = 0;
};

/* 1 + 2 + ... + last */
inline uint64_t
sum_to(uint64_t last)
{
    return last * (last + 1) / 2;
}

} // namespace bench

#endif
