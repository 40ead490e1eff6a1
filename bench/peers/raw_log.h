/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of a synced store: records appended to a preallocated file with one
 * write and one fdatasync() for a group, and lists in memory. No tree, no sums,
 * no second process, no recovery, and when the file is full it begins at the
 * front again over whatever is there.
 */
#ifndef BENCH_PEERS_RAW_LOG_H
#define BENCH_PEERS_RAW_LOG_H

#include "support/harness.h"
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace bench
{

class RawLog
{
  public:
    static constexpr std::size_t file_bytes = 64 << 20;

    explicit RawLog(const std::string &folder)
    {
        std::string path = folder + "/log";

        fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            fail("cannot open %s", path.c_str());
        if (lseek(fd, 0, SEEK_END) < off_t(file_bytes))
            fill();
    }

    ~RawLog()
    {
        close(fd);
    }

    RawLog(const RawLog &) = delete;

    void send(const std::string &body)
    {
        append(1, ++last, body);
        ready.push_back({last, body});
    }

    /* The number of the letter; its body is read as a receiver would. */
    uint64_t lease()
    {
        if (ready.empty())
            fail("the raw log is empty");
        uint64_t number = ready.front().first;

        append(2, number, "");
        leased.emplace(number, std::move(ready.front().second));
        ready.pop_front();
        return number;
    }

    void acknowledge(uint64_t number)
    {
        append(3, number, "");
        if (leased.erase(number) != 1)
            fail("the raw log has lost %llu", (unsigned long long)number);
    }

    void commit()
    {
        if (group.size() > file_bytes - at)
            at = 0;
        if (pwrite(fd, group.data(), group.size(), off_t(at)) !=
                ssize_t(group.size()) ||
            fdatasync(fd) != 0)
            fail("the raw log cannot write");
        at += group.size();
        group.clear();
    }

  private:
    void append(uint32_t what, uint64_t number, const std::string &body)
    {
        struct {
            uint32_t what, size;
            uint64_t number;
        } head = {what, uint32_t(body.size()), number};
        std::size_t from = group.size();

        group.resize(from + sizeof(head) + (body.size() + 7) / 8 * 8);
        std::memcpy(&group[from], &head, sizeof(head));
        std::memcpy(&group[from + sizeof(head)], body.data(), body.size());
    }

    /* With zeros: then fdatasync() has no metadata to write. */
    void fill()
    {
        std::string zeros(1 << 20, '\0');

        for (std::size_t from = 0; from < file_bytes; from += zeros.size())
            if (pwrite(fd, zeros.data(), zeros.size(), off_t(from)) !=
                ssize_t(zeros.size()))
                fail("no room for the raw log");
        if (fsync(fd) != 0)
            fail("the raw log cannot write");
    }

    int fd;
    std::size_t at = 0;
    uint64_t last = 0;
    std::vector<char> group;
    std::deque<std::pair<uint64_t, std::string>> ready;
    std::unordered_map<uint64_t, std::string> leased;
};

} // namespace bench

#endif
