# SPDX-License-Identifier: Apache-2.0
"""Mistakes: each is explained, exits with its code, and changes nothing."""

import os

from program import case, equal, has

BOX = "file:shop/orders"

# The command line, the exit code, what the complaint says.
MISTAKES = [
    ("", 2, "no command was given"),
    ("rceive " + BOX, 2, "no command 'rceive'; is it receive?"),
    ("lss file:shop", 2, "is it ls?"),
    ("quux", 2, "no command 'quux'"),
    ("--json ls", 2, "the command comes first"),
    ("help sned", 2, "is it send?"),
    ("version 2", 2, "one argument too many"),
    # Arguments.
    ("send", 2, "send needs URL [MESSAGE...]"),
    ("receive " + BOX + " more", 2, "'more' is one argument too many"),
    ("copy file:shop", 2, "copy needs STORE NEW-DIR"),
    # Options.
    ("create file:new/x --lese 3s", 2, "is it --lease?"),
    ("create file:new/x --quuux 3s", 2, "create has no option --quuux"),
    ("receive " + BOX + " -x", 2, "receive has no option -x"),
    ("receive " + BOX + " --max", 2, "--max needs a value"),
    ("receive " + BOX + " --max=", 2, "--max '': allowed is a number"),
    ("receive " + BOX + " --ack=yes", 2, "--ack takes no value"),
    ("receive " + BOX + " --max 0", 2, "a number, 1 or more"),
    ("receive " + BOX + " --max -1", 2, "a number, 1 or more"),
    ("receive " + BOX + " --max 99999999999999999999", 2, "a number"),
    ("receive " + BOX + " --wait 20", 2, "a duration with its unit"),
    ("receive " + BOX + " --wait 20parsecs", 2, "or forever"),
    ("receive " + BOX + " --wait 1h-5m", 2, "a duration"),
    ("receive " + BOX + " --lease 999999999d", 2, "a duration"),
    ("receive " + BOX + " --ack --receipts", 2, "--receipts"),
    ("create file:new/x --preset aws", 2, "default, sqs, sqs-fifo"),
    ("create file:new/x --max-letter 1TB", 2, "as 4096, 64KiB or 1MiB"),
    ("create file:new/x --max-letter 0", 2,
     "--max-letter 0: allowed is a number of bytes, 1 or more, as 4096"),
    ("create file:new/x --max-deliveries 5000", 2, "1 to 1000"),
    ("serve -s memory: --request-timeout 0", 2,
     "--request-timeout 0: allowed is a duration with its unit, 1ms to 1d, as"),
    ("serve -s memory: --write-timeout 999us", 2, "--write-timeout 999us: "
     "allowed is a duration with its unit, 1ms to 1d"),
    ("serve -s memory: --idle-timeout 25h", 2, "--idle-timeout 25h: allowed"),
    ("serve -s memory: --max-memory -1", 2, "--max-memory -1: allowed is a "
     "number of bytes, 0 or more, as 4096"),
    ("serve -s memory: --threads 0", 2, "--threads 0: allowed is a number, 1 "
     "to 64"),
    ("create file:new/x --max-deliveries 5", 2, "needs --dead-letters"),
    ("create file:new/x --dead-letters d", 2, "needs --max-deliveries"),
    ("create file:new/x --dedup-by-content", 2, "need --fifo"),
    ("create file:new/x --lease 13h --max-lease 12h", 2,
     "--lease is 13h, which is more than --max-lease, 12h"),
    ("create file:new/x --preset sqs --retention 30s", 2,
     "--min-retention is 1m"),
    ("create file:new/x --refuse-dead-letters --dead-letters-from a", 2,
     "contradict"),
    ("send " + BOX + " x --attribute color", 2, "NAME=VALUE"),
    ("send " + BOX + " x --attribute =red", 2, "NAME=VALUE"),
    ("send " + BOX + " x --attribute n:Float=1", 2, "'Float' is no type"),
    ("send " + BOX + " x --attribute n:Number.=1", 2, "is no type"),
    ("send file:new/x --whole --lines", 2, "contradict"),
    ("send file:new/x --file missing", 4, "cannot read missing: No such"),
    # URLs.
    ("send shop/orders x", 2, "write file:shop/orders"),
    ("send /var/shop/orders x", 2, "write file:/var/shop/orders"),
    ("send file:orders x", 2, "names a folder and no box: write file:orders/BOX"),
    ("send file:new/ x", 2, "names a folder and no box: write file:new/BOX"),
    ("send file: x", 2, "names no box"),
    ("send file:new/b%20x x", 2, "printable ASCII"),
    ("send file:new/b%zz x", 2, "is no name of a box"),
    ("send file:new/" + "b" * 200 + " x", 2, "1 to 127"),
    ("send file:~/new/x x", 2, "file:$HOME/new/x"),
    ("send file:new/x?lease=5 x", 2, "nothing follows a ?"),
    ("send fil:new/x x", 2, "is it file:?"),
    ("send https://sqs.example/1/q x", 2, "begin with https:"),
    ("ls shop", 2, "write file:shop"),
    ("ls " + BOX, 2, BOX + " is a box; its store is file:shop"),
    ("ls file:", 2, "file:DIR"),
    ("check memory:", 2, "write file:DIR"),
    # What is not there.
    ("receive file:shop/none", 4, "file:shop has no box none"),
    ("receive file:none/none", 4, "No such file"),
    ("peek file:shop/none", 4, "letterbox create file:shop/none makes it"),
    ("ack file:shop/none r", 4, "no box"),
    ("stat file:shop/none", 4, "no box"),
    ("send file:shop/none x --must-exist", 4, "no box"),
    ("ls file:none", 4, "No such file"),
    ("check file:none", 4, "No such file"),
    ("salvage file:none other", 4, "No such file"),
    ("copy file:none other", 4, "No such file"),
    ("copy file:shop none/other", 4, "none"),
    ("copy file:shop shop", 1, "shop"),
    ("create file:shop/x --dead-letters none --max-deliveries 3", 4,
     "must be created first"),
    # Values that the box refuses.
    ("ack " + BOX + " nonsense", 1, "not a receipt of " + BOX),
    ("send " + BOX + " x --token " + "t" * 200, 1, "token"),
    ("receive file:shop/sqs --lease 13h", 2, "allows at most 12h"),
    ("send file:shop/sqs x --delay 1h", 1, "delay"),
]


