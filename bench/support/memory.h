/* SPDX-License-Identifier: Apache-2.0 */
/* What a process takes of the machine's memory now. */
#ifndef BENCH_SUPPORT_MEMORY_H
#define BENCH_SUPPORT_MEMORY_H

#include <sys/types.h>

namespace bench
{

double resident_bytes(); // this process
double resident_bytes(pid_t pid);

} // namespace bench

#endif
