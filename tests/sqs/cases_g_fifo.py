# SPDX-License-Identifier: Apache-2.0
"""G. FIFO queues."""

import hashlib
import re
import time

from harness import INVALID, MISSING, skipped, slow, text

NO_DEDUP = "The queue should either have ContentBasedDeduplication enabled or " \
    "MessageDeduplicationId provided explicitly"
IDS = "Value %s for parameter %s is invalid. Reason: %s can only include alphanumeric " \
    "and punctuation characters. 1 to 128 in length."
DELAY = "Value %s for parameter DelaySeconds is invalid. Reason: The request include " \
    "parameter that is not valid for this queue type."


def send_all(sqs, url, *bodies):
    """Bodies such as g1-m2, each to the group that it begins with."""
    for body in bodies:
        sqs.send(url, body, body.split("-")[0])


def g77_deduplication_ids(sqs):
    url = sqs.fifo(ContentBasedDeduplication="false")
    sqs.fails(INVALID, NO_DEDUP, "SendMessage", QueueUrl=url, MessageBody="x",
              MessageGroupId="g")
    sqs.set(url, ContentBasedDeduplication="true")
    sqs.send(url, "x", "g")
    message = sqs.one(url, AttributeNames=["All"])
    sqs.expect(hashlib.sha256(b"x").hexdigest(),
               sqs.system(message, "MessageDeduplicationId"), "the hash of the body")
    sqs.delete(url, message)
    sqs.send(url, "x", "g", "my-id")
    message = sqs.one(url, AttributeNames=["All"])
    sqs.expect("my-id", sqs.system(message, "MessageDeduplicationId"), "its own id")


def g77b_system_attributes_of_fifo_messages(sqs):
    url = sqs.fifo()
    sent = sqs.send(url, "x", "my group".replace(" ", "-"))
    sqs.true(re.fullmatch(r"\d{20}", sent.get("SequenceNumber", "")),
             "SequenceNumber %s", sent.get("SequenceNumber"))
    found = sqs.one(url, AttributeNames=["All"])["Attributes"]
    sqs.expect({"SenderId", "SentTimestamp", "ApproximateReceiveCount",
                "ApproximateFirstReceiveTimestamp", "SequenceNumber",
                "MessageDeduplicationId", "MessageGroupId"}, set(found), "names")
    sqs.expect((sent["SequenceNumber"], "my-group"),
               (found["SequenceNumber"], found["MessageGroupId"]), "values")


def g78_a_duplicate_is_answered_as_the_original(sqs):
    url = sqs.fifo()
    first = sqs.send(url, "first", "g", "d")
    second = sqs.send(url, "second", "g", "d")
    for name in ("MessageId", "SequenceNumber"):
        sqs.expect(first[name], second[name], name)
    message = sqs.one(url)
    sqs.expect("first", message["Body"], "delivered")
    sqs.delete(url, message)
    third = sqs.send(url, "third", "g", "d")
    sqs.expect(first["MessageId"], third["MessageId"], "after it was deleted")
    sqs.expect([], sqs.bodies(url), "one delivery")
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing is left")


@skipped("takes 5 minutes; the unit tests of the rules move a clock instead")
def g78b_after_five_minutes_an_id_is_new(sqs):
    raise NotImplementedError


def g79_the_scope_of_deduplication(sqs):
    url = sqs.fifo()
    sqs.send(url, "one", "g1", "d")
    sqs.send(url, "two", "g2", "d")
    sqs.expect(["one"], sqs.bodies(url), "in the whole queue")
    url = sqs.fifo(DeduplicationScope="messageGroup")
    sqs.send(url, "one", "g1", "d")
    sqs.send(url, "two", "g2", "d")
    sqs.send(url, "three", "g2", "d")
    sqs.expect(["one", "two"], sqs.bodies(url), "in each group")


def g80_a_changed_scope_forgives_nothing(sqs):
    url = sqs.fifo()
    sqs.send(url, "one", "g1", "d")
    sqs.set(url, DeduplicationScope="messageGroup",
            FifoThroughputLimit="perMessageGroupId")
    sqs.send(url, "two", "g1", "d")
    sqs.expect(["one"], sqs.bodies(url), "the same id")
    sqs.send(url, "three", "g3", "e")
    sqs.send(url, "four", "g4", "e")
    sqs.expect(["three", "four"], sqs.bodies(url), "ids of the new scope")


