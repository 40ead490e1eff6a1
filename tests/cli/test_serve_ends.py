# SPDX-License-Identifier: Apache-2.0
"""letterbox serve: a file of keys, what it takes over, and how it ends."""

import os
import resource
import signal
import socket
import subprocess
import time

from program import LIMIT, case, equal, has
from serving import Server
from test_serve import listen

KEY = ("AKIAONE", "a-secret-of-one")
OTHER = ("AKIATWO", "a-secret-of-two")
CREATE = "/?Action=CreateQueue&QueueName=q"


def write_keys(place, text, mode=0o600):
    place.write("keys", text.encode())
    os.chmod(place.path("keys"), mode)


@case("a file of keys has a key on each line, and an account")
def _(place):
    write_keys(place, "# a comment\n\n%s\t%s\r\n%s %s 222222222222\n" % (KEY + OTHER))
    with Server(place, "--keys", "keys", "-s", "memory:") as server:
        has(server.get(CREATE, key=KEY)[1], "/000000000000/q<")
        has(server.get(CREATE, key=OTHER)[1], "/222222222222/q<")
        equal(server.get(CREATE)[0], 403)


@case("a file of keys that has a mistake, or that others can read, is refused")
def _(place):
    line = "%s %s" % KEY
    for text, mode, said in (
            (line, 0o640, "mode 600"), (line, 0o604, "mode 600"),
            ("# none\n", 0o600, "it has no keys"),
            (line + "\nAKIATWO\n", 0o600, "keys:2: a line has ACCESS-KEY SECRET"),
            (line + " 222222222222 token more", 0o600, "keys:1: a line has"),
            (line + "\n" + line, 0o600, "keys:2: there is such an access key")):
        write_keys(place, text, mode)
        result = place.run("serve", "--keys", "keys", "-s", "memory:", "-l",
                           "127.0.0.1:0", code=1)
        has(result.err, said)
        assert KEY[1] not in result.err, result.err
    place.run("serve", "--keys", "none", "-s", "memory:", code=4)


@case("a socket that was passed to another process is not taken")
def _(place):
    passed = listen("127.0.0.1")
    environment = dict(place.environment, LISTEN_FDS="1", LISTEN_PID="1")
    script = 'exec 3<&%d; exec "$0" serve --store memory:' % passed.fileno()
    with subprocess.Popen(
            ["bash", "-c", script, place.program], cwd=place.folder,
            env=environment, pass_fds=[passed.fileno()], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True) as process:
        said = process.stdout.readline()
        process.kill()
        said += process.stderr.read()  # the port may be in use
    has(said, "127.0.0.1:9324")


@case("a server has as many descriptors as it may have")
def _(place):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard))
    try:
        with Server(place, "-s", "memory:") as server:
            equal(resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE),
                  (hard, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def refuses(address):
    try:
        socket.create_connection(address, timeout=LIMIT).close()
        return False
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        return False


@case("a second signal ends a server that waits for its clients")
def _(place):
    """A machine may be so busy that the first is enough, once or twice."""
    for _ in range(3):
        process = place.start("serve", "-s", "memory:", "-l", "127.0.0.1:0")
        url = process.stdout.readline().decode().rpartition("//")[2].strip()
        address = (url.partition(":")[0], int(url.partition(":")[2]))
        with socket.create_connection(address, timeout=LIMIT) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"
                           b"Expect: 100-continue\r\n\r\n")
            has(client.recv(100).decode(), "100 Continue")  # it has the head
            process.send_signal(signal.SIGTERM)
            limit = time.monotonic() + LIMIT
            while not refuses(address) and time.monotonic() < limit:
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            code = process.wait(LIMIT)
        process.stdout.close()
        process.stderr.close()
        if code == -signal.SIGTERM:
            return
    raise AssertionError("it ends with %d" % code)