@case("every mistake is explained, and exits with its code")
def _(place):
    place.run("send", BOX, "x")
    place.run("create", "file:shop/sqs", "--preset", "sqs")
    wrong = []
    for line, code, text in MISTAKES:
        result = place.try_run(*line.split())
        if result.code != code or text not in result.err or result.out or \
                not all(said.startswith("letterbox: ")
                        for said in result.err.splitlines()):
            wrong.append("letterbox %s: %r" % (line, result))
    assert not wrong, "\n".join(wrong)
    equal(sorted(os.listdir(place.folder)), ["shop"])
    equal(place.run("ls", "file:shop").lines, ["orders\t1\t0\t0",
                                              "sqs\t0\t0\t0"])


@case("a complaint shows no control characters")
def _(place):
    result = place.run("send", "\x1b[31mred", "x", code=2)
    has(result.err, "\\x1b[31mred")


@case("a folder that is not ours is refused, with the reason")
def _(place):
    os.mkdir(place.path("photos"))
    place.write("photos/cat.jpg", b"cat")
    result = place.run("send", "file:photos/orders", "x", code=1)
    has(result.err, "photos")
    equal(os.listdir(place.path("photos")), ["cat.jpg"])
    os.mkdir(place.path("open"))
    os.chmod(place.path("open"), 0o777)
    has(place.run("send", "file:open/orders", "x", code=1).err, "open")


@case("a full box is a matter of time")
def _(place):
    place.run("create", BOX, "--capacity", "2")
    result = place.run("send", BOX, "1", "2", "3", code=75)
    has(result.err, "argument 3: ")
    equal(len(result.lines), 2)


@case("options come before and after arguments, and -- ends them")
def _(place):
    place.run("send", "--quiet", BOX, "--delay", "0", "--", "--not-an-option")
    equal(place.run("receive", "--ack", BOX).lines, ["--not-an-option"])


@case("durations and sizes are read with every unit")
def _(place):
    for text, ms in (("0", 0), ("1500ms", 1500), ("90s", 90000), ("5m", 300000),
                     ("5min", 300000), ("12h", 43200000), ("4d", 345600000),
                     ("1h30m", 5400000), ("1500us", 1.5)):
        place.run("create", BOX, "--update", "--lease", text)
        equal(place.run("stat", BOX, "--json").objects[0]["options"]
              ["lease_ms"], ms)
    for text, size in (("4096", 4096), ("1B", 1), ("64KiB", 65536),
                       ("64K", 65536), ("2M", 2 << 20), ("1GiB", 1 << 30)):
        place.run("create", BOX, "--update", "--max-letter", text)
        equal(place.run("stat", BOX, "--json").objects[0]["options"]
              ["max_letter_bytes"], size)
