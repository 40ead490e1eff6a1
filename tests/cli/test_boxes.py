# SPDX-License-Identifier: Apache-2.0
"""Boxes: create, ls, stat, delete, purge, move."""

import signal

from program import case, equal, has

BOX = "file:shop/orders"


def stat(place, url=BOX):
    return place.run("stat", url, "--json").objects[0]


@case("every option of a box is set by create and shown by stat")
def _(place):
    place.run("create", "file:shop/dead")
    place.run(
        "create", BOX, "--lease", "1m", "--delay", "2s", "--wait", "3s",
        "--retention", "4d", "--capacity", "1000", "--fifo",
        "--dedup-by-content", "--dedup-scope", "group", "--keep-position",
        "--dead-letters-from", "a", "--dead-letters-from", "b", "--max-lease",
        "12h", "--max-wait", "20s", "--max-delay", "15m", "--min-retention",
        "1m", "--max-retention", "14d", "--max-letter", "256KiB",
        "--max-batch", "1MiB", "--max-leased", "7", "--max-attributes", "10",
        "--text-only")
    options = stat(place)["options"]
    equal(options, {
        "lease_ms": 60000, "delay_ms": 2000, "wait_ms": 3000,
        "retention_ms": 345600000, "capacity": 1000, "strict": True,
        "keep_position": True, "fifo": True, "dedup_by_content": True,
        "dedup_scope": "group", "dead_letters": None, "max_deliveries": 0,
        "dead_letters_from": "listed", "dead_letters_from_boxes": ["a", "b"],
        "max_lease_ms": 43200000, "max_wait_ms": 20000,
        "max_delay_ms": 900000, "min_retention_ms": 60000,
        "max_retention_ms": 1209600000, "max_letter_bytes": 262144,
        "max_batch_bytes": 1048576, "max_leased": 7, "max_attributes": 10,
        "text_only": True})


@case("a preset is what SQS has, and options are set over it")
def _(place):
    place.run("create", BOX, "--preset", "sqs", "--lease", "5m",
              "--max-retention", "unlimited", "--max-attributes", "unlimited")
    options = stat(place)["options"]
    equal([options["lease_ms"], options["max_wait_ms"], options["strict"],
           options["max_retention_ms"], options["max_attributes"]],
          [300000, 20000, False, None, None])


@case("a fifo box is strict, whatever it begins with")
def _(place):
    place.run("create", BOX, "--preset", "sqs", "--fifo")
    place.run("create", "file:shop/again", "--preset", "sqs-fifo")
    equal(stat(place)["options"], stat(place, "file:shop/again")["options"])


@case("creating again is fine with the same options, and an update else")
def _(place):
    place.run("create", BOX, "--lease", "1m", "--delay", "1s")
    place.run("create", BOX, "--lease", "1m", "--delay", "1s")
    has(place.run("create", BOX, "--lease", "2m", code=1).err, "--update")
    result = place.run("create", BOX, "--lease", "2m", "--update", "--json")
    equal(result.objects[0]["result"], "updated")
    options = stat(place)["options"]
    equal([options["lease_ms"], options["delay_ms"]], [120000, 1000])
    place.run("create", "file:shop/new", "--update", "--no-strict")
    equal(stat(place, "file:shop/new")["options"]["strict"], False)


@case("ls lists boxes with their counts, by prefix")
def _(place):
    for name in ("beta", "alpha", "alpha2"):
        place.run("create", "file:shop/" + name)
    place.run("send", "file:shop/alpha", "1", "2", "3")
    place.run("receive", "file:shop/alpha")
    place.run("send", "file:shop/alpha", "4", "--delay", "1h")
    equal(place.run("ls", "file:shop").lines,
          ["alpha\t2\t1\t1", "alpha2\t0\t0\t0", "beta\t0\t0\t0"])
    found = place.run("ls", "file:shop", "--json", "--prefix", "al").objects
    equal([box["name"] for box in found], ["alpha", "alpha2"])
    equal([found[0]["bytes"], found[1]["oldest_ms"]], [4, None])
    assert found[0]["oldest_ms"] >= 0


