# SPDX-License-Identifier: Apache-2.0
"""D. Receiving and long polls."""

import http.client
import json
import time

from harness import INVALID, Later, md5_of, slow, text
from server import FEW_IN_FLIGHT, QUICK_CREATE, Server
from wire import CLIENTS

MOST = "Value %d for parameter MaxNumberOfMessages is invalid. Reason: Must be between " \
    "1 and 10, if provided."
WAIT = "Value %d for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and " \
    "<= 20, if provided."


def d44_parameters_out_of_range(sqs):
    url = sqs.queue()
    for most in (0, 11, -1):
        sqs.fails(INVALID, MOST % most, "ReceiveMessage", QueueUrl=url,
                  MaxNumberOfMessages=most)
    for wait in (-1, 21):
        sqs.fails(INVALID, WAIT % wait, "ReceiveMessage", QueueUrl=url,
                  WaitTimeSeconds=wait)
    for timeout in (-1, 43201):
        sqs.fails(INVALID, None, "ReceiveMessage", QueueUrl=url,
                  VisibilityTimeout=timeout)
    sqs.send(url, "one")
    sqs.send(url, "two")
    sqs.expect(1, len(sqs.ok("ReceiveMessage", QueueUrl=url)["Messages"]),
               "one message unless more are asked for")


@slow
def d45_empty_polls(sqs):
    url = sqs.queue()
    started = time.monotonic()
    sqs.expect({}, sqs.ok("ReceiveMessage", QueueUrl=url), "short")
    sqs.soon(started, time.monotonic(), "a short poll")
    started = time.monotonic()
    sqs.expect({}, sqs.ok("ReceiveMessage", QueueUrl=url, WaitTimeSeconds=2), "long")
    sqs.not_before(started, 2, "a poll of 2 s")


def d46_a_send_wakes_a_poll(sqs):
    url = sqs.queue()
    poll = sqs.poll(url)
    started = time.monotonic()
    sqs.send(url, "x")
    sqs.expect(1, len(poll.get().get("Messages", [])), "woken")
    sqs.soon(started, poll.ended, "woken by a send")


@slow
def d46b_the_end_of_a_delay_wakes_a_poll(sqs):
    url = sqs.queue()
    started = time.monotonic()
    sqs.send(url, "x", DelaySeconds=2)
    poll = sqs.poll(url)
    sqs.expect(1, len(poll.get().get("Messages", [])), "woken")
    sqs.not_before(started, 2, "the delay")
    sqs.soon(started, poll.ended, "woken by the end of a delay")


@slow
def d46c_the_end_of_a_timeout_wakes_a_poll(sqs):
    url = sqs.queue(VisibilityTimeout=2)
    sqs.send(url, "x")
    started = time.monotonic()
    sqs.one(url)
    poll = sqs.poll(url)
    sqs.expect(1, len(poll.get().get("Messages", [])), "woken")
    sqs.not_before(started, 2, "the visibility timeout")
    sqs.soon(started, poll.ended, "woken by the end of a visibility timeout")


def d46d_a_return_wakes_a_poll(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url)
    poll = sqs.poll(url)
    started = time.monotonic()
    sqs.visibility(url, message, 0)
    sqs.expect(1, len(poll.get().get("Messages", [])), "woken")
    sqs.soon(started, poll.ended, "woken by a visibility timeout of 0")


def d46e_a_dead_letter_wakes_a_poll(sqs):
    dead = sqs.queue()
    url = sqs.queue(VisibilityTimeout=0, RedrivePolicy=json.dumps(
        {"deadLetterTargetArn": sqs.arn(dead), "maxReceiveCount": 1}))
    sqs.send(url, "x")
    sqs.one(url)
    poll = sqs.poll(dead)
    started = time.monotonic()
    sqs.expect([], sqs.bodies(url), "moved to the dead-letter queue")
    sqs.expect(1, len(poll.get().get("Messages", [])), "woken")
    sqs.soon(started, poll.ended, "woken by a dead letter")


