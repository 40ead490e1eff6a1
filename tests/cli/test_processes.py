# SPDX-License-Identifier: Apache-2.0
"""Processes: signals, pipes and several of them at once lose nothing."""

import json
import os
import select
import signal
import subprocess

from program import LIMIT, case, equal, has

BOX = "file:shop/orders"


def left(place, url=BOX):
    counts = place.run("stat", url, "--json").objects[0]
    return counts["ready"], counts["leased"], counts["delayed"]


def end(process, code):
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == code, "exit %d, not %d: %r %s" % (
        process.returncode, code, out[-500:], err.decode())
    return out


@case("a receive that waits gets what is sent meanwhile")
def _(place):
    place.run("create", BOX)
    process = place.start("receive", BOX, "--wait", "forever", "--ack")
    place.run("send", BOX, "hello")
    equal(end(process, 0), b"hello\n")
    equal(left(place), (0, 0, 0))


@case("a wait that is over exits with 3, also beyond what the box allows")
def _(place):
    place.run("create", BOX, "--max-wait", "10ms")
    place.run("receive", BOX, "--wait", "35ms", code=3)
    place.run("receive", BOX, "--follow", "--wait", "35ms", code=3)


@case("a follow prints what comes until a signal ends it, without loss")
def _(place):
    place.run("create", BOX)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = place.start("receive", BOX, "--follow", "--ack")
        for text in (b"one", b"two"):
            place.run("send", BOX, text.decode())
            equal(process.stdout.readline(), text + b"\n")
        process.send_signal(number)
        equal(end(process, 0), b"")
        place.run("send", BOX, "later")
        equal(place.run("receive", BOX, "--ack").lines, ["later"])
        equal(left(place), (0, 0, 0))


@case("a follow of so many ends by itself")
def _(place):
    place.run("send", BOX, "-q", *[str(i) for i in range(30)])
    process = place.start("receive", BOX, "--follow", "--ack", "--max", "23")
    equal(end(process, 0).decode().split(), [str(i) for i in range(23)])
    equal(left(place), (7, 0, 0))


@case("a signal during a wait that is no follow exits with 130")
def _(place):
    place.run("create", BOX)
    process = place.start("receive", BOX, "--wait", "forever", "--json")
    wait_until_waiting(process)
    process.send_signal(signal.SIGINT)
    end(process, 130)


def wait_until_waiting(process):
    """Until it has a descriptor for signals, which it opens before it waits."""
    folder = "/proc/%d/fd" % process.pid
    while not any("signalfd" in link(os.path.join(folder, name))
                  for name in os.listdir(folder)):
        assert process.poll() is None
        select.select([process.stderr], [], [], 0.01)


def link(path):
    try:
        return os.readlink(path)
    except OSError:  # closed meanwhile
        return ""


@case("a reader that does not read can be left by a signal, without loss")
def _(place):
    bodies = ["%d %s" % (i, "x" * 50000) for i in range(12)]
    place.run("send", BOX, "-q", input="\n".join(bodies).encode())
    process = place.start("receive", BOX, "--follow", "--ack", "--json")
    select.select([process.stdout], [], [], LIMIT)  # the pipe fills up
    process.send_signal(signal.SIGTERM)
    printed = []
    for line in end(process, 0).split(b"\n"):
        try:
            printed.append(json.loads(line)["body"])
        except ValueError:
            continue  # cut off: it must still be in the box
    rest = place.run("receive", BOX, "--json", "--ack", "--max", "99").objects
    equal(sorted(printed + [letter["body"] for letter in rest]),
          sorted(bodies))
    assert rest


@case("a reader that has gone gets no more, and the rest stays ready")
def _(place):
    for attempt in range(10):  # where it is when the reader goes differs
        url = "file:shop/box%d" % attempt
        place.run("send", url, "-q", *[str(i) for i in range(50)])
        process = place.start("receive", url, "--follow", "--ack", bufsize=0)
        equal(process.stdout.read(2), b"0\n")
        process.stdout.close()
        process.wait(LIMIT)
        equal(process.returncode, -signal.SIGPIPE)
        equal(process.stderr.read(), b"")
        process.stderr.close()
        ready, leased, delayed = left(place, url)
        equal([leased, delayed], [0, 0])
        # What the pipe had taken is acknowledged; nothing is in between.
        rest = [letter["body"] for letter in
                place.try_run("peek", url, "--json", "--max", "99").objects]
        equal(sorted(map(int, rest)), list(range(50 - ready, 50)))


@case("a follow that waits sees at once that its reader has gone")
def _(place):
    place.run("create", BOX)
    process = place.start("receive", BOX, "--follow")
    wait_until_waiting(process)
    process.stdout.close()
    process.wait(LIMIT)
    equal(process.returncode, -signal.SIGPIPE)
    process.stderr.close()


