# SPDX-License-Identifier: Apache-2.0
"""H. Dead-letter queues and move tasks."""

import base64
import json
import time
import uuid

from harness import INVALID, slow, text

GONE = "The resource that you specified for the %s parameter doesn't exist."


def redrive(arn, count=1):
    return json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": count})


def with_dead(sqs, count=1, kind="queue", **more):
    """A queue and its dead-letter queue."""
    dead = getattr(sqs, kind)()
    url = getattr(sqs, kind)(VisibilityTimeout=0,
                             RedrivePolicy=redrive(sqs.arn(dead), count), **more)
    return url, dead


def bury(sqs, url, *bodies):
    """Sends, receives once and has them moved."""
    for body in bodies:
        sqs.send(url, body)
    sqs.await_messages(url, len(bodies))
    sqs.eventually(lambda: not sqs.receive(url) and sqs.counts(url) == (0, 0, 0),
                   "all are moved")


def task_of(sqs, arn):
    tasks = sqs.ok("ListMessageMoveTasks", SourceArn=arn).get("Results")
    return tasks[0] if tasks else {}


def h95_after_the_last_receive_to_the_dead_letters(sqs):
    url, dead = with_dead(sqs)
    attributes = {"a": text("b")}
    sent = sqs.send(url, "x", MessageAttributes=attributes, MessageSystemAttributes={
        "AWSTraceHeader": text("Root=1")})
    first = sqs.one(url, AttributeNames=["All"])
    sqs.expect("1", sqs.system(first, "ApproximateReceiveCount"), "count")
    sqs.expect([], sqs.bodies(url), "the second receive")
    sqs.expect((0, 0, 0), sqs.counts(url), "not in the queue")
    message = sqs.one(dead, AttributeNames=["All"], MessageAttributeNames=["All"])
    sqs.expect((sent["MessageId"], "x", attributes),
               (message["MessageId"], message["Body"], message.get("MessageAttributes")),
               "kept")
    found = message["Attributes"]
    sqs.expect(("2", sqs.arn(url), "Root=1", first["Attributes"]["SentTimestamp"]),
               (found["ApproximateReceiveCount"], found.get("DeadLetterQueueSourceArn"),
                found.get("AWSTraceHeader"), found["SentTimestamp"]), "attributes")


def h95b_not_before_the_last_receive(sqs):
    url, dead = with_dead(sqs, 3)
    sqs.send(url, "x")
    for count in ("1", "2", "3"):
        message = sqs.one(url, AttributeNames=["All"])
        sqs.expect(count, sqs.system(message, "ApproximateReceiveCount"), "count")
        sqs.expect((0, 0, 0), sqs.counts(dead), "nothing is dead yet")
    sqs.expect([], sqs.bodies(url), "the fourth receive")
    sqs.expect("x", sqs.one(dead)["Body"], "dead")


def h96_a_chain_of_queues(sqs):
    third = sqs.queue(VisibilityTimeout=0)
    second = sqs.queue(VisibilityTimeout=0, RedrivePolicy=redrive(sqs.arn(third)))
    first = sqs.queue(VisibilityTimeout=0, RedrivePolicy=redrive(sqs.arn(second)))
    sent = sqs.send(first, "x")
    sqs.one(first)
    sqs.expect([], sqs.bodies(first), "moved to the second")
    sqs.expect("x", sqs.one(second)["Body"], "delivered by the second")
    sqs.expect([], sqs.bodies(second), "moved to the third")
    sqs.expect(sent["MessageId"], sqs.one(third)["MessageId"], "id")


def h96b_a_queue_may_be_its_own_target(sqs):
    url = sqs.queue(VisibilityTimeout=0)
    sqs.set(url, RedrivePolicy=redrive(sqs.arn(url)))
    sqs.send(url, "x")
    sqs.one(url)
    sqs.receive(url)
    sqs.expect((1, 0, 0), sqs.counts(url), "it is not lost")