@case("a dead letter is moved by its box, and back by move")
def _(place):
    place.run("create", "file:shop/dead")
    place.run("create", BOX, "--dead-letters", "dead", "--max-deliveries", "1")
    place.run("send", BOX, "poison")
    place.run("receive", BOX, "--lease", "0")
    place.run("receive", BOX, code=3)
    letter = place.run("peek", "file:shop/dead", "--json").objects[0]
    equal(letter["dead_letter_source"], "orders")
    moved = place.run("move", "file:shop/dead", "--json").objects[0]
    equal([moved["phase"], moved["moved"], moved["left"]], ["completed", 1, 0])
    equal(place.run("receive", BOX, "--ack").lines, ["poison"])
    equal(stat(place, "file:shop/dead")["move"]["phase"], "completed")


@case("a move takes every message to the other box")
def _(place):
    place.run("create", "file:shop/archive")
    place.run("send", BOX, "-q", *[str(i) for i in range(250)])
    result = place.run("move", BOX, "file:./shop/archive")
    equal(result.text, "completed: 250 moved, 0 left\n")
    equal(place.run("receive", "file:shop/archive", "--max", "250").lines,
          [str(i) for i in range(250)])
    equal(place.run("move", BOX, "--status").text, result.text)


@case("a move is cancelled by a signal, and what was moved stays moved")
def _(place):
    place.run("create", "file:shop/archive")
    place.run("send", BOX, "-q", *[str(i) for i in range(500)])
    process = place.start("move", BOX, "file:shop/archive", "--rate", "20",
                          "--json")
    # When something has arrived, the move is under way.
    place.run("receive", "file:shop/archive", "--wait", "forever", "--lease",
              "0")
    process.send_signal(signal.SIGINT)
    out, _err = process.communicate()
    equal(process.returncode, 130)
    has(out.decode(), '"phase":"cancelled"')
    left = stat(place)["ready"]
    there = stat(place, "file:shop/archive")["ready"]
    equal(left + there, 500)
    assert left > 0 and there > 0
    place.run("move", BOX, "--cancel", code=4)


@case("a move that is not waited for goes on with the next process")
def _(place):
    place.run("create", "file:shop/archive")
    place.run("send", BOX, "-q", *[str(i) for i in range(100)])
    process = place.start("receive", "file:shop/archive", "--follow", "--ack",
                          "--max", "100")
    place.run("move", BOX, "file:shop/archive", "--no-wait")
    out, _err = process.communicate()
    equal(len(out.splitlines()), 100)
    equal(stat(place)["ready"], 0)


@case("a move is refused between stores, to itself, and of no dead letter")
def _(place):
    place.run("send", BOX, "x")
    place.run("create", "file:other/orders")
    has(place.run("move", BOX, "file:other/orders", code=2).err, "two stores")
    place.run("move", BOX, BOX, code=2)
    has(place.run("move", BOX, code=4).err, "name the box to move to")
    place.run("move", BOX, "file:shop/none", code=4)
    place.run("move", BOX, "--status", code=4)
    place.run("move", BOX, "--status", "--cancel", code=2)


@case("purge deletes the messages, delete the box")
def _(place):
    place.run("send", BOX, "1", "2", "3")
    place.run("receive", BOX)
    equal(place.run("purge", BOX, "--json").objects[0]["messages"], 3)
    equal(stat(place)["leased"], 0)
    place.run("send", BOX, "1")
    equal(place.run("delete", BOX, "--json").objects[0]["messages"], 1)
    place.run("stat", BOX, code=4)
    place.run("delete", BOX, code=4)
    equal(place.run("ls", "file:shop").text, "")


@case("a name is decoded, of the folder and of the box")
def _(place):
    place.run("send", "file:my%20shop/a%3Fb", "x")
    equal(place.run("ls", "file:my%20shop").lines, ["a?b\t1\t0\t0"])
    has(place.run("check", "file:my%20shop").text, "intact")
