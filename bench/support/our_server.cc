/* SPDX-License-Identifier: Apache-2.0 */
#include "support/our_server.h"
#include "support/harness.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace bench
{

namespace
{

[[noreturn]] void
become_server(std::vector<std::string> &words, int out)
{
    std::vector<char *> arguments;

    for (std::string &word : words)
        arguments.push_back(&word[0]);
    arguments.push_back(nullptr);
    dup2(out, STDOUT_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // it does not outlive the round
    execv(arguments[0], arguments.data());
    _exit(127);
}

/* The port of "... http://127.0.0.1:9324", the first line that is printed. */
int
read_port(int out)
{
    std::string text;
    char byte;

    while (read(out, &byte, 1) == 1 && byte != '\n')
        text += byte;
    std::size_t at = text.find("http://127.0.0.1:");
    if (at == std::string::npos)
        fail("the server does not start: %s", text.c_str());
    return std::atoi(text.c_str() + at + std::strlen("http://127.0.0.1:"));
}

} // namespace

Server::Server(std::vector<std::string> command)
{
    int ends[2];

    if (pipe(ends))
        fail("pipe");
    child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        become_server(command, ends[1]);
    close(ends[1]);
    number = read_port(ends[0]);
    // The other end stays open: what it prints later must not end it.
}

Server::~Server()
{
    kill(child, SIGTERM);
    waitpid(child, nullptr, 0);
}

int64_t
Server::cpu_ns() const
{
    clockid_t clock;
    timespec time;

    if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &time))
        fail("no processor time of the server");
    return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

std::vector<std::string>
serve_command(const std::string &store_url, std::vector<std::string> options)
{
    std::vector<std::string> words = {LETTERBOX_PROGRAM, "serve",
                                      "--store",         store_url,
                                      "--listen",        "127.0.0.1:0"};

    words.insert(words.end(), options.begin(), options.end());
    return words;
}

std::vector<std::string>
empty_answer_command()
{
    return {EMPTY_ANSWER_PROGRAM};
}

} // namespace bench