def h97_dead_letters_of_a_fifo_queue(sqs):
    url, dead = with_dead(sqs, 2, "fifo")
    sent = sqs.send(url, "one", "g")
    sqs.one(url)
    sqs.one(url)
    sqs.expect([], sqs.bodies(url), "moved")
    message = sqs.one(dead, AttributeNames=["All"])
    sqs.expect((sent["MessageId"], "one", "g"),
               (message["MessageId"], message["Body"],
                sqs.system(message, "MessageGroupId")), "dead")
    sqs.send(url, "two", "g")
    sqs.expect("two", sqs.one(url)["Body"], "the group goes on")


def h97b_equal_ids_both_reach_the_dead_letters(sqs):
    dead = sqs.fifo()
    policy = redrive(sqs.arn(dead))
    for body in ("of one", "of two"):
        url = sqs.fifo(VisibilityTimeout=0, RedrivePolicy=policy)
        sqs.send(url, body, "g", "same")
        sqs.one(url)
        sqs.expect([], sqs.bodies(url), "moved")
    sqs.expect({"of one", "of two"},
               {message["Body"] for message in sqs.await_messages(dead, 2)}, "both")


def h98_the_sources_of_dead_letters(sqs):
    dead = sqs.queue()
    none = {"queueUrls": []} if sqs.protocol == "json" else {}
    sqs.expect(none, sqs.ok("ListDeadLetterSourceQueues", QueueUrl=dead), "none")
    policy = redrive(sqs.arn(dead), 5)
    sources = {sqs.queue(RedrivePolicy=policy) for _ in range(3)}
    sqs.expect(sources, set(sqs.ok("ListDeadLetterSourceQueues", QueueUrl=dead).get(
        "queueUrls", [])), "three")
    first = sqs.ok("ListDeadLetterSourceQueues", QueueUrl=dead, MaxResults=2)
    sqs.expect(2, len(first.get("queueUrls", [])), "a page")
    rest = sqs.ok("ListDeadLetterSourceQueues", QueueUrl=dead, MaxResults=2,
                  NextToken=first.get("NextToken", ""))
    sqs.expect(sources, set(first.get("queueUrls", []) + rest.get("queueUrls", [])),
               "pages")
    sqs.no_queue("ListDeadLetterSourceQueues", QueueUrl=dead + "-not")


def h99_tasks_that_cannot_start(sqs):
    url, dead = with_dead(sqs)
    arn = sqs.arn(dead)
    sqs.fails(INVALID, "Source queue must be configured as a Dead Letter Queue.",
              "StartMessageMoveTask", SourceArn=sqs.arn(url))
    sqs.fails("ResourceNotFoundException", GONE % "SourceArn", "StartMessageMoveTask",
              SourceArn=arn + "-not")
    sqs.fails("ResourceNotFoundException", GONE % "DestinationArn",
              "StartMessageMoveTask", SourceArn=arn, DestinationArn=arn + "-not")
    for rate in (0, 501, -1):
        sqs.fails(INVALID, "Value %d for parameter MaxNumberOfMessagesPerSecond is "
                  "invalid. Reason: Must be between 1 and 500." % rate,
                  "StartMessageMoveTask", SourceArn=arn,
                  MaxNumberOfMessagesPerSecond=rate)
    bury(sqs, url, "a", "b", "c", "d")
    sqs.ok("StartMessageMoveTask", SourceArn=arn, MaxNumberOfMessagesPerSecond=1)
    sqs.fails(INVALID, "There is already a task running. Only one active task is "
              "allowed for a source queue arn at a given time.", "StartMessageMoveTask",
              SourceArn=arn)


