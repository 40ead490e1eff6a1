# SPDX-License-Identifier: Apache-2.0
"""Forged receipts, the queues of another account, and memory after bad inputs."""

import base64
import json
import os
import random
import socket
import tempfile

import sign
from caller import HANG_S, Caller, read_answer, request, resident
from server import Server

FORGED = 100000


def forged(good, chance):
    """A receipt that differs from a good one, most by a bit."""
    raw = bytearray(base64.urlsafe_b64decode(good + "=" * (-len(good) % 4)))
    kind = chance.randrange(4)
    if kind == 0:
        raw = bytearray(chance.randbytes(len(raw)))
    elif kind == 1:
        raw = raw[:chance.randrange(len(raw))] or bytearray(b"x")
    else:
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    return base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("=")


def forged_receipts_have_no_effect(build):
    server = Server(build, "memory")
    caller, problems, chance = Caller(server), [], random.Random(7)
    caller.ok("CreateQueue", QueueName="work")
    caller.ok("SendMessage", QueueUrl="work", MessageBody="precious")
    good = caller.ok("ReceiveMessage", QueueUrl="work",
                     VisibilityTimeout=43000)["Messages"][0]["ReceiptHandle"]
    effects = 0
    for i in range(FORGED // 10):
        entries = []
        for k in range(10):
            handle = forged(good, chance)
            entries.append({"Id": str(k), "ReceiptHandle": handle, "VisibilityTimeout": 0})
        action = "DeleteMessageBatch" if i % 2 else "ChangeMessageVisibilityBatch"
        answer = caller.ok(action, QueueUrl="work", Entries=entries)
        effects += len(answer.get("Successful", []))
        if len(answer.get("Successful", [])) + len(answer.get("Failed", [])) != 10:
            problems.append("an answer without ten entries: %r" % answer)
            break
    counts = caller.ok("GetQueueAttributes", QueueUrl="work", AttributeNames=["All"])
    if counts["Attributes"]["ApproximateNumberOfMessagesNotVisible"] != "1":
        problems.append("the message is not as it was: %r" % counts)
    caller.ok("DeleteMessage", QueueUrl="work", ReceiptHandle=good)  # control
    counts = caller.ok("GetQueueAttributes", QueueUrl="work", AttributeNames=["All"])
    if counts["Attributes"]["ApproximateNumberOfMessagesNotVisible"] != "0":
        problems.append("the good receipt had no effect")
    if effects:
        problems.append("%d had an effect" % effects)
    server.stop()
    return "%d forged receipts, %d effects" % (FORGED, effects), problems


class Signed:
    def __init__(self, server, key):
        self.key, self.host = key, "%s:%d" % (server.host, server.port)
        self.stream = socket.create_connection((server.host, server.port), HANG_S)

    def call(self, action, **members):
        body = json.dumps(members).encode()
        headers = sign.header(self.key, "POST", "/", "", {
            "Host": self.host, "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "AmazonSQS." + action}, body)
        text = "".join("%s: %s\r\n" % pair for pair in headers.items())
        self.stream.sendall(("POST / HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n"
                             % (text, len(body))).encode() + body)
        status, answer = read_answer(self.stream)
        return status, json.loads(answer or b"{}")


def members_of_every_action(url, arn, handle):
    """For each action, an input that would be good for the owner."""
    entry = {"Id": "a", "ReceiptHandle": handle, "VisibilityTimeout": 0}
    return {
        "AddPermission": {"Label": "l", "AWSAccountIds": ["222222222222"],
                          "Actions": ["*"]},
        "CancelMessageMoveTask": {"TaskHandle": "x", "QueueUrl": None},
        "ChangeMessageVisibility": {"ReceiptHandle": handle, "VisibilityTimeout": 0},
        "ChangeMessageVisibilityBatch": {"Entries": [entry]},
        "DeleteMessage": {"ReceiptHandle": handle},
        "DeleteMessageBatch": {"Entries": [entry]},
        "DeleteQueue": {},
        "GetQueueAttributes": {"AttributeNames": ["All"]},
        "GetQueueUrl": {"QueueName": "mine", "QueueOwnerAWSAccountId": "111111111111",
                        "QueueUrl": None},
        "ListDeadLetterSourceQueues": {},
        "ListMessageMoveTasks": {"SourceArn": arn, "QueueUrl": None},
        "ListQueueTags": {},
        "PurgeQueue": {},
        "ReceiveMessage": {},
        "RemovePermission": {"Label": "l"},
        "SendMessage": {"MessageBody": "foreign"},
        "SendMessageBatch": {"Entries": [{"Id": "a", "MessageBody": "foreign"}]},
        "SetQueueAttributes": {"Attributes": {"DelaySeconds": "5"}},
        "StartMessageMoveTask": {"SourceArn": arn, "QueueUrl": None},
        "TagQueue": {"Tags": {"a": "b"}},
        "UntagQueue": {"TagKeys": ["a"]},
    }


def no_action_reaches_the_queue_of_another_account(build):
    """The answers about a queue of another account are those about none."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="letterbox-keys-") as folder:
        path = os.path.join(folder, "keys")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w",
                  encoding="ascii") as out:
            out.write("AKIDONE first-secret 111111111111\n"
                      "AKIDTWO other-secret 222222222222\n")
        server = Server(build, "memory", ("--keys", path))
        one = Signed(server, sign.Key("AKIDONE", "first-secret"))
        two = Signed(server, sign.Key("AKIDTWO", "other-secret"))
        url = one.call("CreateQueue", QueueName="mine")[1]["QueueUrl"]
        one.call("SendMessage", QueueUrl=url, MessageBody="precious")
        handle = one.call("ReceiveMessage", QueueUrl=url, VisibilityTimeout=43000)[1][
            "Messages"][0]["ReceiptHandle"]
        before = one.call("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"])
        arn = before[1]["Attributes"]["QueueArn"]
        cases = members_of_every_action(url, arn, handle)
        for action, members in cases.items():
            answers = []
            for name in ("mine", "none"):
                given = json.loads(json.dumps(members).replace('"mine"', '"%s"' % name)
                                   .replace(":mine", ":" + name))
                if "QueueUrl" not in given:
                    given["QueueUrl"] = url[:-4] + name
                elif given["QueueUrl"] is None:
                    del given["QueueUrl"]
                answers.append(two.call(action, **given))
            status, answer = answers[0]
            if status == 200 or "precious" in json.dumps(answer):
                problems.append("%s: %d %r" % (action, status, answer))
            if json.dumps(answers[0]).replace("mine", "none") != json.dumps(answers[1]):
                problems.append("%s tells that it exists: %r, %r" % (action, *answers))
        if "mine" in json.dumps(two.call("ListQueues")):
            problems.append("ListQueues shows it")
        after = one.call("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"])
        if after != before:
            problems.append("it has changed: %r, %r" % (before, after))
        if one.call("DeleteMessage", QueueUrl=url, ReceiptHandle=handle)[0] != 200:
            problems.append("control: its owner cannot use it")
        server.stop()
    return "%d actions" % len(cases), problems


BAD = [
    b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\nHost: x\r\n"
    b"Content-Length: 9999999999\r\n\r\n", b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    request("SendMessage", {}), request("Nonsense", {}), request("SendMessage", []),
    request("SendMessage", {"QueueUrl": "x" * 5000, "MessageBody": ""}),
    request("CreateQueue", {"QueueName": "../x"}),
    request("CreateQueue", {"QueueName": "a", "Attributes": {"Nonsense": "1"}}),
    request("SendMessage", {"QueueUrl": "none", "MessageBody": "x" * 100000}),
    request("GetQueueAttributes", {"QueueUrl": "none"}),
    request("DeleteMessageBatch", {"QueueUrl": "none", "Entries": [{"Id": "a"}] * 100}),
    request("ReceiveMessage", {"QueueUrl": "none", "MaxNumberOfMessages": 10 ** 30}),
    b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: AmazonSQS.SendMessage\r\n"
    b"Content-Length: 200\r\n\r\n" + b"[" * 200,
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n" + b"a.1=b&" * 8333 + b"aa",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


def bad_inputs_leave_no_memory_behind(build):
    server = Server(build, "memory")
    problems = []

    def rounds(count):
        for _ in range(count):
            for data in BAD:
                stream = socket.create_connection((server.host, server.port), HANG_S)
                stream.sendall(data)
                try:
                    answer = read_answer(stream)
                except ConnectionResetError:
                    answer = None
                if answer and answer[0] < 400:
                    problems.append("%r: %r" % (data[:80], answer))
                stream.close()

    rounds(10)  # the allocator and the threads have what they need
    before = resident(server.process.pid)
    rounds(60)
    grown = resident(server.process.pid) - before
    Caller(server).ok("CreateQueue", QueueName="good")
    if grown > 2 << 20:
        problems.append("%d KiB more" % (grown >> 10))
    if server.stop():
        problems.append("the daemon did not end well")
    return "%d bad inputs: %d KiB more" % (60 * len(BAD), grown >> 10), problems


TESTS = [forged_receipts_have_no_effect, no_action_reaches_the_queue_of_another_account,
         bad_inputs_leave_no_memory_behind]
