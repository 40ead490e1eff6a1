/* SPDX-License-Identifier: Apache-2.0 */
/* What this process takes of the machine's memory now. */
#ifndef BENCH_SUPPORT_MEMORY_H
#define BENCH_SUPPORT_MEMORY_H

namespace bench
{

double resident_bytes();

} // namespace bench

#endif
