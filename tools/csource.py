# SPDX-License-Identifier: Apache-2.0
"""What the C files of a tree define, read from text.

The house style makes that easy: clang-format puts the name of a defined function
at the start of a line, and its return type on the line before.
"""

import os
import re

FUNCTION = re.compile(r"^([a-z_]\w*)\(")
TYPE_END = re.compile(r"^\} (?:__attribute__\(\([^)]*\)\) )?(\w+);")
TAG = re.compile(
    r"^(?:typedef )?(struct|union|enum) (?:__attribute__\(\([^)]*\)\)+ )?(\w+)?\s*\{")
FORWARD = re.compile(r"^typedef .*?(\w+)(?:\([^()]*\))?;$")
MACRO = re.compile(r"^#define (\w+)")
ENUMERATOR = re.compile(r"^    ([A-Z]\w*)(?: = [^,]*)?,?\s*(?:/\*|//|$)")


class Definition:
    def __init__(self, name, kind, path, line, lines=0):
        self.name = name
        self.kind = kind  # function, static, type, tag, macro, enumerator
        self.path = path
        self.line = line
        self.lines = lines  # of a function, from its name to its end


def sources(tree, *folders, endings=(".c", ".h")):
    """The paths of C files below the folders, relative to the tree, sorted."""
    found = []
    for folder in folders:
        for where, _, names in os.walk(os.path.join(tree, folder)):
            found += [os.path.relpath(os.path.join(where, name), tree)
                      for name in names if name.endswith(endings)]
    return sorted(found)


def read_lines(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        return file.read().splitlines()


def without_comments(lines):
    """The same lines with comments and the insides of strings blanked."""
    text = "\n".join(lines)
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
    return pattern.sub(
        lambda match: '""' if match[0][0] == '"'
        else re.sub(r"[^\n]", " ", match[0]), text).splitlines()


def definitions(tree, path):
    """What a file defines: functions, types, tags, macros, enumerators."""
    lines = without_comments(read_lines(tree, path))
    found = []
    in_enum = False
    tag = None
    for number, line in enumerate(lines):
        function = FUNCTION.match(line)
        if function and number > 0 and lines[number - 1].strip() \
                and not lines[number - 1].rstrip().endswith((";", "}", ",")) \
                and not lines[number - 1].startswith((" ", "#")):
            end = body_end(lines, number)
            if end is not None:
                start = number - 1
                kind = "static" if lines[start].startswith("static") \
                    else "function"
                found.append(Definition(function[1], kind, path, number + 1,
                                        end - number + 1))
        opened = TAG.match(line)
        if opened:
            in_enum = opened[1] == "enum"
            tag = opened[2]
            if tag:
                found.append(Definition(tag, "tag", path, number + 1))
        closed = TYPE_END.match(line)
        if closed:
            if closed[1] != tag:
                found.append(Definition(closed[1], "type", path, number + 1))
            tag = None
        if line.startswith("}"):
            in_enum = False
        macro = MACRO.match(line)
        if macro:
            found.append(Definition(macro[1], "macro", path, number + 1))
        enumerator = ENUMERATOR.match(line)
        if in_enum and enumerator:
            found.append(Definition(enumerator[1], "enumerator", path,
                                    number + 1))
    return found


def body_end(lines, number):
    """The line of the closing brace; None when this is no definition."""
    for at in range(number, min(number + 12, len(lines))):
        if lines[at].startswith("{"):
            break
        if lines[at].rstrip().endswith(";"):
            return None
    else:
        return None
    while at < len(lines) and not lines[at].startswith("}"):
        at += 1
    return at


def noun_of(path):
    """The noun that a file is named after."""
    return os.path.splitext(os.path.basename(path))[0]


def begins_with_noun(definition):
    """Whether an exported function begins with the noun of its file, or of its
    folder and file together (mailbox/send.c: lbx_mailbox_send...)."""
    name = re.sub(r"^lbx__?", "", definition.name)
    noun = noun_of(definition.path)
    room = os.path.basename(os.path.dirname(definition.path))
    return any(name == start or name.startswith(start + "_")
               for start in {noun, noun.rstrip("s"), noun + "s", room,
                             room + "_" + noun})
