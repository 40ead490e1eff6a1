/* SPDX-License-Identifier: Apache-2.0 */
#include "support/folder.h"
#include "support/harness.h"
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace bench
{

namespace
{

/* Rounds are processes of their own: the name is made before they are. */
const std::string root = [] {
    const char *base = std::getenv("BENCH_FOLDER");

    return std::string(base ? base : "/var/tmp") + "/letterbox-bench." +
           std::to_string(getpid());
}();

void
remove_root()
{
    std::error_code ignored;

    std::filesystem::remove_all(root, ignored);
}

const bool registered = (at_end(remove_root), true);

void
make(const std::string &path)
{
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        fail("cannot make %s", path.c_str());
}

} // namespace

std::string
folder(const std::string &name)
{
    std::string path = root + "/" + name;

    make(root);
    make(path);
    return path;
}

std::string
fresh_folder(const std::string &name)
{
    std::error_code ignored;

    std::filesystem::remove_all(root + "/" + name, ignored);
    return folder(name);
}

} // namespace bench
