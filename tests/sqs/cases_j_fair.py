# SPDX-License-Identifier: Apache-2.0
"""J. Fair queues: groups of a standard queue are tenants."""


def send_many(sqs, url, count, group, body):
    for start in range(0, count, 10):
        sqs.ok("SendMessageBatch", QueueUrl=url, Entries=[
            {"Id": str(i), "MessageBody": body, "MessageGroupId": group}
            for i in range(start, min(start + 10, count))])


def take_many(sqs, url, count, body):
    for _ in range(count // 10):
        sqs.expect([body] * 10, sqs.bodies(url, VisibilityTimeout=600), "taken")


def j1_a_noisy_tenant_does_not_hold_up_a_quiet_one(sqs):
    url = sqs.queue()
    send_many(sqs, url, 1000, "loud", "loud")
    take_many(sqs, url, 40, "loud")
    sqs.send(url, "quiet", "quiet")
    sqs.expect(["quiet"], sqs.bodies(url, 1), "the next")
    sqs.expect(["loud"], sqs.bodies(url, 1), "then")
    sqs.expect((959, 42, 0), sqs.counts(url), "counts")


def j2_each_message_of_a_receive_prefers_quiet_tenants(sqs):
    url = sqs.queue()
    send_many(sqs, url, 100, "loud", "loud")
    take_many(sqs, url, 40, "loud")
    for body, group in (("a", "a"), ("b", None), ("c", "c"), ("a2", "a")):
        sqs.send(url, body, group)
    sqs.expect(["a", "b", "c", "a2"] + ["loud"] * 6, sqs.bodies(url), "ten")


def j3_the_noisy_tenant_with_the_fewest_in_flight_is_next(sqs):
    url = sqs.queue()
    for group, count in (("a", 40), ("b", 30)):
        send_many(sqs, url, count, group, group)
        take_many(sqs, url, count, group)
    for group in ("a", "b"):
        send_many(sqs, url, 5, group, group)
    sqs.expect(["b"] * 3, sqs.bodies(url, 3), "30 in flight before 40")


def j4_a_tenant_whose_messages_were_deleted_is_quiet(sqs):
    url = sqs.queue()
    send_many(sqs, url, 100, "loud", "loud")
    messages = sqs.await_messages(url, 30)
    for start in range(0, 30, 10):
        sqs.ok("DeleteMessageBatch", QueueUrl=url, Entries=[
            {"Id": str(i), "ReceiptHandle": messages[start + i]["ReceiptHandle"]}
            for i in range(10)])
    sqs.send(url, "quiet", "quiet")
    sqs.expect(["loud"], sqs.bodies(url, 1), "in the order they came")


def j5_dead_letters_keep_their_tenant(sqs):
    dead = sqs.queue()
    url = sqs.queue(VisibilityTimeout=0, RedrivePolicy=(
        '{"maxReceiveCount": 1, "deadLetterTargetArn": "%s"}' % sqs.arn(dead)))
    send_many(sqs, url, 50, "loud", "loud")
    for _ in range(10):
        sqs.receive(url)
    take_many(sqs, dead, 40, "loud")
    sqs.send(dead, "quiet", "quiet")
    message = sqs.one(dead)
    sqs.expect("quiet", message["Body"], "the next dead letter")
    message = sqs.receive(dead, 1, AttributeNames=["All"])[0]
    sqs.expect("loud", sqs.system(message, "MessageGroupId"), "its group")
