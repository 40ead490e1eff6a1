/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where stores of a run are: a folder of this program's, on one disk for all
 * contestants, below $BENCH_FOLDER or /var/tmp. It goes when the program ends.
 */
#ifndef BENCH_SUPPORT_FOLDER_H
#define BENCH_SUPPORT_FOLDER_H

#include <string>

namespace bench
{

/* A folder of this name; made if it is not there. */
std::string folder(const std::string &name);

/* The same, and it is empty. */
std::string fresh_folder(const std::string &name);

} // namespace bench

#endif
