/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our reading of HOCON beside libcpp-hocon's: oracle FOLDER [--full]
 *
 * Each file of FOLDER (tests/fixtures/hocon, one construct each) and many
 * generated texts are read by both. Both must refuse a text, or both accept it
 * and see the same tree, whatever the order of keys. differences.txt lists the
 * texts on which we differ on purpose, and which way; a difference that has
 * gone is a failure too. A text is read by the other library in a child
 * process, because some make it crash.
 *
 * The negative control: a tree in which one value was changed on purpose must
 * be told apart.
 *
 * Generated texts come from a seed, which is printed; LBX_SEED replays one.
 */
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <hocon/config.hpp>
#include <hocon/config_exception.hpp>
#include <hocon/config_list.hpp>
#include <hocon/config_object.hpp>

#include <letterbox/settings.h>

static const std::string refused = "refused";
static const std::string broken = "broken"; // a bug of the other library's

// ---- Two trees in one form: keys sorted, every value with its kind ----

static std::string
section_text(const std::map<std::string, std::string> &members)
{
    std::string text = "{";

    for (const auto &member : members)
        text += "<" + member.first + ">" + member.second;
    return text + "}";
}

static std::string
theirs(const hocon::shared_value &value)
{
    using type = hocon::config_value::type;
    std::map<std::string, std::string> members;
    std::string text = "[";

    switch (value->value_type()) {
    case type::OBJECT:
        for (const auto &member :
             *std::dynamic_pointer_cast<const hocon::config_object>(value))
            members[member.first] = theirs(member.second);
        return section_text(members);
    case type::LIST:
        for (const auto &member :
             *std::dynamic_pointer_cast<const hocon::config_list>(value))
            text += theirs(member) + ",";
        return text + "]";
    case type::NUMBER:
        return "n" + value->transform_to_string();
    case type::BOOLEAN:
        return "b" + value->transform_to_string();
    case type::STRING:
        return "s" + value->transform_to_string();
    default:
        return "null";
    }
}

static std::string
ours(const lbx_settings *value)
{
    std::map<std::string, std::string> members;
    std::string text = "[";

    switch (lbx_settings_kind_of(value)) {
    case LBX_SETTINGS_KIND_SECTION:
        for (size_t i = 0; i < lbx_settings_count(value); i++) {
            const lbx_settings *member = lbx_settings_child(value, i);

            members[lbx_settings_key(member)] = ours(member);
        }
        return section_text(members);
    case LBX_SETTINGS_KIND_LIST:
        for (size_t i = 0; i < lbx_settings_count(value); i++)
            text += ours(lbx_settings_child(value, i)) + ",";
        return text + "]";
    case LBX_SETTINGS_KIND_NUMBER:
        return std::string("n") + lbx_settings_text(value);
    case LBX_SETTINGS_KIND_BOOLEAN:
        return std::string("b") + lbx_settings_text(value);
    case LBX_SETTINGS_KIND_STRING:
        return std::string("s") + lbx_settings_text(value);
    default:
        return "null";
    }
}

// ---- Two readings of a text ----

static std::string
our_reading(const std::string &text, bool allow_duplicates)
{
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
    lbx_settings_source source = {nullptr, text.data(), text.size(), nullptr};
    lbx_settings *settings = nullptr;
    std::string result = refused;

    options.allow_duplicates = allow_duplicates;
    if (lbx_settings_load(&source, 1, &options, &settings) == LBX_OK)
        result = ours(settings);
    lbx_settings_unref(settings);
    return result;
}

/* What the other library reports when its resolver fails internally. */
static bool
is_confused(const char *what)
{
    static const char *const words[] = {
        "replace_child did not find",          "wrong resolve status",
        "delayed merge should not contain",    "nested delayed_merge",
        "must reimplement merged_with_object",
    };

    for (const char *word : words)
        if (strstr(what, word))
            return true;
    return false;
}

static std::string
read_by_other(const std::string &text)
{
    try {
        return theirs(hocon::config::parse_string(text)->resolve()->root());
    } catch (const std::exception &error) {
        return is_confused(error.what()) ? broken : refused;
    }
}

/* The other library's readings of `texts`, each in a child's child if the
 * common child does not survive it. */
