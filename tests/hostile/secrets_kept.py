# SPDX-License-Identifier: Apache-2.0
"""A canary: a secret, a session token and a body that must not be seen anywhere else
than where they belong, whatever goes wrong."""

import json
import os
import socket
import tempfile

import sign
from caller import HANG_S, read_answer
from server import Server

SECRET = "CANARYsecretCANARYsecretCANARYsecret0001"
TOKEN = "CANARYtokenCANARYtokenCANARYtoken0002"
BODY = "CANARYbodyCANARYbodyCANARYbody0003"
CANARIES = (SECRET, TOKEN, BODY)
KEY = sign.Key("AKIDCANARY", SECRET, TOKEN)


def exchange(server, data, half_closes=False):
    stream = socket.create_connection((server.host, server.port), HANG_S)
    stream.sendall(data)
    if half_closes:
        stream.close()
        return b""
    try:
        answer = read_answer(stream)
    except ConnectionResetError:
        answer = None
    stream.close()
    return answer[1] if answer else b""


def signed(server, action, members, key=KEY, when=None, change=None, query=""):
    body = json.dumps(members).encode()
    headers = sign.header(key, "POST", "/", query, {
        "Host": "%s:%d" % (server.host, server.port),
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "AmazonSQS." + action}, body, when=when)
    if change:
        headers = change(headers)
    text = "".join("%s: %s\r\n" % pair for pair in headers.items())
    return ("POST /%s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n"
            % ("?" + query if query else "", text, len(body))).encode() + body


def replaced(name, value):
    return lambda headers: dict(headers, **{name: value})


def dropped(name):
    return lambda headers: {k: v for k, v in headers.items() if k != name}


def attempts(server):
    """Each path that ends in an error, and some that do not."""
    send = {"QueueUrl": "q", "MessageBody": BODY}
    good = signed(server, "SendMessage", send)
    yield "a good one", signed(server, "CreateQueue", {"QueueName": "q"}), False
    yield "sent", good, False
    yield "bad signature", signed(server, "SendMessage", send, change=lambda h: dict(
        h, Authorization=h["Authorization"][:-4] + "0000")), False
    yield "old", signed(server, "SendMessage", send, when="20200101T000000Z"), False
    yield "early", signed(server, "SendMessage", send, when=sign.stamp(3600)), False
    yield "unknown key", signed(server, "SendMessage", send,
                                sign.Key("AKIDOTHER", SECRET, TOKEN)), False
    yield "wrong token", signed(server, "SendMessage", send, sign.Key(
        "AKIDCANARY", SECRET, TOKEN + "x")), False
    yield "no token", signed(server, "SendMessage", send,
                             change=dropped("X-Amz-Security-Token")), False
    yield "no signature", signed(server, "SendMessage", send,
                                 change=dropped("Authorization")), False
    for value in ("Bearer " + TOKEN, "AWS4-HMAC-SHA256 " + SECRET, SECRET,
                  "AWS4-HMAC-SHA256 Credential=%s" % SECRET):
        yield "malformed", signed(server, "SendMessage", send,
                                  change=replaced("Authorization", value)), False
    yield "bad date", signed(server, "SendMessage", send,
                             change=replaced("X-Amz-Date", SECRET)), False
    host = "%s:%d" % (server.host, server.port)
    presigned = sign.query(KEY, "GET", "/", "Action=ListQueues", host)
    yield "presigned", ("GET /?%s HTTP/1.1\r\nHost: %s\r\n\r\n"
                        % (presigned, host)).encode(), False
    yield "presigned, spoiled", ("GET /?%s0 HTTP/1.1\r\nHost: %s\r\n\r\n"
                                 % (presigned, host)).encode(), False
    yield "presigned and signed", signed(server, "SendMessage", send, query=presigned), False
    yield "two forms of a body", signed(server, "SendMessage", dict(
        send, MessageBody=BODY + "\x01")), False
    yield "too large", signed(server, "SendMessage", dict(
        send, MessageBody=BODY * 40000)), False
    yield "attribute", signed(server, "SendMessage", dict(send, MessageAttributes={
        "a": {"DataType": "Nonsense", "StringValue": BODY}})), False
    yield "not JSON", good.replace(b'{"', b'{{'), False
    yield "no request", b"POST " + SECRET.encode() + b"\r\n\r\n", False
    yield "no field", b"GET / HTTP/1.1\r\nHost: x\r\n" + TOKEN.encode() + b"\r\n\r\n", False
    yield "stopped in the head", good[:300], True
    yield "stopped in the body", good[:-10], True
    yield "metrics", signed(server, "x", {}).replace(b"POST / ", b"GET /metrics "), False


def found_in(data):
    if isinstance(data, str):
        data = data.encode()
    return [word for word in CANARIES if word.encode() in data]


def proc(server, name):
    with open("/proc/%d/%s" % (server.process.pid, name), "rb") as file:
        return file.read()


def secrets_and_bodies_are_seen_nowhere_else(build):
    problems, seen = [], 0
    with tempfile.TemporaryDirectory(prefix="letterbox-keys-") as folder:
        path = os.path.join(folder, "keys")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w",
                  encoding="ascii") as out:
            out.write("%s %s 000000000000 %s\n" % (KEY.access, SECRET, TOKEN))
        server = Server(build, "memory", ("--keys", path, "--log-requests"))
        good = []
        for what, data, leaves in attempts(server):
            answer = exchange(server, data, leaves)
            seen += 1
            good.append(b"QueueUrl" in answer or b"MessageId" in answer)
            if found_in(answer):
                problems.append("the answer to: %s has %s" % (what, found_in(answer)))
        for name in ("cmdline", "environ", "status"):
            if found_in(proc(server, name)):
                problems.append("/proc/PID/%s has %s" % (name, found_in(proc(server, name))))
        # Control: where they belong, the same search finds them.
        received = exchange(server, signed(server, "ReceiveMessage", {"QueueUrl": "q"}))
        if found_in(received) != [BODY]:
            problems.append("control: a receive has %r" % received[:300])
        if good[:2] != [True, True] or sum(good) > 4:
            problems.append("control: %r were good" % good)
        with open(path, encoding="ascii") as file:
            if found_in(file.read()) != [SECRET, TOKEN]:
                problems.append("control: the file of keys")
        if server.stop():
            problems.append("the daemon did not end well")
        log = "".join(server.lines)
        if found_in(log):
            problems.append("the log has %s" % found_in(log))
        if log.count("request=") < 15:
            problems.append("control: the log has %d requests" % log.count("request="))
    return "%d ways to go wrong, %d lines of log" % (seen, len(server.lines)), problems


TESTS = [secrets_and_bodies_are_seen_nowhere_else]
