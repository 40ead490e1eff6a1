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
    return resident_bytes(getpid());
}

double
resident_bytes(pid_t pid)
{
    std::string path = "/proc/" + std::to_string(pid) + "/statm";
    long size, resident;
    std::FILE *file = std::fopen(path.c_str(), "r");

    if (!file || std::fscanf(file, "%ld %ld", &size, &resident) != 2)
        fail("cannot read %s", path.c_str());
    std::fclose(file);
    return double(resident) * double(sysconf(_SC_PAGESIZE));
}

} // namespace bench
