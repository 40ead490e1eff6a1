# SPDX-License-Identifier: Apache-2.0
"""Stores: check, copy and salvage, of intact ones and damaged ones."""

import os

from program import case, equal, has

BOX = "file:shop/orders"
MARK = b"here it will be damaged "


def damaged(place):
    """A store in which one message of three has other bytes than it had."""
    place.run("send", BOX, "first")
    place.run("send", BOX, "--whole", input=MARK * 500)
    place.run("send", BOX, "third")
    found = 0
    for name in ("data.mdb", "journal"):
        path = place.path("shop", name)
        with open(path, "r+b") as file:
            content = file.read()
            at = content.find(MARK * 3)
            while at >= 0:
                file.seek(at)
                file.write(b"HERE IT")
                found += 1
                at = content.find(MARK * 3, at + len(MARK) * 500)
    assert found, "the message is in no file"


@case("a check of an intact store says so")
def _(place):
    place.run("send", BOX, "1", "2")
    equal(place.run("check", "file:shop").text,
          "intact: 2 messages in 1 boxes\n")
    report = place.run("check", "file:shop", "--json").objects[0]
    equal([report["result"], report["messages"], report["damaged"]],
          ["intact", 2, 0])


@case("a check of a damaged store lists what is damaged and exits with 5")
def _(place):
    damaged(place)
    result = place.run("check", "file:shop", code=5)
    has(result.text, "damaged orders: body, messages 2 to 2")
    has(result.err, "letterbox salvage file:shop NEW-DIR")
    parts = place.run("check", "file:shop", "--json", code=5).objects
    equal([parts[0]["damage"], parts[0]["box"], parts[0]["first_sequence"]],
          ["body", "orders", 2])
    equal([parts[-1]["result"], parts[-1]["damaged"]], ["damaged", 1])


@case("a salvage saves what is intact, and leaves the old store alone")
def _(place):
    damaged(place)
    result = place.run("salvage", "file:shop", "saved")
    has(result.text, "saved: 2 messages in 1 boxes")
    has(result.text, "damaged orders: body")
    equal(place.run("receive", "file:saved/orders", "--max", "9").lines,
          ["first", "third"])
    place.run("check", "file:saved")
    place.run("check", "file:shop", code=5)
    has(place.run("salvage", "file:shop", "saved", code=1).err, "saved")
    report = place.run("salvage", "file:shop", "file:other", "--json").objects
    equal([report[-1]["result"], report[-1]["messages"]], ["saved", 2])


@case("a receive skips a damaged message, and says when only that is left")
def _(place):
    damaged(place)
    equal(place.run("receive", BOX, "--ack").lines, ["first"])
    equal(place.run("receive", BOX, "--ack").lines, ["third"])
    result = place.run("receive", BOX, "--ack", code=5)
    has(result.err, "letterbox check file:shop")


@case("a copy is a store of its own, as it was at that moment")
def _(place):
    place.run("send", BOX, "1", "2")
    equal(place.run("copy", "file:shop", "backup").text, "copied to backup\n")
    place.run("receive", BOX, "--ack")
    equal(place.run("receive", "file:backup/orders", "--max", "9").lines,
          ["1", "2"])
    result = place.run("copy", "file:shop", "file:back%20up", "--json")
    equal(result.objects, [{"result": "copied", "folder": "back up"}])
    assert os.path.isdir(place.path("back up"))
    has(place.run("copy", "file:shop", "backup", code=1).err, "backup")


@case("a copy is made while others use the store")
def _(place):
    place.run("send", BOX, "1")
    process = place.start("receive", BOX, "--follow", "--receipts")
    assert process.stdout.readline()
    place.run("copy", "file:shop", "backup")
    has(place.run("check", "file:backup").text, "intact: 1 messages")
    process.terminate()
    process.communicate()
    equal(process.returncode, 0)


@case("a damaged store is not copied")
def _(place):
    damaged(place)
    place.run("copy", "file:shop", "backup", code=5)
    assert not os.path.exists(place.path("backup"))


@case("a store in memory is warned about")
def _(place):
    has(place.run("send", "memory:orders", "x").err, "gone when this command")
    place.run("receive", "memory:orders", code=4)
    equal(place.run("ls", "memory:").text, "")
