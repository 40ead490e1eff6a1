# SPDX-License-Identifier: Apache-2.0
"""letterbox serve as a service: a socket that is passed, and what it tells."""

import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import urllib.request

from program import LIMIT, case, control, equal, has
from serving import Server


def start(place, listening):
    """As systemd starts it: the socket is descriptor 3, and there is one to
    notify."""
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind(place.path("notify"))
    notices.settimeout(LIMIT)
    environment = dict(place.environment, LISTEN_FDS="1",
                       NOTIFY_SOCKET=place.path("notify"))
    script = 'exec 3<&%d; export LISTEN_PID=$$; exec "$0" serve --store file:data' \
        % listening.fileno()
    process = subprocess.Popen(
        ["bash", "-c", script, place.program], cwd=place.folder, env=environment,
        pass_fds=[listening.fileno()], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    return process, notices


def listen(host):
    one = socket.socket()
    one.bind((host, 0))
    one.listen()
    return one


@case("a server takes a socket that is passed, and tells when it is ready and ends")
def _(place):
    listening = listen("127.0.0.1")
    process, notices = start(place, listening)
    equal(notices.recv(100), b"READY=1")
    url = "http://127.0.0.1:%d/health" % listening.getsockname()[1]
    has(urllib.request.urlopen(url, timeout=LIMIT).read().decode(), "ok")
    process.send_signal(signal.SIGTERM)
    equal(notices.recv(100), b"STOPPING=1")
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    notices.close()


@case("a socket that is passed and others can reach needs keys")
def _(place):
    process, notices = start(place, listen("0.0.0.0"))
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode not in (0, None), err
    has(err.decode(), "there are no keys")
    notices.close()


@case("a server ends with its terminal, and reloads for any other SIGHUP")
def _(place):
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [place.program, "serve", "-s", "memory:", "-l", "127.0.0.1:0"],
        cwd=place.folder, env=place.environment, stdin=slave,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: control(slave))
    os.close(slave)
    has(process.stdout.readline(), "letterbox serves memory:")
    process.send_signal(signal.SIGHUP)
    has(process.stderr.readline(), "reload: settings")
    os.close(master)
    _, err = process.communicate(timeout=LIMIT)
    equal((process.returncode, err), (0, ""))


@case("an address in use is named, with what can be done about it")
def _(place):
    with listen("127.0.0.1") as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        result = place.run("serve", "-s", "memory:", "-l", address, code=1)
    has(result.err, address + " is in use by another process")
    has(result.err, "stop it, or give another --listen")


UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../dist")


def has_tool(name):
    """systemd's tools are not on every machine; systemd need not run."""
    found = shutil.which(name) is not None
    if not found:
        print("# there is no %s here" % name)
    return found


@case("systemd knows every line of the units, and rates them as closed off")
def _(place):
    # What the sandbox calls is in no group of system calls that has a name.
    with open(os.path.join(UNITS, "letterbox.service")) as file:
        unit = file.read()
    for call in ("landlock_create_ruleset", "landlock_add_rule",
                 "landlock_restrict_self", "seccomp"):
        has(unit, call)
    if not has_tool("systemd-analyze"):
        return
    place.write("letterbox.service", unit.replace(
        "/usr/local/bin/letterbox", place.program).encode())
    shutil.copy(os.path.join(UNITS, "letterbox.socket"), place.folder)
    units = [place.path("letterbox.service"), place.path("letterbox.socket")]
    for arguments in (["verify", "--man=no", *units],
                      ["security", "--offline=true", "--threshold=15",
                       units[0]]):
        done = subprocess.run(["systemd-analyze", *arguments],
                              capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done
        if arguments[0] == "verify":
            assert "letterbox" not in done.stderr, done


@case("systemd-socket-activate starts it with the first connection")
def _(place):
    if not has_tool("systemd-socket-activate"):
        return
    with listen("127.0.0.1") as one:
        port = one.getsockname()[1]  # free, unless another takes it just now
    process = subprocess.Popen(
        ["systemd-socket-activate", "-l", "127.0.0.1:%d" % port, place.program,
         "serve", "--store", "file:data"], cwd=place.folder,
        env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    try:
        line = process.stderr.readline()
        while line and "Listening" not in line:
            line = process.stderr.readline()
        assert not os.path.exists(place.path("data"))
        url = "http://127.0.0.1:%d/health" % port
        has(urllib.request.urlopen(url, timeout=LIMIT).read().decode(), "ok")
        has(process.stdout.readline(), "at http://127.0.0.1:%d" % port)
    finally:
        process.terminate()
        _, err = process.communicate(timeout=LIMIT)
    equal((process.returncode, "error" in err), (0, False))


@case("every metric is in the guide of the server, and no other")
def _(place):
    guide = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "../../docs/server.md")
    with open(guide, encoding="utf-8") as file:
        described = set(re.findall(r"`(letterbox_[a-z_]+)", file.read()))
    with Server(place, "-s", "memory:") as server:
        _, text = server.get("/metrics")
    equal(set(re.findall(r"^# TYPE (\w+) ", text, re.M)), described)


@case("the metrics have the queues of all accounts and regions, for home")
def _(place):
    home = ("AKIAHOME", "a-secret-of-the-home-account")
    other = ("AKIAOTHER", "a-secret-of-another-account")
    place.write("keys", b"AKIAHOME %s\nAKIAOTHER %s 111111111111\n" % (
        home[1].encode(), other[1].encode()))
    os.chmod(place.path("keys"), 0o600)
    with Server(place, "-s", "memory:", "-k", "keys") as server:
        for name, key, region in (("a", home, "us-east-1"),
                                  ("b", home, "eu-west-1"),
                                  ("c", other, "us-east-1")):
            equal(server.get("/?Action=CreateQueue&QueueName=" + name, key=key,
                             region=region)[0], 200)
        equal(server.get("/111111111111/c?Action=SendMessage&MessageBody=x",
                         key=other)[0], 200)
        queue = 'letterbox_messages{account="%s",region="%s",queue="%s",' \
            'state="visible"} %d\n'
        _, text = server.get("/metrics", key=home)
        has(text, queue % ("000000000000", "us-east-1", "a", 0))
        has(text, queue % ("000000000000", "eu-west-1", "b", 0))
        has(text, queue % ("111111111111", "us-east-1", "c", 1))
        has(text, "letterbox_queues_cut 0\n")
        # All of a metric is in one piece: Prometheus asks for that.
        names = [line.partition("{")[0] for line in text.splitlines()
                 if line.startswith(("letterbox_messages{", "letterbox_oldest"))]
        equal(names, sorted(names))
        # Another account sees its own queues.
        _, text = server.get("/metrics", key=other)
        has(text, queue % ("111111111111", "us-east-1", "c", 1))
        assert "000000000000" not in text, text
        equal(server.get("/metrics")[0], 403)
    with Server(place, "-s", "memory:", "-k", "keys", "--open-metrics") as server:
        equal(server.get("/metrics")[0], 200)
        equal(server.get("/?Action=ListQueues")[0], 403)


@case("the metrics show ten thousand queues, and that there are more")
def _(place):
    sends = "".join('q%05d {}\n' % i for i in range(10001))
    place.write("a.conf", ("letterbox.server.queues {\n%s}\n" % sends).encode())
    with Server(place, "-s", "memory:", "-c", "a.conf") as server:
        _, text = server.get("/metrics")
        equal(text.count("\nletterbox_oldest_seconds{"), 10000)
        has(text, "letterbox_queues_cut 1\n")
