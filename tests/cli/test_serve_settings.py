# SPDX-License-Identifier: Apache-2.0
"""The settings of letterbox serve: what may be in them, who may read them, and
what a reload changes."""

import os
import re
import subprocess
import threading

from program import case, equal, has
from serving import Server

KEY = ("AKIAEXAMPLE1", "a-secret-of-the-first-key")
OTHER = ("AKIAEXAMPLE2", "a-secret-of-the-second-key")
LIST = "/?Action=ListQueues"


def key_section(*keys):
    return "access-keys { %s }\n" % ", ".join(
        '%s { secret = "%s" }' % key for key in keys)


def write(place, text, mode=0o600, name="a.conf"):
    """Settings, in place of those that were there."""
    place.write("new.conf", ("letterbox.server {\n%s\n}\n" % text).encode())
    os.chmod(place.path("new.conf"), mode)
    os.rename(place.path("new.conf"), place.path(name))


@case("keys of the settings admit, and nothing else does")
def _(place):
    write(place, key_section(KEY))
    with Server(place, "-c", "a.conf", "-s", "memory:") as server:
        equal(server.get(LIST)[0], 403)
        equal(server.get(LIST, key=KEY)[0], 200)
        equal(server.get(LIST, key=OTHER)[0], 403)


@case("keys of a file and keys of the settings count together")
def _(place):
    write(place, key_section(KEY) + 'keys = "keys"')
    place.write("keys", ("%s %s\n" % OTHER).encode())
    os.chmod(place.path("keys"), 0o600)
    with Server(place, "-c", "a.conf", "-s", "memory:") as server:
        equal(server.get(LIST, key=KEY)[0], 200)
        equal(server.get(LIST, key=OTHER)[0], 200)


@case("settings with keys that others can read are refused")
def _(place):
    for mode in (0o640, 0o604):
        write(place, key_section(KEY), mode)
        result = place.run("serve", "-c", "a.conf", "-s", "memory:", code=1)
        has(result.err, "a.conf:2: ")
        has(result.err, "mode 600")
        assert KEY[1] not in result.err
    # As is a file that they include; without keys anybody may read them.
    write(place, key_section(KEY), 0o644, name="included.conf")
    place.write("b.conf", b'include "included.conf"\n')
    has(place.run("serve", "-c", "b.conf", "-s", "memory:", code=1).err,
        "included.conf:2: ")
    write(place, "queues { orders {} }", 0o644)
    with Server(place, "-c", "a.conf", "-s", "memory:") as server:
        has(server.get(LIST)[1], "/orders")


# What stands in line 2, and what is said about it.
MISTAKES = [
    ('region = "US East"', "region: allowed is 1 to 18 lower-case"),
    ('account = "12"', "account: allowed is 12 digits"),
    ('listen = "9324"', "listen: allowed is 127.0.0.1:9324"),
    ('store = "data"', "store: allowed is file:DIR or memory:"),
    ('url = "queues.example"', "url: allowed is http://HOST"),
    ('durability = "none"', "allowed: sync, interval, process"),
    ("threads = 65", "1 to 64 is allowed"),
    ("thread = 4", "did you mean threads?"),
    ("request-timeout = 0s", "request-timeout: 0s is too small; 1ms to 86400s"),
    ("queues { a { delay = 1h } }", "0s to 900s is allowed"),
    ("queues { a { fifo = true } }", "ends in .fifo"),
    ('queues { "a b" { } }', "1 to 80 letters, digits, hyphens"),
    ("queues { a { dead-letters { queue = b } } }", "declared above it"),
    ("access-keys { }", "it has no keys"),
    ("access-keys { AKIA { } }", "secret is missing"),
    ('access-keys { AKIA { secret = "short" } }', "8 to 256 characters"),
    ('access-keys { AKIA { secret = "long-enough", account = "1" } }',
     "an account has 12 digits"),
    ('access-keys { "a b" { secret = "long-enough" } }', "3 to 128 letters"),
]


@case("a mistake in the settings is refused with file, line and what is allowed")
def _(place):
    for text, said in MISTAKES:
        write(place, text)
        arguments = ["serve", "-c", "a.conf"]
        if "store" not in text:
            arguments += ["-s", "memory:"]
        result = place.try_run(*arguments)
        assert result.code in (1, 4), (text, result)
        has(result.err, "a.conf:2: ")
        has(result.err, said)
        equal(os.listdir(place.folder), ["a.conf"])


def manual():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           "../../docs/man/letterbox.conf.5.scd")) as file:
        return file.read()


@case("every option of serve is a key in letterbox.conf(5), and no other")
def _(place):
    options = re.findall(r"^ .*?--([a-z-]+)", place.run("serve", "--help").text,
                         re.M)
    keys = re.search(r"The keys are(.*?)Those without", manual(), re.S).group(1)
    equal(sorted(re.findall(r"\*([a-z-]+)\*", keys)),
          sorted(set(options) - {"config", "help"} | {"letterbox-serve"}))


@case("the example of letterbox.conf(5) is served")
def _(place):
    example = re.search(r"```\n(.*?)```", manual(), re.S).group(1)
    place.write("a.conf", example.encode())
    os.chmod(place.path("a.conf"), 0o600)
    key = re.search(r'(\w+) \{ secret = "(.*?)"', example).groups()
    with Server(place, "-c", "a.conf", "-s", "memory:") as server:
        listed = server.get(LIST, key=key)[1]
        for name in ("orders-dlq", "orders", "invoices.fifo"):
            has(listed, "/%s<" % name)