static std::vector<std::string>
other_readings(const std::vector<std::string> &texts, size_t first = 0)
{
    std::vector<std::string> results;
    std::string all;
    char buffer[4096];
    ssize_t got;
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        abort();
    if (child == 0) {
        close(ends[0]);
        for (size_t i = first; i < texts.size(); i++) {
            std::string result = read_by_other(texts[i]);

            result += '\0';
            for (size_t done = 0; done < result.size();) {
                ssize_t put =
                    write(ends[1], result.data() + done, result.size() - done);

                if (put <= 0)
                    _exit(1);
                done += (size_t)put;
            }
        }
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], buffer, sizeof(buffer))) > 0)
        all.append(buffer, (size_t)got);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    for (size_t at = 0, end; (end = all.find('\0', at)) != std::string::npos;
         at = end + 1)
        results.push_back(all.substr(at, end - at));
    if (first + results.size() < texts.size()) {
        const size_t next = first + results.size() + 1;

        results.push_back(broken);
        if (next < texts.size())
            for (const auto &result : other_readings(texts, next))
                results.push_back(result);
    }
    return results;
}

// ---- TAP ----

static int tests, failures;

static void
report(bool passed, const std::string &name, const std::string &why = "")
{
    std::istringstream lines(why);

    printf("%sok %d - hocon: %s\n", passed ? "" : "not ", ++tests,
           name.c_str());
    failures += !passed;
    if (passed)
        return;
    for (std::string line; std::getline(lines, line);)
        printf("#   %s\n", line.c_str());
}

// ---- The corpus ----

static std::string
contents(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);

    return std::string(std::istreambuf_iterator<char>(file), {});
}

/* name -> which library is right in our view, and why. */
static std::map<std::string, std::string>
known_differences(const std::string &path)
{
    std::map<std::string, std::string> known;
    std::ifstream file(path);

    for (std::string line; std::getline(file, line);) {
        const size_t blank = line.find(' ');

        if (!line.empty() && line[0] != '#' && blank != std::string::npos)
            known[line.substr(0, blank)] = line.substr(blank + 1);
    }
    return known;
}

static std::vector<std::string>
names_in(const std::string &folder)
{
    std::vector<std::string> names;
    DIR *directory = opendir(folder.c_str());

    while (const dirent *entry = directory ? readdir(directory) : nullptr) {
        const std::string name = entry->d_name;

        if (name.size() > 5 && name.substr(name.size() - 5) == ".conf")
            names.push_back(name.substr(0, name.size() - 5));
    }
    if (directory)
        closedir(directory);
    std::sort(names.begin(), names.end());
    return names;
}

static void
compare_corpus(const std::string &folder)
{
    const auto known = known_differences(folder + "/differences.txt");
    const auto names = names_in(folder);
    std::vector<std::string> texts;

    for (const auto &name : names)
        texts.push_back(contents(folder + "/" + name + ".conf"));

    const auto others = other_readings(texts);

    for (size_t i = 0; i < names.size(); i++) {
        const std::string mine = our_reading(texts[i], false);
        const bool same = mine == others[i];
        const bool expected = known.count(names[i]) == 0;

        report(same == expected,
               names[i] + (expected ? "" : " (differs on purpose)"),
               "text:\n" + texts[i] + "\nours:   " + mine +
                   "\ntheirs: " + others[i]);
    }
    for (const auto &row : known)
        if (std::find(names.begin(), names.end(), row.first) == names.end())
            report(false, row.first + " is in differences.txt only");
}

// ---- Generated texts ----

struct generator {
    unsigned long long state;
    int depth;
    int pure; // within something joined: no substitution in a substitution

    unsigned below(unsigned limit)
    {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (unsigned)(state >> 33) % limit;
    }

    std::string pick(const std::vector<std::string> &choices)
    {
        return choices[below((unsigned)choices.size())];
    }

    std::string key()
    {
        return pick({"a", "b", "c", "d", "\"e.f\"", "g-h", "i.j", "a.b"});
    }

    std::string plain()
    {
        return pick({"1", "-2.5", "true", "false", "null", "word", "two words",
                     "\"quoted\"", "10s", "1e3", "\"\"\"tri\"\"\"", "/a/path",
                     "x.y.z", "\"esc\\n\\\"\"", "0", "yes"});
    }

    // Only what has no substitution in it is substituted: what a cycle comes
    // to is the order of evaluation's business, in the other library too.
    std::string substitution()
    {
        return pick({"${base.n}", "${base.s}", "${?base.n}", "${?base.no}",
                     "${base.t.u}"});
    }

    std::string list()
    {
        std::string text = "[";
        const unsigned count = below(4);

        for (unsigned i = 0; i < count; i++)
            text += (i ? pick({", ", "\n", ",\n "}) : "") + value();
        return text + "]";
    }

    std::string section()
    {
        return "{" + pick({"", "\n", " # c\n"}) + fields() + "}";
    }

    std::string joined_text()
    {
        const std::string front = pick({"", "pre", "\"q \""}) + substitution();

        return front + pick({"", " ", "-post", " \"r\""});
    }

