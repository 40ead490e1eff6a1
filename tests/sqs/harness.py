# SPDX-License-Identifier: Apache-2.0
"""What cases are written with.

A case is a function whose name begins with its number and whose argument is an Sqs:
a client of one protocol at a server with one store. It runs beside others, on queues
of its own. A failed `expect` or `fails` is noted and the case goes on; a failed `ok`
ends it. Nothing waits for a time to pass where it can wait for an event; no limit says
how fast a server must be, except that a thing "at once" takes less than SOON_S.
"""

import base64
import hashlib
import itertools
import re
import struct
import threading
import time
import traceback

from server import HANG_S
from wire import CLIENTS, ERRORS

LIMIT_S = 30  # until an event that has to come: a hang
SOON_S = 10  # "at once", where the alternative is 20 s
EARLY_S = 0.05  # clocks of two processes: how much too early is not
PARKED_S = 0.3  # until a poll has arrived, most likely

INVALID = "InvalidParameterValueException"
MISSING = "MissingRequiredParameterException"

_numbers = itertools.count(1)


class CaseFailed(Exception):
    pass


class Later:
    """A call that runs in a thread of its own."""

    def __init__(self, function, *arguments, **named):
        self.result = self.error = None
        self.started = time.monotonic()
        self.ended = None
        self.thread = threading.Thread(
            target=self._run, args=(function, arguments, named), daemon=True)
        self.thread.start()

    def _run(self, function, arguments, named):
        try:
            self.result = function(*arguments, **named)
        except Exception as error:  # is raised by get()
            self.error = error
        self.ended = time.monotonic()

    def get(self):
        self.thread.join(HANG_S)
        if self.thread.is_alive():
            raise CaseFailed("a call hangs")
        if self.error:
            raise self.error
        return self.result

    def park(self):
        """Gives it time to arrive at the server and wait there."""
        self.thread.join(PARKED_S)
        return self