@slow
def h100_each_message_goes_home(sqs):
    dead = sqs.queue()
    arn = sqs.arn(dead)
    urls = [sqs.queue(VisibilityTimeout=0, RedrivePolicy=redrive(arn)) for _ in range(2)]
    bury(sqs, urls[0], "one-a", "one-b")
    bury(sqs, urls[1], "two-a", "two-b")
    sqs.true(sqs.ok("StartMessageMoveTask", SourceArn=arn).get("TaskHandle"), "no handle")
    sqs.eventually(lambda: task_of(sqs, arn).get("Status") == "COMPLETED", "COMPLETED")
    for url, bodies in zip(urls, ({"one-a", "one-b"}, {"two-a", "two-b"})):
        sqs.expect((2, 0, 0), sqs.counts(url), "came home")
        messages = sqs.await_messages(url, 2, AttributeNames=["All"],
                                      VisibilityTimeout=30)
        sqs.expect(bodies, {message["Body"] for message in messages}, "bodies")
        sqs.expect({"1"}, {sqs.system(message, "ApproximateReceiveCount")
                           for message in messages}, "counted anew")
    task = task_of(sqs, arn)
    sqs.true(task.pop("StartedTimestamp", 0) > 10 ** 12, "StartedTimestamp in ms")
    sqs.expect({"SourceArn": arn, "Status": "COMPLETED",
                "ApproximateNumberOfMessagesMoved": 4,
                "ApproximateNumberOfMessagesToMove": 4}, task, "the task")


@slow
def h100b_all_messages_go_to_one_queue(sqs):
    url, dead = with_dead(sqs)
    target = sqs.queue()
    arn = sqs.arn(dead)
    bury(sqs, url, "a", "b")
    sqs.ok("StartMessageMoveTask", SourceArn=arn, DestinationArn=sqs.arn(target))
    sqs.eventually(lambda: task_of(sqs, arn).get("Status") == "COMPLETED", "COMPLETED")
    task = task_of(sqs, arn)
    sqs.expect((sqs.arn(target), 2), (task.get("DestinationArn"), task.get(
        "ApproximateNumberOfMessagesMoved")), "the task")
    sqs.true("TaskHandle" not in task, "a TaskHandle of a task that is over")
    sqs.expect({"a", "b"}, {message["Body"]
                            for message in sqs.await_messages(target, 2)}, "moved")


def h100c_a_few_messages_are_moved_at_once(sqs):
    """Tests of programs do not wait for a task."""
    url, dead = with_dead(sqs)
    arn = sqs.arn(dead)
    bury(sqs, url, "a", "b", "c")
    sqs.ok("StartMessageMoveTask", SourceArn=arn)
    sqs.expect(["a", "b", "c"], sorted(sqs.bodies(url)), "moved")
    sqs.expect("COMPLETED", task_of(sqs, arn)["Status"], "the task")
    for rate in (1, 2):  # one message is moved at once, and the task ends with it
        bury(sqs, url, "d")
        sqs.ok("StartMessageMoveTask", SourceArn=arn,
               MaxNumberOfMessagesPerSecond=rate)
        sqs.eventually(lambda: task_of(sqs, arn)["Status"] == "COMPLETED", "COMPLETED")
    tasks = sqs.ok("ListMessageMoveTasks", SourceArn=arn, MaxResults=10)["Results"]
    sqs.expect([2, 1, None], [task.get("MaxNumberOfMessagesPerSecond")
                              for task in tasks], "the latest first")


@slow
def h100d_a_rate_is_kept(sqs):
    url, dead = with_dead(sqs)
    target = sqs.queue()
    bury(sqs, url, "a", "b", "c")
    sqs.ok("StartMessageMoveTask", SourceArn=sqs.arn(dead),
           DestinationArn=sqs.arn(target), MaxNumberOfMessagesPerSecond=1)
    started = time.monotonic()
    sqs.one(target)
    running = task_of(sqs, sqs.arn(dead))
    if time.monotonic() - started < 1:
        sqs.expect(("RUNNING", 3), (running["Status"], running[
            "ApproximateNumberOfMessagesToMove"]), "running")
        sqs.true(running["ApproximateNumberOfMessagesMoved"] in (1, 2), "moved %s",
                 running)
    sqs.await_messages(target, 2)
    sqs.not_before(started, 1.9, "three at one a second")


def h100e_a_message_that_came_from_no_queue(sqs):
    """The task starts, and fails: so it is on AWS."""
    _, dead = with_dead(sqs)
    arn = sqs.arn(dead)
    sqs.send(dead, "direct")
    sqs.true(sqs.ok("StartMessageMoveTask", SourceArn=arn).get("TaskHandle"), "no handle")
    sqs.eventually(lambda: task_of(sqs, arn)["Status"] == "FAILED", "FAILED")
    task = task_of(sqs, arn)
    sqs.expect(("CouldNotDetermineMessageSource", 0), (
        task.get("FailureReason"), task["ApproximateNumberOfMessagesMoved"]), "the task")
    sqs.expect(["direct"], sqs.bodies(dead), "it is still there")


