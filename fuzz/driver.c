/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: NAME FOLDER... [--full]
 *
 * Each file of the folders is one test, in a process of its own; then inputs
 * made of them by changing bytes, putting pieces of others in and taking
 * pieces out, for as many rounds as there is time: the seed is printed, and
 * LBX_SEED replays it. An input that fails is written to a file, which is
 * named.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUT_MOST = 1 << 16,
    FILES_MOST = 4096,
    BRIEF_S = 4,
    FULL_S = 3600,
    HANG_S = 20
};

struct input {
    char name[256];
    uint8_t *data;
    size_t size;
};

static struct input corpus[FILES_MOST];
static size_t corpus_count;
static int tests, failures;

static void
report(int passed, const char *what, const char *detail)
{
    failures += !passed;
    printf("%sok %d - %s: %s%s\n", passed ? "" : "not ", ++tests, "fuzz", what,
           detail);
    fflush(stdout);
}

static void
add_file(const char *folder, const char *name)
{
    struct input *input = &corpus[corpus_count];
    static uint8_t data[INPUT_MOST];
    char path[600];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file || corpus_count == FILES_MOST)
        exit(2);
    input->size = fread(data, 1, sizeof(data), file);
    fclose(file);
    // Exactly as long as it is: reading past the end is found out.
    input->data = malloc(input->size ? input->size : 1);
    if (!input->data)
        exit(2);
    memcpy(input->data, data, input->size);
    snprintf(input->name, sizeof(input->name), "%s", name);
    corpus_count++;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->name,
                  ((const struct input *)b)->name);
}

static void
add_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    const size_t first = corpus_count;
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        if (entry->d_name[0] != '.')
            add_file(folder, entry->d_name);
    }
    if (directory)
        closedir(directory);
    qsort(corpus + first, corpus_count - first, sizeof(corpus[0]), by_name);
}

/* How a child ended; 0 when it ended well. */
static int
ended_badly(pid_t child)
{
    int status = 1;

    while (waitpid(child, &status, 0) < 0)
        ;
    return status;
}

static void
replay(void)
{
    for (size_t i = 0; i < corpus_count; i++) {
        pid_t child;

        fflush(stdout);
        child = fork();
        if (child == 0) {
            alarm(HANG_S);
            LLVMFuzzerTestOneInput(corpus[i].data, corpus[i].size);
            exit(0); // runs the leak sanitizer
        }
        report(!ended_badly(child), "survives ", corpus[i].name);
    }
}

// ---- Mutation ----

static uint64_t state;

static size_t
below(size_t limit)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return limit ? (size_t)(state >> 33) % limit : 0;
}

/* Inserts `size` bytes at `at`, as many as fit. */
static void
insert(uint8_t *data, size_t *size, size_t at, const uint8_t *bytes,
       size_t count)
{
    if (*size + count > INPUT_MOST)
        return;
    memmove(data + at + count, data + at, *size - at);
    memcpy(data + at, bytes, count);
    *size += count;
}

static void
mutate(uint8_t *data, size_t *size)
{
    static const char *const words[] = {
        "{",       "}",           "[",    "]",
        "=",       "+=",          ",",    ";",
        "\n",      "\"",          "\\u",  "${",
        "${?",     "}",           "#",    "//",
        ".",       "\"\"\"",      "a",    "1",
        "null",    " ",           "\\",   "\x01",
        "include", "E1",          "akka", "-",
        "e+1",     "\xc3",        "\x80", "\xef\xbf\xbc",
        "${a}",    "a=${a}[1]\n",
    };
    const struct input *other = &corpus[below(corpus_count)];
    const size_t at = below(*size + 1);
    const size_t count = below(1 + below(16));
    const char *word = words[below(sizeof(words) / sizeof(words[0]))];
    const size_t from = below(other->size);
    size_t length = other->size - from;

    switch (below(5)) {
    case 0:
        if (at < *size)
            data[at] = (uint8_t)below(256);
        break;
    case 1:
        if (at + count <= *size) {
            memmove(data + at, data + at + count, *size - at - count);
            *size -= count;
        }
        break;
    case 2:
        if (length > 64)
            length = 64;
        insert(data, size, at, other->data + from, below(length + 1));
        break;
    default:
        insert(data, size, at, (const uint8_t *)word, strlen(word));
    }
}

static char failing[64];

/* What is under way is written first, so that it is there afterwards. */
static void
keep(const uint8_t *data, size_t size)
{
    FILE *file = fopen(failing, "wb");

    if (file) {
        fwrite(data, 1, size, file);
        fclose(file);
    }
}

/* Inputs number `first` to `last`; replayable from the seed. */
static void
run_round(uint64_t seed, long first, long last, int write_each)
{
    static uint8_t data[INPUT_MOST];

    for (long i = first; i < last; i++) {
        const struct input *input;
        uint8_t *exact;
        size_t size;

        state = seed ^ (uint64_t)i * 0x9e3779b97f4a7c15U;
        input = &corpus[below(corpus_count)];
        size = input->size;
        memcpy(data, input->data, size);
        for (size_t n = 1 + below(8); n > 0; n--)
            mutate(data, &size);
        exact = malloc(size ? size : 1);
        if (!exact)
            exit(2);
        memcpy(exact, data, size);
        if (write_each)
            keep(exact, size);
        alarm(HANG_S);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
}

static int
round_fails(uint64_t seed, long first, long last, int write_each)
{
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        run_round(seed, first, last, write_each);
        exit(0);
    }
    return ended_badly(child);
}

static void
mutation_run(uint64_t seed, int seconds)
{
    const time_t end = time(NULL) + seconds;
    long done = 0;
    int bad = 0;

    while (!bad && time(NULL) < end) {
        bad = round_fails(seed, done, done + 1000, 0);
        if (bad)
            (void)round_fails(seed, done, done + 1000, 1);
        done += 1000;
    }
    report(!bad, "changed inputs are survived", "");
    printf("# seed %llu, %ld inputs\n", (unsigned long long)seed, done);
    if (bad)
        printf("# the input that fails: %s\n", failing);
}

int
main(int argc, char **argv)
{
    const char *given = getenv("LBX_SEED");
    int seconds = BRIEF_S;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--full") == 0)
            seconds = FULL_S;
        else
            add_folder(argv[i]);
    }
    if (corpus_count == 0)
        return 2;
    snprintf(failing, sizeof(failing), "/tmp/lbx-fuzz-%ld", (long)getpid());
    printf("1..%zu\n", corpus_count + 1);
    replay();
    mutation_run(given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL),
                 seconds);
    return failures > 0;
}