@case("help and lists in a pipe that is closed are no complaint")
def _(place):
    place.run("create", BOX)
    for command in ("help", "ls file:shop", "stat " + BOX):
        reader, writer = os.pipe()
        os.close(reader)
        process = place.start(*command.split(), stdout=writer)
        os.close(writer)
        equal(process.communicate(timeout=LIMIT)[1], b"")
        equal(process.returncode, -signal.SIGPIPE)


@case("what cannot be written is not acknowledged")
def _(place):
    place.run("send", BOX, "precious")
    with open("/dev/full", "wb") as full:
        process = place.start("receive", BOX, "--ack", stdout=full)
        _out, err = process.communicate(timeout=LIMIT)
    equal(process.returncode, 1)
    has(err.decode(), "cannot write to standard output: No space left")
    equal(left(place), (1, 0, 0))


@case("a closed standard output is no file of the store")
def _(place):
    place.run("send", BOX, "precious")
    result = subprocess.run(
        ["bash", "-c", '"$0" receive "$1" --ack >&-', place.program, BOX],
        cwd=place.folder, stderr=subprocess.PIPE)
    equal(result.returncode, 1)
    has(result.stderr.decode(), "Bad file descriptor")
    equal(left(place), (1, 0, 0))
    subprocess.run(["bash", "-c", '"$0" send "$1" more <&- >&- 2>&-',
                    place.program, BOX], cwd=place.folder)
    has(place.run("check", "file:shop").text, "intact: 2 messages")


@case("two senders and two receivers at once lose nothing")
def _(place):
    place.run("create", BOX)
    receivers = [place.start("receive", BOX, "--follow", "--ack", "--wait",
                             "5s") for _ in range(2)]
    senders = [place.start("send", BOX, "-q", stdin=subprocess.PIPE)
               for _ in range(2)]
    for name, sender in zip("ab", senders):
        for i in range(200):
            sender.stdin.write(b"%s%d\n" % (name.encode(), i))
        sender.stdin.close()
    for sender in senders:
        equal(sender.wait(LIMIT), 0)
        sender.stdout.close()
        sender.stderr.close()
    found = drain(receivers, 400)
    for receiver in receivers:
        receiver.send_signal(signal.SIGINT)
        found += end(receiver, 0).split()
    equal(sorted(found), sorted(b"%s%d" % (name, i) for name in (b"a", b"b")
                                for i in range(200)))


def drain(receivers, count):
    """Reads lines of all of them until there are `count`."""
    texts = {receiver.stdout.fileno(): b"" for receiver in receivers}
    while sum(text.count(b"\n") for text in texts.values()) < count:
        ready = select.select(list(texts), [], [], LIMIT)[0]
        assert ready, "only %r" % texts
        for fd in ready:
            texts[fd] += os.read(fd, 65536)
    return b"".join(texts.values()).split()


@case("lines are sent as they come, not when the input ends")
def _(place):
    place.run("create", BOX)
    sender = place.start("send", BOX, stdin=subprocess.PIPE, bufsize=0)
    for text in ("first", "second"):
        sender.stdin.write(text.encode() + b"\n")
        assert sender.stdout.readline()  # its id: it is on the disk
        equal(place.run("receive", BOX, "--ack").lines, [text])
    sender.stdin.close()
    equal(sender.wait(LIMIT), 0)
    sender.stdout.close()
    sender.stderr.close()


@case("a killed receiver's message comes back, and a killed sender's stays")
def _(place):
    place.run("create", BOX, "--lease", "1h")
    sender = place.start("send", BOX, stdin=subprocess.PIPE, bufsize=0)
    sender.stdin.write(b"kept\n")
    assert sender.stdout.readline()
    sender.kill()
    sender.communicate()
    receiver = place.start("receive", BOX, "--follow", "--receipts")
    receipt, body = receiver.stdout.readline().rstrip().split(b"\t")
    receiver.kill()
    receiver.communicate()
    equal(body, b"kept")
    equal(left(place), (0, 1, 0))
    place.run("nack", BOX, receipt.decode())
    equal(place.run("receive", BOX, "--ack").lines, ["kept"])


@case("a stopped process is waited for no longer than --busy")
def _(place):
    place.run("create", BOX)
    sender = place.start("send", BOX, stdin=subprocess.PIPE, bufsize=0)
    sender.stdin.write(b"x\n")
    assert sender.stdout.readline()
    sender.send_signal(signal.SIGSTOP)
    try:
        result = place.try_run("send", BOX, "y", "--busy", "50ms")
        assert result.code in (0, 75), result
        if result.code == 75:
            has(result.err, str(sender.pid))
    finally:
        sender.send_signal(signal.SIGCONT)
        sender.communicate()
