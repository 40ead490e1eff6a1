# SPDX-License-Identifier: Apache-2.0
"""Messages: what is sent is received, to the byte."""

import base64

from program import case, equal, has

BOX = "file:shop/orders"
BINARY = bytes(range(256)) * 3


def bodies(place, url=BOX):
    return [letter["body"] for letter in
            place.run("receive", url, "--json", "--ack", "--max", "1000").objects]


@case("arguments are sent in order, and each has its id")
def _(place):
    sent = place.run("send", BOX, "a book", "", "a pen").lines
    equal(len(set(sent)), 3)
    letters = place.run("receive", BOX, "--json", "--max", "5").objects
    equal([letter["id"] for letter in letters], sent)
    equal([letter["body"] for letter in letters], ["a book", "", "a pen"])


@case("standard input is one message per line, empty ones too")
def _(place):
    place.run("send", BOX, input=b"one\n\ntwo\r\nlast without a newline")
    equal(bodies(place), ["one", "", "two\r", "last without a newline"])


@case("standard input can be taken whole")
def _(place):
    place.run("send", BOX, "--whole", input=b"one\ntwo\n")
    place.run("send", BOX, "--whole", input=b"")
    equal(bodies(place), ["one\ntwo\n", ""])


@case("files are sent whole, or by lines, or by NUL bytes")
def _(place):
    place.write("two lines", b"one\ntwo\n")
    place.write("nulls", b"a\nb\0c\0")
    place.run("send", BOX, "first", "--file", "two lines", "--file", "nulls")
    place.run("send", BOX, "--file", "two lines", "--lines")
    place.run("send", BOX, "--file", "nulls", "--null")
    place.run("send", BOX, "-0f", "-", input=b"x\0y")
    equal(bodies(place), ["first", "one\ntwo\n", base64.b64encode(b"a\nb\0c\0").decode(),
                          "one", "two", "a\nb", "c", "x", "y"])


@case("thousands of lines are sent in order, none is lost")
def _(place):
    lines = ["line %d" % i for i in range(3003)]
    sent = place.run("send", BOX, input="\n".join(lines).encode())
    equal(len(sent.lines), 3003)
    found = place.run("receive", BOX, "--ack", "--max", "9999").lines
    equal(found, lines)
    place.run("receive", BOX, code=3)


@case("a line of a megabyte is one message")
def _(place):
    line = b"x" * (1 << 20)
    place.run("send", BOX, input=line + b"\nshort\n")
    equal(place.run("receive", BOX, "--max", "2").out, line + b"\nshort\n")


@case("a message that is binary is received as it was sent")
def _(place):
    place.write("binary", BINARY)
    place.run("send", BOX, "--file", "binary", "--whole")
    equal(place.run("receive", BOX, "--lease", "0").out, BINARY + b"\n")
    equal(place.run("receive", BOX, "--lease", "0", "--null").out,
          BINARY + b"\0")
    letter = place.run("receive", BOX, "--json", "--ack").objects[0]
    equal(letter["encoding"], "base64")
    equal(base64.b64decode(letter["body"]), BINARY)


@case("text in JSON is text, with everything escaped that must be")
def _(place):
    text = "\u00fcml\u00e4ut \U0001f4ee \"quoted\" \\ \x01\x1f\t\u2028"
    place.run("send", BOX, text)
    letter = place.run("peek", BOX, "--json").objects[0]
    equal(letter["body"], text)
    assert "encoding" not in letter


@case("attributes, type, group and trace travel along")
def _(place):
    place.run("send", BOX, "x", "--attribute", "color=red=blue", "-a",
              "n:Number=3", "-a", "f:Number.float=1.5", "-a",
              "b:Binary=\u00fc", "--type", "shop.Order", "--group", "g",
              "--trace", "Root=1-2")
    letter = place.run("peek", BOX, "--json").objects[0]
    equal(letter["attributes"],
          {"color": {"type": "String", "value": "red=blue"},
           "n": {"type": "Number", "value": "3"},
           "f": {"type": "Number.float", "value": "1.5"},
           "b": {"type": "Binary", "value": "\u00fc"}})
    equal([letter["type"], letter["group"], letter["trace"]],
          ["shop.Order", "g", "Root=1-2"])


@case("a delayed message is not received, and is shown by peek")
def _(place):
    place.run("send", BOX, "later", "--delay", "1h")
    place.run("receive", BOX, code=3)
    equal(place.run("peek", BOX).lines, ["later"])
    equal(place.run("stat", BOX, "--json").objects[0]["delayed"], 1)


@case("a token sends once, however often it is sent")
def _(place):
    first = place.run("send", BOX, "a", "b", "--token", "t", "--json").objects
    again = place.run("send", BOX, "a", "b", "--token", "t", "--json").objects
    equal([one["id"] for one in first], [one["id"] for one in again])
    equal([one["duplicate"] for one in first + again],
          [False, False, True, True])
    equal(bodies(place), ["a", "b"])