def g81_attributes_make_no_difference(sqs):
    url = sqs.fifo()
    sqs.send(url, "x", "g", MessageAttributes={"a": text("1")})
    sqs.send(url, "x", "g", MessageAttributes={"a": text("2")})
    sqs.expect(1, len(sqs.receive(url)), "messages")


def g82_a_receive_takes_group_after_group(sqs):
    url = sqs.fifo()
    send_all(sqs, url, "g1-m1", "g2-m1", "g1-m2", "g1-m3")
    sqs.expect(["g1-m1", "g1-m2", "g1-m3", "g2-m1"], sqs.bodies(url), "order")


def g83_a_group_has_one_consumer(sqs):
    url = sqs.fifo()
    send_all(sqs, url, "g1-m1", "g1-m2")
    first = sqs.receive(url, 1)
    polls = [sqs.poll(url) for _ in range(3)]
    send_all(sqs, url, "g1-m3")
    sqs.expect([], sqs.bodies(url), "a new message does not unlock")
    sqs.expect([None] * 3, [poll.ended for poll in polls], "polls still wait")
    started = time.monotonic()
    sqs.delete(url, first[0])
    sqs.eventually(lambda: any(poll.ended for poll in polls), "deletion unlocks")
    sqs.soon(started, time.monotonic(), "deletion unlocks")
    # One poll has the rest of the group; what it leaves locked, the others await.
    got = [poll.result.get("Messages", []) for poll in polls if poll.ended]
    sqs.expect([["g1-m2", "g1-m3"]], [[message["Body"] for message in messages]
                                      for messages in got], "the rest")
    sqs.ok("DeleteQueue", QueueUrl=url)


def g84_a_partial_delete_keeps_the_lock(sqs):
    url = sqs.fifo()
    send_all(sqs, url, "g1-m1", "g2-m1", "g1-m2", "g2-m2", "g1-m3", "g3-m1")
    messages = sqs.receive(url, 2)
    sqs.expect(["g1-m1", "g1-m2"], [message["Body"] for message in messages], "first")
    sqs.delete(url, messages[0])
    sqs.expect(["g2-m1", "g2-m2", "g3-m1"], sqs.bodies(url), "other groups")
    sqs.delete(url, messages[1])
    sqs.expect(["g1-m3"], sqs.bodies(url), "unlocked")


def g85_the_first_of_two_returned(sqs):
    url = sqs.fifo()
    send_all(sqs, url, "g1-m1", "g1-m2", "g2-m1")
    messages = sqs.receive(url, 2)
    sqs.expect(["g1-m1", "g1-m2"], [message["Body"] for message in messages], "first")
    sqs.visibility(url, messages[0], 0)
    sqs.expect(["g2-m1", "g1-m1"], sqs.bodies(url, 3), "then")


def check_extended(sqs, k):
    url = sqs.fifo()
    send_all(sqs, url, "g-m0", "g-m1", "g-m2")
    started = time.monotonic()
    messages = sqs.receive(url, 10, VisibilityTimeout=3)
    sqs.expect(3, len(messages), "received")
    sqs.visibility(url, messages[k], 3600)
    # Until all but the extended one are visible again.
    sqs.eventually(lambda: sqs.counts(url) == (2, 1, 0), "two timeouts end")
    sqs.not_before(started, 3, "two timeouts")
    sqs.expect(["g-m%d" % i for i in range(k)], sqs.bodies(url), "extended: %d" % k)


@slow
def g86_an_extended_message_blocks_only_later_ones(sqs):
    for k in range(3):
        check_extended(sqs, k)


def g87_groups_rotate(sqs):
    url = sqs.fifo()
    send_all(sqs, url, "g1-m1", "g2-m1", "g2-m2", "g3-m1", "g1-m2")
    sqs.expect(["g1-m1", "g1-m2", "g2-m1"], sqs.bodies(url, 3, VisibilityTimeout=0),
               "three")
    sqs.expect(["g3-m1", "g1-m1", "g1-m2", "g2-m1", "g2-m2"],
               sqs.bodies(url, 10, VisibilityTimeout=0), "all")


@slow
def g88_after_the_timeout_in_the_same_order(sqs):
    url = sqs.fifo(VisibilityTimeout=1)
    send_all(sqs, url, "g-m0", "g-m1", "g-m2")
    every = ["g-m0", "g-m1", "g-m2"]
    sqs.expect(every, sqs.bodies(url), "first")
    sqs.eventually(lambda: sqs.counts(url) == (3, 0, 0), "the timeout ends")
    sqs.expect(every, sqs.bodies(url, VisibilityTimeout=30), "again")


