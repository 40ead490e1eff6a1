/* SPDX-License-Identifier: Apache-2.0 */
#include "support/harness.h"
#include "support/threads.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench
{

Settings settings;

namespace
{

constexpr double round_seconds = 0.5; // slow ones get fewer messages
constexpr double stuck = 1e9;         // the cost of a round without an end

struct Figure {
    double median, least, most, beside;
};

std::FILE *results;
double slow_scale = 1; // of the contestant that runs now
double transfer_ns;    // of a cache line, in this run
std::string running;   // for last words
void (*clean_up)();    // a pointer: set before main()
const pid_t program_pid = getpid();
constexpr int prepare_limit_ms = 600000;

void
record(const char *format, ...)
{
    va_list arguments;

    if (!results)
        return;
    va_start(arguments, format);
    std::vfprintf(results, format, arguments);
    va_end(arguments);
    std::fflush(results);
}

double
middle(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Figure
figure(const std::vector<Sample> &samples)
{
    std::vector<double> costs, besides;

    for (const Sample &sample : samples) {
        costs.push_back(sample.cost);
        besides.push_back(sample.beside);
    }
    return {middle(costs), *std::min_element(costs.begin(), costs.end()),
            *std::max_element(costs.begin(), costs.end()), middle(besides)};
}

/* What ours may cost at most; 0: no limit. A transfer that takes longer than a
 * hundred ns was measured on a busy machine: that excuses nobody. */
double
limit_of(const Row &row)
{
    return row.limit > 0 ? row.limit
                         : row.limit_transfers * std::min(transfer_ns, 100.0);
}

/* The best counted contestant of a side, of one style or (empty) of all. */
int
best(const Row &row, const std::vector<Figure> &figures, Side side,
     const std::string &style)
{
    int found = -1;

    for (std::size_t i = 0; i < figures.size(); i++) {
        const Contestant &c = row.contestants[i];

        if (c.side != side || (!style.empty() && c.style != style))
            continue;
        if (found < 0 ||
            (row.best_of &&
             figures[i].median < figures[std::size_t(found)].median))
            found = int(i);
    }
    return found;
}

/* One contestant with one patience. */
struct Run {
    const Contestant *contestant;
    unsigned pauses;
    double scale; // what keeps its rounds short
    int hung;     // rounds that had to be ended
    std::vector<Sample> samples;
};

/* Runs one round in a process of its own: no contestant inherits another's
 * memory, and one that hangs can be ended. False when it had to be. */
bool
run_apart(const std::function<Sample()> &round, int limit_ms, Sample *ret)
{
    int ends[2];

    std::fflush(nullptr);
    if (pipe(ends))
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // no round outlives the run
        Sample sample = round();
        bool told = write(ends[1], &sample, sizeof(sample)) == sizeof(sample);

        _exit(told ? 0 : 1); // no destructors: threads may still run
    }
    close(ends[1]);
    pollfd wait = {ends[0], POLLIN, 0};
    bool ended = poll(&wait, 1, limit_ms) == 1;
    bool told = ended && read(ends[0], ret, sizeof(*ret)) == sizeof(*ret);
    if (!ended)
        kill(child, SIGKILL);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (ended && !told)
        fail("the round failed");
    return ended;
}

void
run_once(const Row &row, Run &run, double part)
{
    Sample sample = {stuck, 0};

    running = row.name + " (" + run.contestant->name + ")";
    patience = run.pauses;
    slow_scale = run.scale * part;
    if (run.hung < 2) {
        int64_t start = now_ns();
        bool ended = run_apart(run.contestant->round, row.limit_ms, &sample);
        double seconds = double(now_ns() - start) / 1e9 / part;

        run.hung += !ended;
        if (!ended && run.contestant->side == Side::ours)
            fail("no end after %d ms", row.limit_ms);
        if (seconds > round_seconds && !row.fixed_count)
            run.scale *= round_seconds / seconds;
    }
    if (part == 1)
        run.samples.push_back(sample);
}

void
prepare(const Row &row)
{
    Sample nothing;

    running = row.name + " (prepare)";
    slow_scale = 1;
    if (!run_apart(
            [&] {
                row.prepare();
                return Sample{0, 0};
            },
            prepare_limit_ms, &nothing))
        fail("no end");
}

std::vector<Figure>
measure(const Row &row)
{
    int rounds = std::min(settings.rounds, row.most_rounds);
    std::vector<Run> runs;
    std::vector<Figure> figures;

    for (const Contestant &contestant : row.contestants)
        for (unsigned pauses : row.patience)
            runs.push_back({&contestant, pauses, 1, 0, {}});

    if (row.prepare)
        prepare(row);
    std::printf("   %d rounds ", rounds);
    std::fflush(stdout);
    if (!row.fixed_count)
        for (Run &run : runs)
            run_once(row, run, 0.05); // warms up, and finds the slow ones
    for (int round = 0; round < rounds; round++) {
        // Start elsewhere each time: nobody always follows the same one.
        for (std::size_t i = 0; i < runs.size(); i++)
            run_once(row, runs[(i + std::size_t(round)) % runs.size()], 1);
        std::printf(".");
        std::fflush(stdout);
    }
    std::printf("\n");

    for (std::size_t i = 0; i < runs.size(); i += row.patience.size()) {
        Figure chosen = figure(runs[i].samples);

        for (std::size_t k = 1; k < row.patience.size(); k++) {
            Figure other = figure(runs[i + k].samples);

            if (other.median < chosen.median)
                chosen = other;
        }
        figures.push_back(chosen);
    }
    return figures;
}

void
print_contestants(const Row &row, const std::vector<Figure> &figures)
{
    static const char *const sides[] = {"ours", "peer", "less"};
    int ours = best(row, figures, Side::ours, "");

    if (ours < 0)
        fail("%s: a row without us", row.name.c_str());
    for (std::size_t i = 0; i < figures.size(); i++) {
        const Contestant &c = row.contestants[i];
        const Figure &f = figures[i];

        std::printf("   %s %-26s %-7s", sides[int(c.side)], c.name.c_str(),
                    c.style.c_str());
        if (f.median < stuck)
            std::printf(" %8.1f %s  (%.1f-%.1f)", f.median, row.unit.c_str(),
                        f.least, f.most);
        else
            std::printf("    stuck   ");
        if (c.side != Side::ours && f.median < stuck)
            std::printf("  ratio %.2f",
                        f.median / figures[std::size_t(ours)].median);
        if (!row.beside_unit.empty())
            std::printf("  %.1f %s", f.beside, row.beside_unit.c_str());
        std::printf("  %s\n", c.does.c_str());
        record("contestant\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%s\t%.3f\t%s\n",
               row.name.c_str(), sides[int(c.side)], c.name.c_str(),
               c.style.c_str(), f.median, f.least, f.most, row.unit.c_str(),
               f.beside, row.beside_unit.c_str());
    }
    for (const std::string &name : row.missing)
        std::printf("   peer %-26s missing\n", name.c_str());
}

void
print_like_with_like(const Row &row, const std::vector<Figure> &figures)
{
    std::vector<std::string> styles;

    for (const Contestant &c : row.contestants)
        if (std::find(styles.begin(), styles.end(), c.style) == styles.end())
            styles.push_back(c.style);
    for (const std::string &style : styles) {
        int ours = best(row, figures, Side::ours, style);
        int peer = best(row, figures, Side::peer, style);

        if (ours < 0 || peer < 0 || styles.size() < 2)
            continue;
        double a = figures[std::size_t(ours)].median;
        double b = figures[std::size_t(peer)].median;
        std::printf("   %s with %s: %.1f %s, %s %.1f %s: ratio %.2f\n",
                    style.c_str(), style.c_str(), a, row.unit.c_str(),
                    row.contestants[std::size_t(peer)].name.c_str(), b,
                    row.unit.c_str(), b / a);
    }
}

void
print_verdict(const Row &row, const std::vector<Figure> &figures)
{
    int ours = best(row, figures, Side::ours, "");
    int peer = best(row, figures, Side::peer, "");
    const char *unit = row.unit.c_str();

    const Figure &us = figures[std::size_t(ours)];
    double limit = limit_of(row);
    bool small = (row.beside_goal == 0 || us.beside <= row.beside_goal) &&
                 (limit == 0 || us.median <= limit);
    if (peer < 0) {
        const char *verdict = row.goal > 0 ? "no-peer" // installed
                              : limit == 0 && row.beside_goal == 0 ? "no-goal"
                              : small                              ? "met"
                                                                   : "not met";

        std::string none =
            row.missing.empty() ? "none" : row.missing[0] + " missing";

        std::printf("%s: ours=%.1f%s peer=%s ratio=- goal=%.2f %s "
                    "limit=%.1f%s",
                    row.name.c_str(), us.median, unit, none.c_str(), row.goal,
                    verdict, limit, unit);
        if (!row.beside_unit.empty())
            std::printf(" beside=%.1f%s", us.beside, row.beside_unit.c_str());
        std::printf("\n\n");
        record("row\t%s\t%.3f\t%s\tnone\t0\t0\t%.3f\t%.3f\t%s\t%s\t%s\n",
               row.name.c_str(), us.median, unit, row.goal, limit, verdict,
               row.workload.c_str(), row.goal_text.c_str());
        return;
    }

    const Figure &them = figures[std::size_t(peer)];
    const char *name = row.contestants[std::size_t(peer)].name.c_str();
    // A figure too small to print must not divide.
    double ratio = them.median / std::max(us.median, 1e-3);
    bool judged = row.goal > 0 || row.beside_goal > 0 || limit > 0;
    bool met = ratio >= row.goal && small;
    const char *verdict = !judged ? "no-goal" : met ? "met" : "not met";

    std::printf("%s: ours=%.1f%s peer=%s %.1f%s ratio=%.2f goal=%.2f %s",
                row.name.c_str(), us.median, unit, name, them.median, unit,
                ratio, row.goal, verdict);
    if (limit > 0)
        std::printf(" limit=%.1f%s", limit, unit);
    if (!row.beside_unit.empty())
        std::printf(" beside=%.1f,%.1f%s", us.beside, them.beside,
                    row.beside_unit.c_str());
    std::printf("\n\n");
    record("row\t%s\t%.3f\t%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%s\t%s\t%s\n",
           row.name.c_str(), us.median, unit, name, them.median, ratio,
           row.goal, limit, verdict, row.workload.c_str(),
           row.goal_text.c_str());
}

void
run_row(const Row &row)
{
    running = row.name;
    std::printf("== %s: %s\n", row.name.c_str(), row.workload.c_str());
    std::vector<Figure> figures = measure(row);

    print_contestants(row, figures);
    print_like_with_like(row, figures);
    std::printf("   goal: %s\n", row.goal_text.c_str());
    print_verdict(row, figures);
    std::fflush(stdout);
}

[[noreturn]] void
usage(const char *program, int status)
{
    std::printf("usage: %s [--list] [--rounds N] [--scale X] [--ours] [--full] "
                "[--results FILE] [ROW ...]\n",
                program);
    std::exit(status);
}

/* Takes options off the command line; what is left are row names. */
std::vector<std::string>
read_arguments(int argc, char **argv, bool *ret_list)
{
    std::vector<std::string> names;

    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        bool more = i + 1 < argc;

        if (word == "--list")
            *ret_list = true;
        else if (word == "--rounds" && more)
            settings.rounds = std::atoi(argv[++i]);
        else if (word == "--scale" && more)
            settings.scale = std::atof(argv[++i]);
        else if (word == "--ours")
            settings.ours = true;
        else if (word == "--full")
            settings.full = true;
        else if (word == "--results" && more)
            settings.results = argv[++i];
        else if (word == "--help")
            usage(argv[0], 0);
        else if (word[0] == '-')
            usage(argv[0], 2);
        else
            names.push_back(word);
    }
    if (settings.rounds < 1 || settings.scale <= 0)
        usage(argv[0], 2);
    return names;
}

} // namespace

