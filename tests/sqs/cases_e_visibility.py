# SPDX-License-Identifier: Apache-2.0
"""E. Visibility and deletion."""

import time

from harness import INVALID, MISSING, slow

BAD_HANDLE = 'The input receipt handle "%s" is not a valid receipt handle.'
EXPIRED = "Value %s for parameter ReceiptHandle is invalid. Reason: The receipt handle " \
    "has expired."
NOT_THERE = "Value %s for parameter ReceiptHandle is invalid. Reason: Message does not " \
    "exist or is not available for visibility timeout change."


def expire(sqs, url):
    """Waits until the only message is visible again, without receiving it."""
    sqs.eventually(lambda: sqs.counts(url)[0] == 1, "the timeout ends")


@slow
def e57_a_timeout_ends(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    started = time.monotonic()
    first = sqs.one(url, VisibilityTimeout=1)
    second = sqs.one(url, AttributeNames=["All"])
    sqs.not_before(started, 1, "the visibility timeout")
    sqs.expect(first["MessageId"], second["MessageId"], "id")
    sqs.true(first["ReceiptHandle"] != second["ReceiptHandle"], "the same handle")
    sqs.expect("2", sqs.system(second, "ApproximateReceiveCount"), "count")


@slow
def e58_delete_after_the_timeout(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url, VisibilityTimeout=1)
    expire(sqs, url)
    sqs.delete(url, message)
    sqs.expect((0, 0, 0), sqs.counts(url), "gone")
    sqs.expect([], sqs.bodies(url), "received")


def e59_an_old_handle_deletes_nothing(sqs):
    """AWS leaves it open; here a newer delivery is never touched by an older."""
    url = sqs.queue()
    sqs.send(url, "x")
    old = sqs.one(url, VisibilityTimeout=0)
    new = sqs.one(url)
    sqs.delete(url, old)
    sqs.expect((0, 1, 0), sqs.counts(url), "still in flight")
    sqs.visibility(url, new, 0)
    sqs.expect("x", sqs.one(url)["Body"], "still there")


def e59b_an_old_handle_changes_the_visibility(sqs):
    """As recorded of AWS; of a deletion with one, its documentation says the
    opposite."""
    url = sqs.queue()
    sqs.send(url, "x")
    old = sqs.one(url, VisibilityTimeout=0)
    sqs.one(url)
    sqs.visibility(url, old, 0)
    sqs.expect(["x"], sqs.bodies(url, VisibilityTimeout=0), "visible at once")
    result = sqs.ok("ChangeMessageVisibilityBatch", QueueUrl=url, Entries=[
        {"Id": "a", "ReceiptHandle": old["ReceiptHandle"], "VisibilityTimeout": 60}])
    sqs.expect([{"Id": "a"}], result.get("Successful"), "in a batch")
    sqs.expect((0, 1, 0), sqs.counts(url), "hidden again")


def e59c_an_old_handle_of_a_fifo_queue_changes_nothing(sqs):
    url = sqs.fifo()
    sqs.send(url, "x", "g")
    old = sqs.one(url, VisibilityTimeout=0)["ReceiptHandle"]
    sqs.one(url)
    sqs.fails(INVALID, NOT_THERE % old, "ChangeMessageVisibility", QueueUrl=url,
              ReceiptHandle=old, VisibilityTimeout=0)
    sqs.expect((0, 1, 0), sqs.counts(url), "still in flight")


def e60_delete_twice(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    old = sqs.one(url, VisibilityTimeout=0)
    new = sqs.one(url)
    for message in (new, new, old):
        sqs.delete(url, message)
    sqs.expect((0, 0, 0), sqs.counts(url), "gone")


def e61_handles_that_are_none(sqs):
    url, other = sqs.queue(), sqs.queue()
    sqs.send(other, "x")
    foreign = sqs.one(other)["ReceiptHandle"]
    for handle in ("garbage", foreign):
        sqs.fails("ReceiptHandleIsInvalid", BAD_HANDLE % handle, "DeleteMessage",
                  QueueUrl=url, ReceiptHandle=handle)
    sqs.fails(MISSING, None, "DeleteMessage", QueueUrl=url)
    sqs.expect((0, 1, 0), sqs.counts(other), "the other queue's message")


def e62_delete_while_another_has_it(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    first = sqs.one(url, VisibilityTimeout=0)
    second = sqs.one(url)
    sqs.delete(url, first)
    sqs.delete(url, second)
    sqs.expect((0, 0, 0), sqs.counts(url), "the newer handle deletes")


@slow
def e63_a_return_is_for_once(sqs):
    url = sqs.queue(VisibilityTimeout=2)
    sqs.send(url, "x")
    message = sqs.one(url, VisibilityTimeout=100)
    sqs.visibility(url, message, 0)
    started = time.monotonic()
    sqs.expect(["x"], sqs.bodies(url), "at once")
    sqs.expect([], sqs.bodies(url), "hidden again")
    sqs.one(url)
    sqs.not_before(started, 2, "the queue's timeout")


@slow
def e64_extend(sqs):
    url = sqs.queue(VisibilityTimeout=2)
    sqs.send(url, "x")
    message = sqs.one(url)
    started = time.monotonic()
    sqs.visibility(url, message, 4)
    sqs.one(url)
    sqs.not_before(started, 4, "the longer timeout")


@slow
def e64b_shorten(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url, VisibilityTimeout=1000)
    started = time.monotonic()
    sqs.visibility(url, message, 1)
    sqs.one(url)
    sqs.not_before(started, 1, "the shorter timeout")


@slow
def e65_change_after_the_timeout(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url, VisibilityTimeout=1)
    expire(sqs, url)
    sqs.visibility(url, message, 100)
    sqs.expect((0, 1, 0), sqs.counts(url), "hidden again")


def e65b_change_what_cannot_be(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url)
    handle = message["ReceiptHandle"]
    for timeout in (-1, 43201):
        sqs.fails(INVALID, "Value %d for parameter VisibilityTimeout is invalid. Reason: "
                  "Must be between 0 and 43200." % timeout, "ChangeMessageVisibility",
                  QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=timeout)
    sqs.fails(MISSING, None, "ChangeMessageVisibility", QueueUrl=url,
              ReceiptHandle=handle)
    sqs.delete(url, message)
    sqs.fails(INVALID, NOT_THERE % handle, "ChangeMessageVisibility", QueueUrl=url,
              ReceiptHandle=handle, VisibilityTimeout=10)
    sqs.fails("ReceiptHandleIsInvalid", BAD_HANDLE % "INVALID",
              "ChangeMessageVisibility", QueueUrl=url, ReceiptHandle="INVALID",
              VisibilityTimeout=60)


@slow
def e66_at_most_twelve_hours_in_all(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url)
    sqs.let_pass(2)
    sqs.fails(INVALID, None, "ChangeMessageVisibility", QueueUrl=url,
              ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=43200)
    sqs.visibility(url, message, 43000)
    sqs.expect((0, 1, 0), sqs.counts(url), "in flight")


@slow
def e67_fifo_handles_expire(sqs):
    url = sqs.fifo(VisibilityTimeout=1)
    sqs.send(url, "x", "g")
    message = sqs.one(url)
    expire(sqs, url)
    handle = message["ReceiptHandle"]
    sqs.fails(INVALID, EXPIRED % handle, "DeleteMessage", QueueUrl=url,
              ReceiptHandle=handle)
    sqs.expect((1, 0, 0), sqs.counts(url), "still there")


@slow
def e67b_extended_fifo_handles_do_not(sqs):
    url = sqs.fifo(VisibilityTimeout=2)
    sqs.send(url, "x", "g")
    message = sqs.one(url)
    sqs.visibility(url, message, 100)
    sqs.let_pass(3)
    sqs.delete(url, message)
    sqs.expect((0, 0, 0), sqs.counts(url), "deleted")
