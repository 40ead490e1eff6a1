# SPDX-License-Identifier: Apache-2.0
"""Help, the manual and docs/command-line.md agree with the program."""

import os
import re

from program import case, equal, has

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MANUALS = os.path.join(TREE, "docs", "man")
GUIDE = os.path.join(TREE, "docs", "command-line.md")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def commands(place):
    part = place.run("help").text.split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in part.splitlines()]


def options_of_help(text):
    """Every option with its letter and its argument: "-f --file FILE"."""
    part = text.split("\nOptions:\n")[1].split("\n\nExamples:")[0]
    found = re.findall(r"^  (?:(-.),|   ) (--[a-z-]+(?: [A-Z=a-z-]+)?)(?:  |$)",
                       part, re.M)
    return {" ".join(filter(None, one)) for one in found}


def options_of_manual(text):
    found = re.findall(r"^(?:\*(-.)\*, )?\*(--[a-z-]+)\*(?: (\S+))?$", text,
                       re.M)
    return {" ".join(filter(None, one)) for one in found}


def sections(text, mark):
    """Heading: text, for the headings that begin with the mark."""
    text = re.sub("^```$.*?^```$", "", text, flags=re.M | re.S)
    parts = re.split("^%s (.*)$" % mark, text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


@case("every command has a usage, two examples and the exit codes in its help")
def _(place):
    for name in commands(place):
        text = place.run(name, "--help").text
        equal(place.run("help", name).text, text)
        has(text, "Usage: letterbox %s [OPTION...]" % name)
        examples = text.split("\nExamples:\n")[1].split("\n\nExit codes:")[0]
        equal(len(re.findall(r"^  # ", examples, re.M)) >= 2, True)
        has(text, "Exit codes:\n    0  done")
        for line in text.split("\nExamples:")[0].splitlines():
            assert len(line) <= 80, line


@case("every command and option of the program is in the manual, and no other")
def _(place):
    top = sections(read(MANUALS, "letterbox.1.scd"), "#")
    common = options_of_manual(top["OPTIONS OF EVERY COMMAND"])
    described = sections(top["COMMANDS"], "##")
    names = commands(place)
    # A program that was built without the server has no serve.
    equal({heading.split()[1] for heading in described},
          set(names) | {"serve"})
    seen = set()
    for heading, text in described.items():
        name = heading.split()[1]
        if name not in names:
            continue
        helped = place.run("help", name).text
        own = os.path.join(MANUALS, "letterbox-%s.8.scd" % name)
        options = options_of_help(helped)
        seen |= options & common
        usage = re.search("^Usage: letterbox (.*)$", helped, re.M)[1]
        if "*letterbox-%s*(8)" % name in text:  # it has a page of its own
            if not os.path.exists(own):
                continue
            text = sections(read(own), "#")["OPTIONS"]
        equal(usage.replace(" [OPTION...]", "").rstrip(),
              heading.replace("letterbox ", "", 1))
        equal(options_of_manual(text) | (options & common), options)
    equal(seen, common)


@case("the manual explains each option of serve as its help does")
def _(place):
    if "serve" not in commands(place):
        return
    helped = place.run("help", "serve").text
    part = helped.split("\nOptions:\n")[1].split("\n\nExamples:")[0]
    part = re.sub(r"\n {12,}", "  ", part)  # an option is one line
    explained = dict(re.findall(r"^.{6}--([a-z-]+)(?: [A-Z]+)? {2,}(.*)$", part,
                                re.M))
    text = sections(read(MANUALS, "letterbox-serve.8.scd"), "#")["OPTIONS"]
    manual = dict(re.findall(r"\*--([a-z-]+)\*.*\n\t(.*)\.$", text, re.M))
    equal({name: words[0].upper() + re.sub(" +", " ", words[1:])
           for name, words in explained.items()}, manual)


@case("every exit code of the program is in the manual, and no other")
def _(place):
    def codes(text, pattern):
        return re.findall(pattern, text, re.M)
    top = sections(read(MANUALS, "letterbox.1.scd"), "#")
    equal(codes(top["EXIT STATUS"], r"^\*(\d+)\*$"),
          codes(place.run("help").text.split("Exit codes:\n")[1], r"^ +(\d+) "))


@case("the version is the library's")
def _(place):
    version = re.search("version: '([0-9.]+)'", read(TREE, "meson.build"))[1]
    for arguments in (["version"], ["--version"], ["-V"]):
        equal(place.run(*arguments).text, "letterbox %s\n" % version)


@case("the guide's examples do what it shows")
def _(place):
    """Lines after "$ " are typed on a terminal, all in one folder; what is
    shown below them is printed. "..." stands for anything on its line."""
    environment = (("NO_COLOR", "1"), ("PATH", "%s:%s" % (
        os.path.dirname(place.program), os.environ["PATH"])))
    count = 0
    for block in re.findall(r"^```console\n(.*?)^```", read(GUIDE),
                            re.M | re.S):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = step.splitlines()
            command = [lines.pop(0)]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            result = place.on_terminal("\n".join(command), shell=True,
                                       environment=environment)
            pattern = r"[^\n]*".join(map(
                re.escape, "\n".join(lines).rstrip().split("...")))
            shown = result.text.rstrip()
            assert re.fullmatch(pattern, shown), "$ %s\n%s\nnot\n%s" % (
                "\n".join(command), shown, "\n".join(lines))
            count += 1
    assert count > 20, count