def handle_of(task, source):
    return base64.b64encode(json.dumps(
        {"taskId": str(task), "sourceArn": source}).encode()).decode()


@slow
def h101_a_task_is_cancelled(sqs):
    url, dead = with_dead(sqs)
    arn = sqs.arn(dead)
    bury(sqs, url, *"abcdefghij")
    handle = sqs.ok("StartMessageMoveTask", SourceArn=arn, DestinationArn=sqs.arn(url),
                    MaxNumberOfMessagesPerSecond=1)["TaskHandle"]
    task = task_of(sqs, arn)
    sqs.expect(("RUNNING", handle, 1, 10, sqs.arn(url)), tuple(map(task.get, (
        "Status", "TaskHandle", "MaxNumberOfMessagesPerSecond",
        "ApproximateNumberOfMessagesToMove", "DestinationArn"))), "running")
    sqs.fails("ResourceNotFoundException", "Task does not exist.",
              "CancelMessageMoveTask", TaskHandle=handle_of(uuid.uuid4(), arn))
    moved = sqs.ok("CancelMessageMoveTask", TaskHandle=handle)
    sqs.true(0 <= moved.get("ApproximateNumberOfMessagesMoved", -1) < 10, "moved: %s",
             moved)
    sqs.eventually(lambda: task_of(sqs, arn)["Status"] == "CANCELLED", "CANCELLED")
    task = task_of(sqs, arn)
    sqs.true("TaskHandle" not in task, "a TaskHandle of a task that is over")
    left = sum(sqs.counts(dead))
    sqs.true(left > 0, "nothing was left to cancel")
    sqs.expect(10 - left, task["ApproximateNumberOfMessagesMoved"], "moved")
    sqs.expect(10, left + sum(sqs.counts(url)), "nothing is lost")


@slow
def h102_the_destination_is_deleted(sqs):
    url, dead = with_dead(sqs)
    target = sqs.queue()
    arn = sqs.arn(dead)
    bury(sqs, url, *"abcdefghij")
    sqs.ok("StartMessageMoveTask", SourceArn=arn, DestinationArn=sqs.arn(target),
           MaxNumberOfMessagesPerSecond=1)
    sqs.ok("DeleteQueue", QueueUrl=target)
    sqs.eventually(lambda: task_of(sqs, arn).get("Status") == "FAILED", "FAILED")
    task = task_of(sqs, arn)
    sqs.expect("AWS.SimpleQueueService.NonExistentQueue", task.get("FailureReason"),
               "the reason")
    sqs.true("TaskHandle" not in task, "a TaskHandle of a task that is over")


def h102b_tasks_that_are_not_there(sqs):
    _, dead = with_dead(sqs)
    arn = sqs.arn(dead)
    sqs.fails(INVALID, "Value for parameter TaskHandle is invalid.",
              "CancelMessageMoveTask", TaskHandle="foobared")
    sqs.fails("ResourceNotFoundException", "Task does not exist.",
              "CancelMessageMoveTask", TaskHandle=handle_of(uuid.uuid4(), arn))
    sqs.fails("ResourceNotFoundException", GONE % "SourceArn", "CancelMessageMoveTask",
              TaskHandle=handle_of(uuid.uuid4(), arn + "-not"))
    # A list of XML without elements is not there at all.
    sqs.expect({"Results": []} if sqs.protocol == "json" else {},
               sqs.ok("ListMessageMoveTasks", SourceArn=arn), "no tasks")
    for most in (0, 11, -1):
        sqs.fails(INVALID, "Value %d for parameter MaxResults is invalid. Reason: Must "
                  "be between 1 and 10." % most, "ListMessageMoveTasks", SourceArn=arn,
                  MaxResults=most)
    sqs.fails("ResourceNotFoundException", GONE % "SourceArn", "ListMessageMoveTasks",
              SourceArn=arn + "-not")