    // The other library's resolver loses its way where such values nest.
    std::string joined(const std::vector<std::string> &fronts, char kind)
    {
        const std::string front = pick(fronts);

        pure++;
        const std::string back = kind == '[' ? list() : section();
        pure--;
        return front + back;
    }

    std::string nested()
    {
        depth++;
        const std::string text = section();
        depth--;
        return text;
    }

    std::string value()
    {
        std::string text;

        depth++;
        switch (depth > 4 ? below(pure ? 3 : 4) : below(10)) {
        case 0:
        case 1:
            text = plain();
            break;
        case 2:
            text = plain() + " " + plain();
            break;
        case 3:
            text = pure ? plain() : substitution();
            break;
        case 4:
            text = pure ? plain() : joined_text();
            break;
        case 5:
            text = list();
            break;
        case 6:
            text = pure ? list() : joined({"${base.l} ", "${?base.no} "}, '[');
            break;
        case 7:
            text =
                pure ? section() : joined({"${base.t} ", "${?base.no} "}, '{');
            break;
        default:
            text = section();
        }
        depth--;
        return text;
    }

    std::string field()
    {
        const std::string name = key();

        // The other library refuses += anywhere but at the top.
        if (depth == 0 && below(6) == 0)
            return pick({"p", "q"}) + " += " + plain();
        if (below(6) == 0)
            return name + " " + nested();
        return name + pick({" = ", ": ", "=", " =\n  "}) + value();
    }

    std::string fields()
    {
        std::string text;
        const unsigned count = below(4);

        for (unsigned i = 0; i < count; i++)
            text += field() + pick({"\n", ",", " // c\n", "\n\n", ", "});
        return text;
    }

    std::string document()
    {
        std::string text = "base { n = 7, s = str, l = [1, two], t { u = 1 } }"
                           "\n";
        const unsigned count = 2 + below(5);

        depth = 0;
        for (unsigned i = 0; i < count; i++)
            text += field() + "\n";
        return text;
    }
};

static void
compare_generated(const std::string &name, unsigned long long seed, int rounds)
{
    generator random = {seed, 0, 0};
    std::vector<std::string> texts;
    int accepted = 0, skipped = 0;

    for (int i = 0; i < rounds; i++)
        texts.push_back(random.document());

    const auto others = other_readings(texts);

    for (int i = 0; i < rounds; i++) {
        const std::string mine = our_reading(texts[(size_t)i], true);

        if (others[(size_t)i] == broken) {
            skipped++;
            continue;
        }
        accepted += mine != refused;
        if (mine != others[(size_t)i]) {
            report(false, name,
                   "seed " + std::to_string(seed) + ", text " +
                       std::to_string(i) + ":\n" + texts[(size_t)i] +
                       "\nours:   " + mine + "\ntheirs: " + others[(size_t)i]);
            return;
        }
    }
    report(accepted > rounds / 2, name, "too few texts are accepted");
    printf("# seed %llu: %d texts, %d accepted by both, %d refused by both, %d "
           "beyond the other library\n",
           seed, rounds, accepted, rounds - accepted - skipped, skipped);
}

// ---- The control ----

/* A planted difference, in each kind of value, is found. */
static void
control()
{
    const std::vector<std::pair<std::string, std::string>> planted = {
        {"a = 1", "a = 2"},           {"a = 1", "a = \"1\""},
        {"a = [1, 2]", "a = [2, 1]"}, {"a { b = 1 }", "a { c = 1 }"},
        {"a = x y", "a = x  y"},      {"a = true", "a = \"true\""},
        {"a = null", "b = 1"},        {"a = 1", "a = "},
    };
    bool found = true;

    for (const auto &pair : planted) {
        found = found &&
                our_reading(pair.first, false) == read_by_other(pair.first) &&
                our_reading(pair.first, false) != read_by_other(pair.second);
    }
    report(found, "a planted difference is found");
}

int
main(int argc, char **argv)
{
    const char *given = getenv("LBX_SEED");
    const bool full = argc > 2 && strcmp(argv[2], "--full") == 0;
    const unsigned long long seed =
        given ? strtoull(given, nullptr, 0) : (unsigned long long)time(nullptr);

    if (argc < 2)
        return 2;
    setenv("LBX_ORACLE", "from outside", 1);
    control();
    compare_corpus(argv[1]);
    compare_generated("texts from a known seed are read alike", 1, 2000);
    compare_generated("texts from a new seed are read alike", seed,
                      full ? 500000 : 2000);
    printf("1..%d\n", tests);
    return failures > 0;
}
