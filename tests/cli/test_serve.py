# SPDX-License-Identifier: Apache-2.0
"""letterbox serve as a service: a socket that is passed, and what it tells."""

import signal
import socket
import subprocess
import urllib.request

from program import LIMIT, case, equal, has


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