@case("a receipt acknowledges, and is used up")
def _(place):
    place.run("send", BOX, "x")
    receipt = place.run("receive", BOX, "--json").objects[0]["receipt"]
    place.run("receive", BOX, code=3)
    done = place.run("ack", BOX, receipt, "--json").objects
    equal(done, [{"receipt": receipt, "result": "acknowledged"}])
    result = place.run("ack", BOX, receipt, code=6)
    has(result.err, "letterbox: receipt ")
    equal(place.run("stat", BOX, "--json").objects[0]["leased"], 0)


@case("a message that is given back is received again, with its count")
def _(place):
    place.run("send", BOX, "x")
    first = place.run("receive", BOX, "--json").objects[0]
    place.run("nack", BOX, first["receipt"])
    second = place.run("receive", BOX, "--json").objects[0]
    equal([second["id"], second["deliveries"]], [first["id"], 2])
    place.run("nack", BOX, first["receipt"], code=6)
    place.run("nack", BOX, second["receipt"], "--delay", "1h")
    place.run("receive", BOX, code=3)
    equal(place.run("stat", BOX, "--json").objects[0]["delayed"], 1)


@case("an extended lease lasts, and one of nothing ends at once")
def _(place):
    place.run("send", BOX, "x")
    receipt = place.run("receive", BOX, "--json").objects[0]["receipt"]
    place.run("extend", BOX, receipt, "--lease", "1h")
    place.run("extend", BOX, receipt)
    place.run("receive", BOX, code=3)
    place.run("extend", BOX, receipt, "--lease", "0")
    place.run("receive", BOX)


@case("receipts are read from standard input, and a bad one stops no other")
def _(place):
    place.run("send", BOX, *[str(i) for i in range(25)])
    received = place.run("receive", BOX, "--receipts", "--max", "25").lines
    receipts = [line.split("\t")[0] for line in received]
    equal([line.split("\t")[1] for line in received],
          [str(i) for i in range(25)])
    text = "\n".join(receipts[:20] + ["nonsense", "A" * 5000] + receipts[20:])
    result = place.run("ack", BOX, input=text.encode(), code=1)
    has(result.err, "not a receipt of " + BOX)
    stat = place.run("stat", BOX, "--json").objects[0]
    equal([stat["ready"], stat["leased"]], [0, 0])


@case("acknowledging while receiving empties the box")
def _(place):
    place.run("send", BOX, "a", "b")
    equal(place.run("receive", BOX, "--ack").lines, ["a"])
    letter = place.run("receive", BOX, "--ack", "--json").objects[0]
    assert "receipt" not in letter
    place.run("peek", BOX, code=3)


@case("peek changes nothing, and pages by sequence")
def _(place):
    place.run("send", BOX, *[str(i) for i in range(30)])
    equal(place.run("peek", BOX).lines, [str(i) for i in range(10)])
    letters = place.run("peek", BOX, "--json", "--max", "25").objects
    equal(len(letters), 25)
    equal(letters[0]["deliveries"], 0)
    following = str(letters[-1]["sequence"] + 1)
    equal(place.run("peek", BOX, "--from", following, "--max", "99").lines,
          [str(i) for i in range(25, 30)])
    equal(place.run("receive", BOX, "--json").objects[0]["deliveries"], 1)


@case("a fifo box keeps groups in order and refuses duplicates")
def _(place):
    place.run("create", BOX, "--fifo")
    result = place.run("send", BOX, "x", code=1)
    has(result.err, "argument 1: a fifo box needs a group")
    place.run("send", BOX, "1", "2", "--group", "g", "--dedup-id", "d")
    place.run("send", BOX, "1", "--group", "g", "--dedup-id", "d")
    equal(place.run("receive", BOX, "--max", "10").lines, ["1", "2"])


@case("an attempt that is repeated gets the same messages")
def _(place):
    place.run("create", BOX, "--preset", "sqs-fifo", "--dedup-by-content")
    place.run("send", BOX, "1", "2", "--group", "g")
    first = place.run("receive", BOX, "--attempt-id", "a", "--json").objects
    again = place.run("receive", BOX, "--attempt-id", "a", "--json").objects
    equal(first[0]["id"], again[0]["id"])
    place.run("receive", BOX, code=3)


@case("lines that are more than a box takes at once are sent in parts")
def _(place):
    place.run("create", BOX, "--preset", "sqs")
    line = "y" * 300000
    place.run("send", BOX, "-q", "-a", "k=v", input=(line + "\n").encode() * 12)
    equal(place.run("stat", BOX, "--json").objects[0]["ready"], 12)


@case("a message that is refused is named, and those before it are sent")
def _(place):
    place.run("create", BOX, "--preset", "sqs")
    result = place.run("send", BOX, input=b"good\n" * 10 + b"\nnever\n", code=1)
    has(result.err, "line 11: ")
    has(result.err, "sent before that")
    equal(len(result.lines) >= 10, True)
    result = place.run("send", BOX, "z" * 2000, "--file", "/dev/zero",
                       "--lines", code=1)
    has(result.err, "MiB")
