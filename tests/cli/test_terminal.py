# SPDX-License-Identifier: Apache-2.0
"""Terminals: output for people, colours, questions, and nothing that acts."""

from program import case, equal, has

BOX = "file:shop/orders"
PLAIN = (("NO_COLOR", "1"),)


@case("a message on a terminal is shown with all that is known of it")
def _(place):
    place.run("send", BOX, "a book", "-a", "color=red", "--type", "shop.Order",
              "--group", "g")
    shown = place.on_terminal(["receive", BOX], environment=PLAIN).text
    for row in ("message      ", "sent         20", "leased for 30s",
                "type         shop.Order", "group        g",
                "attribute    color (String) red", "receipt      A",
                "body         6 bytes\na book\n"):
        has(shown, row)
    assert "\033" not in shown
    place.run("send", BOX, "x")
    shown = place.on_terminal(["receive", BOX, "--ack"], environment=PLAIN).text
    assert "receipt" not in shown


@case("a body does nothing to a terminal")
def _(place):
    nasty = "\033]0;title\007\033[2J\x9b31m\r\u202e\u0085\nsecond\tline".encode()
    place.run("send", BOX, "--whole", input=nasty + b"\xff\x00")
    place.run("send", BOX, "x", "--type", "a\033[1mb", "-a", "n=\033[1m")
    shown = place.on_terminal(["peek", BOX], environment=PLAIN).out
    assert b"\033" not in shown and b"\007" not in shown, shown
    has(shown, b"\\x1b]0;title\\x07\\x1b[2J")
    has(shown, b"\\xe2\\x80\\xae\\xc2\\x85\nsecond\tline\\xff\\x00")
    has(shown, b"a\\x1b[1mb")
    equal(place.run("peek", BOX, "--max", "1").out, nasty + b"\xff\x00\n")


@case("colours are on a terminal only, and NO_COLOR turns them off")
def _(place):
    place.run("send", BOX, "x")
    has(place.on_terminal(["ls", "file:shop"]).text, "\033[1mBOX")
    for environment in ((("NO_COLOR", "1"),), (("TERM", "dumb"),)):
        shown = place.on_terminal(["ls", "file:shop"], environment=environment)
        assert b"\033" not in shown.out, shown
        has(shown.text, "BOX")
    assert b"\033" not in place.run("ls", "file:shop").out


@case("tables on a terminal are aligned")
def _(place):
    place.run("send", BOX, "x")
    place.run("create", "file:shop/a-longer-name")
    lines = place.on_terminal(["ls", "file:shop"], environment=PLAIN).lines
    equal(len(lines), 3)
    equal(len({len(line) for line in lines}), 1)
    equal(lines[0].split(),
          ["BOX", "READY", "LEASED", "DELAYED", "SIZE", "OLDEST"])


@case("delete and purge ask on a terminal, and no is the default")
def _(place):
    place.run("send", BOX, "1", "2")
    for command in ("delete", "purge"):
        for answer in ("\n", "n\n", "x\n"):
            result = place.on_terminal(
                [command, BOX], [("[y/N]", answer)], environment=PLAIN)
            equal(result.code, 1)
            has(result.text, "%s %s, with 2 messages?" % (command, BOX))
            has(result.text, "nothing was changed")
    equal(place.run("ls", "file:shop").lines, ["orders\t2\t0\t0"])
    equal(place.on_terminal(["purge", BOX], [("[y/N]", "y\n")]).code, 0)
    equal(place.on_terminal(["delete", BOX, "--yes"]).code, 0)
    equal(place.run("ls", "file:shop").lines, [])


@case("lines typed on a terminal are sent, and Ctrl-D ends it")
def _(place):
    result = place.on_terminal(
        ["send", BOX], [("Ctrl-D ends it", "hello\n\004")])
    equal(result.code, 0)
    equal(place.run("receive", BOX).lines, ["hello"])


@case("a check on a terminal shows how far it is, and leaves no bar behind")
def _(place):
    place.run("send", BOX, "x")
    shown = place.on_terminal(["check", "file:shop"], environment=PLAIN)
    equal(shown.code, 0)
    equal(shown.text.split("\r\033[K")[-1], "intact: 1 messages in 1 boxes\n")


@case("Ctrl-C on a terminal ends a follow cleanly")
def _(place):
    place.run("send", BOX, "x")
    result = place.on_terminal(["receive", BOX, "--follow", "--ack"],
                               [("x\r\n", "\003")], environment=PLAIN)
    equal(result.code, 0)