class Sqs:
    def __init__(self, case, client, registry):
        self.case = case
        self.client = client
        self.server = client.server
        self.registry = registry
        self.protocol = client.name
        self.store = client.server.store
        self.failures = []

    def special(self, *options):
        """The same at another server, which has these options."""
        server = self.registry.get(self.store, options)
        return self.with_client(type(self.client)(server))

    def with_client(self, client):
        other = Sqs(self.case, client, self.registry)
        other.failures = self.failures
        return other

    # Checks.

    def fail(self, text, *details):
        self.failures.append(text % details if details else text)

    def expect(self, expected, got, what):
        if expected != got:
            self.fail("%s:\n  expected %r\n  got      %r", what, expected, got)

    def true(self, holds, what, *details):
        if not holds:
            self.fail(what, *details)

    def call(self, action, members=None, headers=None, path="/", **more):
        reply = self.client.call(action, members, headers, path, **more)
        for problem in reply.problems:
            self.fail("%s: %s", action, problem)
        return reply

    def ok(self, action, members=None, headers=None, path="/", **more):
        """The result; a case ends with an error that it did not expect."""
        reply = self.call(action, members, headers, path, **more)
        if reply.status != 200:
            raise CaseFailed("%s %s: expected success\n  got %s" % (
                action, brief(dict(members or {}, **more)), reply))
        return reply.result

    def fails(self, shape, text, action, members=None, headers=None, path="/", **more):
        """The call is refused: with this shape, or one of several, and with this
        text; None: any."""
        reply = self.call(action, members, headers, path, **more)
        self.refused(shape, text, reply, "%s %s" % (
            action, brief(dict(members or {}, **more))))
        return reply

    def refused(self, shape, text, reply, what):
        shapes = (shape,) if isinstance(shape, str) else shape
        wanted = [(ERRORS[name][2], ERRORS[name][1]) for name in shapes]
        error = reply.error
        if error is None:
            self.fail("%s:\n  expected %s\n  got      %s", what, shapes, reply)
            return
        if (reply.status, error.code) not in wanted:
            self.fail("%s:\n  expected %s\n  got      %s", what, wanted, reply)
        elif error.type is not None:
            types = [ERRORS[name][0] + name for name in shapes]
            self.true(error.type in types, "%s:\n  expected __type %s\n  got      %s",
                      what, types, error.type)
        self.expect("Sender", error.fault, what + ": whose fault")
        if text is not None:
            self.expect(text, error.message, what + ": text")

    def no_queue(self, action, members=None, **more):
        """The call is refused because there is no such queue."""
        text = "The specified queue does not exist"
        if self.protocol == "query":
            text += " for this wsdl version"
        return self.fails("QueueDoesNotExist", text + ".", action, members, **more)

    # Queues.

    def name(self, suffix=""):
        return "%s-%s-%d%s" % (self.case, self.protocol, next(_numbers), suffix)

    def queue(self, **attributes):
        return self.create(self.name(), **attributes)

    def fifo(self, **attributes):
        """A FIFO queue; ContentBasedDeduplication is on unless given."""
        attributes.setdefault("ContentBasedDeduplication", "true")
        return self.create(self.name(".fifo"), FifoQueue="true", **attributes)

    def create(self, name, **attributes):
        members = {"QueueName": name}
        if attributes:
            members["Attributes"] = {key: str(value)
                                     for key, value in attributes.items()}
        return self.ok("CreateQueue", members)["QueueUrl"]

    def set(self, url, **attributes):
        self.ok("SetQueueAttributes", QueueUrl=url,
                Attributes={key: str(value) for key, value in attributes.items()})

    def attributes(self, url, *names):
        return self.ok("GetQueueAttributes", QueueUrl=url,
                       AttributeNames=list(names) or ["All"]).get("Attributes", {})

    def arn(self, url):
        return self.attributes(url, "QueueArn")["QueueArn"]

    def counts(self, url):
        """How many messages are visible, in flight and delayed."""
        found = self.attributes(
            url, *("ApproximateNumberOfMessages" + kind
                   for kind in ("", "NotVisible", "Delayed")))
        return tuple(int(found["ApproximateNumberOfMessages" + kind])
                     for kind in ("", "NotVisible", "Delayed"))

    # Messages.

    def send(self, url, body, group=None, dedup=None, **more):
        if group is not None:
            more["MessageGroupId"] = group
        if dedup is not None:
            more["MessageDeduplicationId"] = dedup
        return self.ok("SendMessage", QueueUrl=url, MessageBody=body, **more)

    def receive(self, url, most=10, wait=0, **more):
        return self.ok("ReceiveMessage", QueueUrl=url, MaxNumberOfMessages=most,
                       WaitTimeSeconds=wait, **more).get("Messages", [])

    def bodies(self, url, most=10, wait=0, **more):
        return [message["Body"] for message in self.receive(url, most, wait, **more)]

    def await_messages(self, url, count=1, **more):
        """Receives until there were so many."""
        limit = time.monotonic() + LIMIT_S
        messages = []
        while len(messages) < count:
            if time.monotonic() > limit:
                raise CaseFailed("only %d of %d messages came: %s" % (
                    len(messages), count, brief(messages)))
            messages += self.receive(url, min(10, count - len(messages)), 5, **more)
        return messages

    def one(self, url, **more):
        """Receives one message, which has to come."""
        return self.await_messages(url, 1, **more)[0]

    def delete(self, url, message):
        self.ok("DeleteMessage", QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def visibility(self, url, message, seconds):
        self.ok("ChangeMessageVisibility", QueueUrl=url,
                ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=seconds)

    def system(self, message, name):
        return message.get("Attributes", {}).get(name)

    # Time.

    def later(self, action, **members):
        """The same as ok(), in a thread of its own."""
        return Later(self.ok, action, **members)

    def poll(self, url, wait=20, **more):
        """A long poll that has most likely arrived."""
        more.setdefault("MaxNumberOfMessages", 10)
        return self.later("ReceiveMessage", QueueUrl=url, WaitTimeSeconds=wait,
                          **more).park()

    def eventually(self, holds, what):
        limit = time.monotonic() + LIMIT_S
        pause = threading.Event()
        while not holds():
            if time.monotonic() > limit:
                raise CaseFailed("never: " + what)
            pause.wait(0.05)

    def let_pass(self, seconds):
        """Seconds pass: an empty queue is polled for so long."""
        url = self.queue()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.receive(url, 1, min(20, max(1, int(end - time.monotonic()))))

    def not_before(self, started, seconds, what):
        passed = time.monotonic() - started
        self.true(passed >= seconds - EARLY_S, "%s: after %.3f s, %s s too early",
                  what, passed, "%.3f" % (seconds - passed))

    def soon(self, started, ended, what):
        self.true(ended - started < SOON_S, "%s: only after %.1f s", what,
                  ended - started)


def brief(value):
    text = repr(value)
    return text if len(text) < 240 else text[:200] + "... (%d characters)" % len(text)


def md5(body):
    return hashlib.md5(body.encode("utf-8")).hexdigest()


def md5_of(attributes):
    """The MD5 of message attributes, from their JSON form."""
    data = b""
    for name in sorted(attributes):
        attribute = attributes[name]
        binary = "BinaryValue" in attribute
        value = (base64.b64decode(attribute["BinaryValue"]) if binary
                 else attribute["StringValue"].encode())
        for part in (name.encode(), attribute["DataType"].encode()):
            data += struct.pack(">I", len(part)) + part
        data += (b"\2" if binary else b"\1") + struct.pack(">I", len(value)) + value
    return hashlib.md5(data).hexdigest()


def text(value, kind="String"):
    return {"DataType": kind, "StringValue": value}


def binary(value, kind="Binary"):
    return {"DataType": kind, "BinaryValue": base64.b64encode(value).decode()}


# Marks on cases.

def only(protocol):
    """The case is about one protocol."""
    def mark(function):
        function.protocols = (protocol,)
        return function
    return mark


def slow(function):
    """The case waits for seconds: it is started first."""
    function.slow = True
    return function


def skipped(reason):
    def mark(function):
        function.skipped = reason
        return function
    return mark


NUMBER = re.compile(r"([a-z]+\d+)[a-z]?_")


def cases_of(modules):
    """All cases, in the order in which they are written."""
    for module in modules:
        for name, function in vars(module).items():
            if NUMBER.match(name) and function.__module__ == module.__name__:
                yield name, function


def run_case(name, function, protocol, server, registry):
    """Runs it; the lines that explain a failure."""
    sqs = Sqs(NUMBER.match(name)[1], CLIENTS[protocol](server), registry)
    try:
        function(sqs)
    except CaseFailed as error:
        sqs.fail("%s", error)
    except Exception:
        sqs.fail("%s", traceback.format_exc())
    return sqs.failures