@case("a reload takes keys, queues and the log of requests from the settings")
def _(place):
    write(place, key_section(KEY) + "queues { orders {} }")
    with Server(place, "-c", "a.conf", "-s", "file:data") as server:
        write(place, key_section(OTHER) + "log-requests = true\n"
              "queues { dead {}, orders { visibility-timeout = 77s,\n"
              "dead-letters { queue = dead } } }")
        server.reload()
        equal(server.get(LIST, key=KEY)[0], 403)
        has(server.get(LIST, key=OTHER)[1], "/dead<")
        server.wait_for("action=ListQueues")
        has(place.run("stat", "file:data/orders").text, "1m17s")


@case("a reload of a queue is not undone by a client that changes it")
def _(place):
    ask = ("/000000000000/orders?Action=%s" % "GetQueueAttributes&AttributeName.1=All",
           "/000000000000/orders?Action=%s" % "SetQueueAttributes&Attribute.Name="
           "DelaySeconds&Attribute.Value=7")
    settings = "queues { orders { visibility-timeout = %ds } }"
    write(place, settings % 1)
    with Server(place, "-c", "a.conf", "-s", "file:data") as server:
        over = threading.Event()

        def change():
            while not over.is_set():
                server.get(ask[1])

        changers = [threading.Thread(target=change) for _ in range(4)]
        for changer in changers:
            changer.start()
        try:
            for seconds in range(2, 42):
                write(place, settings % seconds)
                server.reload()
                for _ in range(3):
                    has(server.get(ask[0])[1], "<Name>VisibilityTimeout</Name>"
                        "<Value>%d</Value>" % seconds)
        finally:
            over.set()
            for changer in changers:
                changer.join()


@case("a reload names what changes with the next start only")
def _(place):
    write(place, 'threads = 1')
    with Server(place, "-c", "a.conf", "-s", "memory:") as server:
        write(place, 'threads = 2\nregion = "eu-west-1"')
        said = server.reload()
        has(said, "reload: threads changes with the next start")
        has(said, "reload: region changes with the next start")
        assert "store" not in said, said


@case("a reload with a mistake changes nothing")
def _(place):
    write(place, key_section(KEY) + "queues { orders {} }")
    with Server(place, "-c", "a.conf", "-s", "memory:") as server:
        # The mistake is in the last queue: the others are not changed either.
        write(place, key_section(OTHER) +
              "queues { new {}, wrong { delay = 1h } }")
        has(server.reload_fails(), "a.conf:3: ")
        has(server.get(LIST, key=KEY)[1], "/orders<")
        assert "/new<" not in server.get(LIST, key=KEY)[1]
        equal(server.get(LIST, key=OTHER)[0], 403)
        # Nor does a server lose its keys, nor read what others can.
        write(place, "queues { orders {} }")
        has(server.reload_fails(), "now there are none")
        write(place, key_section(OTHER), 0o644)
        has(server.reload_fails(), "mode 600")
        equal(server.get(LIST, key=KEY)[0], 200)
        write(place, key_section(OTHER))
        server.reload()
        equal(server.get(LIST, key=OTHER)[0], 200)


@case("the command line counts more than the environment, and that than the file")
def _(place):
    write(place, 'region = "eu-one-1"\naccount = "111111111111"\n'
          'url = "http://one"\nqueues { orders {} }')
    place.environment["LETTERBOX_REGION"] = "eu-two-1"
    place.environment["LETTERBOX_URL"] = "http://two"
    with Server(place, "-c", "a.conf", "-s", "memory:", "--url",
                "http://three") as server:
        has(server.get(LIST)[1], "http://three/111111111111/orders<")
    place.environment["LETTERBOX_URL"] = "two"
    has(place.run("serve", "-c", "a.conf", code=2).err,
        "LETTERBOX_URL=two: allowed is http://HOST")


@case("one process serves a folder; a second is told what to do")
def _(place):
    with Server(place, "-s", "file:data") as server:
        result = place.run("serve", "-s", "file:data", "-l", "127.0.0.1:0",
                           code=75)
        has(result.err, "file:data is being served by another process: use "
            "that one, stop it, or serve another --store")
        equal(server.get("/health")[0], 200)
    # After kill -9 nothing is left of it.
    with subprocess.Popen([place.program, "serve", "-s", "file:data", "-l",
                           "127.0.0.1:0"], cwd=place.folder,
                          env=place.environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as killed:
        killed.stdout.readline()
        killed.kill()
    with Server(place, "-s", "file:data") as server:
        equal(server.get("/health")[0], 200)


@case("an address that is none is not taken for one that others can reach")
def _(place):
    has(place.run("serve", "-s", "memory:", "-l", "shop:80", code=1).err,
        "is no address: use an IPv4 address")
    has(place.run("serve", "-s", "memory:", "-l", "0.0.0.0:0", code=1).err,
        "can be reached by others")
    has(place.run("serve", "-s", "memory:", "-l", "80", code=2).err,
        "--listen 80: allowed is 127.0.0.1:9324")
