/* SPDX-License-Identifier: Apache-2.0 */
#include "support/memory.h"
#include "support/harness.h"
#include <cstdio>
#include <unistd.h>

namespace bench
{

double
resident_bytes()
{
    long size, resident;
    std::FILE *file = std::fopen("/proc/self/statm", "r");

    if (!file || std::fscanf(file, "%ld %ld", &size, &resident) != 2)
        fail("cannot read /proc/self/statm");
    std::fclose(file);
    return double(resident) * double(sysconf(_SC_PAGESIZE));
}

} // namespace bench