void
at_end(void (*clean)())
{
    clean_up = clean;
}

uint64_t
scaled(uint64_t messages)
{
    double count = double(messages) * settings.scale * slow_scale;

    return std::max<uint64_t>(uint64_t(count), 1000);
}

void
fail(const char *format, ...)
{
    va_list arguments;

    std::fprintf(stderr, "\nbench: %s: ", running.c_str());
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "\n");
    if (clean_up && getpid() == program_pid)
        clean_up();
    _exit(1); // other threads may still be running
}

/* Takes the peers out: two trees are compared by our own figures. */
static void
leave_ours(Row &row)
{
    std::vector<Contestant> &all = row.contestants;

    all.erase(std::remove_if(
                  all.begin(), all.end(),
                  [](const Contestant &c) { return c.side != Side::ours; }),
              all.end());
}

int
run_rows(int argc, char **argv, const char *program, const char *banner,
         const std::vector<std::function<Row()>> &rows)
{
    bool list = false;
    settings.full = std::getenv("BENCH_FULL") != nullptr;
    std::vector<std::string> names = read_arguments(argc, argv, &list);
    std::vector<Row> chosen;

    for (const std::function<Row()> &make : rows) {
        Row row = make();

        if (names.empty() ||
            std::find(names.begin(), names.end(), row.name) != names.end())
            chosen.push_back(std::move(row));
    }
    if (settings.ours)
        for (Row &row : chosen)
            leave_ours(row);
    if (list) {
        for (const Row &row : chosen)
            std::printf("%-22s %s\n", row.name.c_str(), row.workload.c_str());
        return 0;
    }
    if (chosen.empty())
        fail("no such row in %s", program);

    if (settings.results.empty() && std::getenv("BENCH_RESULTS"))
        settings.results = std::getenv("BENCH_RESULTS");
    if (!settings.results.empty()) {
        results = std::fopen(settings.results.c_str(), "a");
        if (!results)
            fail("cannot write %s", settings.results.c_str());
    }
    transfer_ns = cache_line_transfer_ns();
    double load = 0;
    if (getloadavg(&load, 1) != 1)
        load = -1;
    std::printf("---- %s\n%s\ncache-line transfer now: %.0f ns one way; load "
                "average: %.1f\n\n",
                program, banner, transfer_ns, load);
    record("run\t%s\t%.1f\t%.2f\n", program, transfer_ns, load);
    for (const Row &row : chosen)
        run_row(row);
    if (results)
        std::fclose(results);
    if (clean_up)
        clean_up();
    return 0;
}

} // namespace bench