@slow
def g89_only_the_queue_delays(sqs):
    url = sqs.fifo(DelaySeconds=2)
    sqs.fails(INVALID, DELAY % 2, "SendMessage", QueueUrl=url, MessageBody="x",
              MessageGroupId="g", DelaySeconds=2)
    started = time.monotonic()
    sqs.send(url, "x", "g", DelaySeconds=0)
    sqs.expect((0, 0, 1), sqs.counts(url), "delayed")
    sqs.one(url)
    sqs.not_before(started, 2, "the queue's delay")


@slow
def g90_a_delayed_message_does_not_block_an_older_one(sqs):
    url = sqs.fifo(DelaySeconds=2)
    sqs.send(url, "one", "g")
    sqs.eventually(lambda: sqs.counts(url)[0] == 1, "the first delay ends")
    sqs.send(url, "two", "g")
    message = sqs.one(url)
    sqs.expect("one", message["Body"], "the older one")
    sqs.delete(url, message)
    sqs.expect("two", sqs.one(url)["Body"], "the newer one")


def g91_a_receive_can_be_repeated(sqs):
    url = sqs.fifo()
    send_all(sqs, url, "g-m1", "g-m2", "h-m1")

    def attempt(name="attempt-1"):
        return sqs.receive(url, 2, ReceiveRequestAttemptId=name)

    first = attempt()
    sqs.expect(["g-m1", "g-m2"], [message["Body"] for message in first], "first")
    handles = [message["ReceiptHandle"] for message in first]
    sqs.expect(handles, [message["ReceiptHandle"] for message in attempt()], "repeated")
    sqs.expect(["h-m1"], [message["Body"] for message in attempt("attempt-2")],
               "another attempt")
    sqs.delete(url, first[0])
    sqs.expect([], attempt(), "after a deletion")
    for name in ("a" * 129, "a b", ""):
        sqs.fails(INVALID, None, "ReceiveMessage", QueueUrl=url,
                  ReceiveRequestAttemptId=name)
    url = sqs.queue()
    sqs.send(url, "x")
    sqs.expect(1, len(attempt()), "on a standard queue")
    sqs.expect([], attempt(), "on a standard queue it means nothing")


def g92_ids_of_groups(sqs):
    url = sqs.fifo()
    for group in ("", "g" * 129, "a b", "a\tb", "\u00e4"):
        sqs.fails(INVALID, IDS % (group, "MessageGroupId", "MessageGroupId"),
                  "SendMessage", QueueUrl=url, MessageBody="x", MessageGroupId=group)
    for dedup in ("d" * 129, "a b"):
        sqs.fails(INVALID, IDS % (dedup, "MessageDeduplicationId",
                                  "MessageDeduplicationId"),
                  "SendMessage", QueueUrl=url, MessageBody="x", MessageGroupId="g",
                  MessageDeduplicationId=dedup)
    sqs.fails(MISSING, "The request must contain the parameter MessageGroupId.",
              "SendMessage", QueueUrl=url, MessageBody="x")
    sqs.send(url, "x", "g" * 128, "d" * 128)


def g93_a_purge_forgets_ids(sqs):
    url = sqs.fifo()
    sqs.send(url, "one", "g", "d")
    sqs.ok("PurgeQueue", QueueUrl=url)
    sqs.send(url, "two", "g", "d")
    sqs.expect("two", sqs.one(url)["Body"], "delivered")


def g94_an_empty_group_comes_back(sqs):
    url = sqs.fifo()
    for body in ("m1", "m2", "m3"):
        sqs.send(url, body, "g")
        message = sqs.one(url)
        sqs.expect(body, message["Body"], "delivered")
        sqs.delete(url, message)


def g94b_counts_of_a_fifo_queue(sqs):
    url = sqs.fifo()
    send_all(sqs, url, "g1-m1", "g1-m2", "g1-m3", "g2-m1", "g3-m1")
    sqs.expect((5, 0, 0), sqs.counts(url), "sent")
    messages = sqs.receive(url, 4)
    sqs.expect((1, 4, 0), sqs.counts(url), "received")
    for message in messages:
        sqs.delete(url, message)
    sqs.expect((1, 0, 0), sqs.counts(url), "deleted")
