/* SPDX-License-Identifier: Apache-2.0 */
#include "peers/erlang.h"
#include <csignal>
#include <cstdio>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench
{

namespace
{

/* ERL and ERLANG_MODULES come from the build: the program, and the folder with
 * the compiled modules. */
[[noreturn]] void
become_erlang(std::vector<std::string> words)
{
    std::vector<char *> arguments;

    for (std::string &word : words)
        arguments.push_back(&word[0]);
    arguments.push_back(nullptr);
    // The harness ends a round that hangs: the machine must not outlive it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(ERL, arguments.data());
    _exit(127);
}

std::vector<std::string>
command(const std::string &flags, const char *module, const char *function,
        const std::vector<uint64_t> &numbers)
{
    // +P: how many processes there may be.
    std::vector<std::string> words = {ERL, "-noshell", "-noinput", "-pa",
                                      ERLANG_MODULES};
    std::istringstream each(flags + " +P 4000000");
    std::string flag;

    while (each >> flag)
        words.push_back(flag);
    words.insert(words.end(), {"-run", "bench", "main", module, function});
    for (uint64_t number : numbers)
        words.push_back(std::to_string(number));
    return words;
}

} // namespace

Sample
erlang(const std::string &flags, const char *module, const char *function,
       const std::vector<uint64_t> &numbers)
{
    std::vector<std::string> words = command(flags, module, function, numbers);
    Sample sample = {0, 0};
    int ends[2], status = 0;

    if (pipe(ends))
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        become_erlang(std::move(words));
    }
    close(ends[1]);
    std::FILE *answer = fdopen(ends[0], "r");
    bool told = answer && std::fscanf(answer, "%lf %lf", &sample.cost,
                                      &sample.beside) == 2;
    waitpid(child, &status, 0);
    if (!told || status != 0)
        fail("%s:%s failed in Erlang", module, function);
    return sample;
}

} // namespace bench