def d47_a_poll_does_not_wait_for_more(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    started = time.monotonic()
    sqs.expect(["x"], sqs.bodies(url, 10, 20), "what is there")
    sqs.soon(started, time.monotonic(), "one of ten")


@slow
def d48_the_wait_of_the_queue(sqs):
    url = sqs.queue(ReceiveMessageWaitTimeSeconds=2)
    started = time.monotonic()
    sqs.expect({}, sqs.ok("ReceiveMessage", QueueUrl=url), "the queue's wait")
    sqs.not_before(started, 2, "the queue's wait")
    sqs.set(url, ReceiveMessageWaitTimeSeconds=20)
    started = time.monotonic()
    sqs.expect({}, sqs.ok("ReceiveMessage", QueueUrl=url, WaitTimeSeconds=0), "0")
    sqs.soon(started, time.monotonic(), "0 overrides the queue's wait")


@slow
def d49_one_message_for_one_of_many_polls(sqs):
    url = sqs.queue()
    polls = [sqs.poll(url, 3) for _ in range(5)]
    sqs.send(url, "x")
    got = [poll.get().get("Messages", []) for poll in polls]
    sqs.expect(1, sum(map(len, got)), "deliveries")


def d49b_the_oldest_poll_comes_first(sqs):
    # When a poll arrives cannot be seen: in the wrong order three times is one.
    for _ in range(3):
        url = sqs.queue()
        polls = [sqs.poll(url) for _ in range(4)]
        order = []
        for i in range(4):
            sqs.send(url, str(i))
            sqs.eventually(lambda: sum(poll.ended is not None for poll in polls) > i,
                           "poll %d is answered" % i)
            order += [n for n, poll in enumerate(polls)
                      if poll.ended is not None and n not in order]
        if order == [0, 1, 2, 3]:
            return
    sqs.fail("polls were answered in the order %s", order)


def d50_a_message_is_not_given_to_a_client_that_left(sqs):
    url = sqs.queue()
    connection = http.client.HTTPConnection(sqs.server.host, sqs.server.port)
    method, _, headers, body = sqs.client.encode(
        "ReceiveMessage", {"QueueUrl": url, "WaitTimeSeconds": 20})
    connection.request(method, "/", body, headers)
    connection.sock.settimeout(0.3)
    try:
        connection.sock.recv(1)
        sqs.fail("a poll of an empty queue was answered")
    except TimeoutError:
        pass
    connection.close()
    sqs.send(url, "x")
    message = sqs.one(url, AttributeNames=["ApproximateReceiveCount"])
    sqs.expect("1", sqs.system(message, "ApproximateReceiveCount"), "count")


def d51_polls_end_with_their_queue(sqs):
    sqs = sqs.special(*QUICK_CREATE)
    name = sqs.name()
    url = sqs.create(name)
    poll = any_poll(sqs, url)
    started = time.monotonic()
    sqs.ok("DeleteQueue", QueueUrl=url)
    sqs.create(name)
    sqs.send(url, "of the second life")
    reply = poll.get()
    sqs.soon(started, poll.ended, "the poll of a deleted queue")
    sqs.expect((200, {}), (reply.status, reply.result), "what the old poll got")
    sqs.expect("of the second life", sqs.one(url)["Body"], "the new queue's message")


def any_poll(sqs, url):
    """A parked poll whose reply may be anything."""
    return Later(sqs.call, "ReceiveMessage", QueueUrl=url, WaitTimeSeconds=20,
                 MaxNumberOfMessages=10).park()


def d52_polls_end_with_the_server(sqs):
    server = Server(sqs.registry.build, sqs.store)
    try:
        own = sqs.with_client(CLIENTS[sqs.protocol](server))
        url = own.queue()
        polls = [own.poll(url) for _ in range(3)]
        started = time.monotonic()
        end = server.stop()
        sqs.true(end is None, "the server %s", end)
        for poll in polls:
            sqs.expect({}, poll.get(), "an empty answer")
            sqs.soon(started, poll.ended, "a poll at the end")
    finally:
        server.kill()


def d53_system_attributes(sqs):
    url = sqs.queue(VisibilityTimeout=0)
    before = time.time() * 1000
    sqs.send(url, "x")

    def names(**more):
        return set(sqs.one(url, **more).get("Attributes", {}))

    every = {"SenderId", "SentTimestamp", "ApproximateReceiveCount",
             "ApproximateFirstReceiveTimestamp"}
    sqs.expect(every, names(AttributeNames=["All"]), "All")
    sqs.expect(every, names(MessageSystemAttributeNames=["All"]), "All, the new list")
    sqs.expect({"SenderId"}, names(AttributeNames=["SenderId"]), "one")
    sqs.expect(set(), names(), "none")
    sqs.expect({"SenderId"}, names(AttributeNames=["SenderId", "Foo"]), "unknown")
    sqs.expect(set(), names(AttributeNames=["Foo"]), "only unknown")
    sqs.expect({"SenderId", "SentTimestamp"},
               names(AttributeNames=["SenderId"],
                     MessageSystemAttributeNames=["SentTimestamp"]), "both lists")
    found = sqs.one(url, AttributeNames=["All"])["Attributes"]
    sqs.true(before - 2000 <= int(found["SentTimestamp"]) <=
             time.time() * 1000 + 2000, "SentTimestamp %s: no milliseconds",
             found["SentTimestamp"])
    message = sqs.one(url)
    sqs.true("Attributes" not in message, "an empty Attributes")


def d54_filters_of_message_attributes(sqs):
    url = sqs.queue(VisibilityTimeout=0)
    every = {"General": text("Kenobi"), "Hello": text("There"), "Help.Me": text("Me")}
    sqs.send(url, "x", MessageAttributes=every)

    def check(filters, wanted):
        message = sqs.one(url, MessageAttributeNames=filters) if filters else sqs.one(url)
        subset = {name: every[name] for name in wanted}
        sqs.expect(subset or None, message.get("MessageAttributes"), str(filters))
        sqs.expect(md5_of(subset) if subset else None,
                   message.get("MD5OfMessageAttributes"), "MD5 of %s" % filters)

    check([], [])
    for everything in ("All", ".*", "*"):
        check([everything], every)
    check(["Hello"], ["Hello"])
    check(["Hello", "General"], ["Hello", "General"])
    check(["Foo", "Hello"], ["Hello"])
    check(["Foo", "Help"], [])
    check(["Help"[:3] + ".*"], ["Hello", "Help.Me"])
    check(["Help.*"], ["Help.Me"])
    check(["Hello!"], [])
    check(["AWS.", "..foo"], [])
    sqs.expect("4c360f3fdafd970e05fae2f149d997f5", md5_of(every), "our own MD5")


def d55_counts_and_first_receive(sqs):
    url = sqs.queue(VisibilityTimeout=0)
    sqs.send(url, "x")
    first = None
    for count in ("1", "2", "3"):
        found = sqs.one(url, AttributeNames=["All"])["Attributes"]
        sqs.expect(count, found["ApproximateReceiveCount"], "count")
        first = first or found["ApproximateFirstReceiveTimestamp"]
        sqs.expect(first, found["ApproximateFirstReceiveTimestamp"], "first receive")


@slow
def d55c_the_first_receive_is_not_the_send(sqs):
    url = sqs.queue(DelaySeconds=1)
    sqs.send(url, "x")
    found = sqs.one(url, AttributeNames=["All"])["Attributes"]
    sqs.true(int(found["ApproximateFirstReceiveTimestamp"]) >=
             int(found["SentTimestamp"]) + 900, "%s", found)


def d55b_a_timeout_of_0_on_receive(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    handles = {sqs.one(url, VisibilityTimeout=0)["ReceiptHandle"] for _ in range(3)}
    sqs.expect(3, len(handles), "handles")
    sqs.expect((1, 0, 0), sqs.counts(url), "visible at once")


def d56_too_many_in_flight(sqs):
    sqs = sqs.special(*FEW_IN_FLIGHT)
    url = sqs.queue()
    for start in (0, 6):
        sqs.ok("SendMessageBatch", QueueUrl=url, Entries=[
            {"Id": str(i), "MessageBody": str(i)} for i in range(start, start + 6)])
    messages = sqs.await_messages(url, 10)
    sqs.fails("OverLimit", None, "ReceiveMessage", QueueUrl=url)
    sqs.delete(url, messages[0])
    sqs.expect(1, len(sqs.receive(url)), "one more")


def d56b_too_many_in_flight_on_a_fifo_queue(sqs):
    sqs = sqs.special(*FEW_IN_FLIGHT)
    url = sqs.fifo()
    for i in range(12):
        sqs.send(url, str(i), "g%d" % i)
    messages = sqs.await_messages(url, 10)
    sqs.expect({}, sqs.ok("ReceiveMessage", QueueUrl=url), "no error, no message")
    sqs.delete(url, messages[0])
    sqs.expect(1, len(sqs.receive(url)), "one more")
