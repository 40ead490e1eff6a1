# SPDX-License-Identifier: Apache-2.0
"""A client with a socket, and what the tests ask of a process."""

import json
import os
import re
import resource
import socket

HANG_S = 60


def request(action, body, method="POST", path="/", more=""):
    text = json.dumps(body)
    return ("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s"
            "Content-Type: application/x-amz-json-1.0\r\n"
            "X-Amz-Target: AmazonSQS.%s\r\nContent-Length: %d\r\n\r\n%s"
            % (method, path, more, action, len(text), text)).encode()


def read_answer(stream):
    """The status and body; None: it was closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = stream.recv(65536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    size = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
    while len(body) < size:
        more = stream.recv(65536)
        if not more:
            return None
        body += more
    return int(head.split()[1]), body


class Caller:
    def __init__(self, server):
        self.stream = socket.create_connection((server.host, server.port), HANG_S)

    def call(self, action, **body):
        self.stream.sendall(request(action, body))
        return read_answer(self.stream)

    def ok(self, action, **body):
        status, text = self.call(action, **body)
        if status != 200:
            raise RuntimeError("%s: %d %r" % (action, status, text[:300]))
        return json.loads(text or b"{}")


def resident(pid):
    with open("/proc/%d/statm" % pid, encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))
