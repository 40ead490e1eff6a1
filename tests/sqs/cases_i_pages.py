# SPDX-License-Identifier: Apache-2.0
"""I. What is around the actions: messages without a receive, regions, request ids."""

import json
import urllib.parse

from harness import only
from wire import UUID

PEEK = "/_aws/sqs/messages"


def get(sqs, path, headers=None, **fields):
    """A GET with fields in the query: its reply."""
    query = urllib.parse.urlencode(fields)
    return sqs.client.endpoint.request(
        "GET", path + ("?" + query if query else ""), headers or {}, b"")


def tree(sqs, path, status=200, **fields):
    """The same, with its answer as the JSON that LocalStack makes of XML."""
    reply = get(sqs, path, {"Accept": "application/json"}, **fields)
    sqs.expect(status, reply.status, "status of %s" % path)
    return json.loads(reply.body)


def peek(sqs, url, **fields):
    """Messages by their bodies."""
    result = tree(sqs, PEEK, QueueUrl=url, **fields)
    found = result["ReceiveMessageResponse"]["ReceiveMessageResult"].get("Message", [])
    return {one["Body"]: {part["Name"]: part["Value"] for part in one["Attribute"]}
            for one in (found if isinstance(found, list) else [found])}


def path_of(url):
    return urllib.parse.urlsplit(url).path


def i113_a_look_receives_nothing(sqs):
    url = sqs.queue()
    sqs.send(url, "a")
    sqs.send(url, "b")
    sqs.expect({"a": "0", "b": "0"}, {body: found["ApproximateReceiveCount"]
                                      for body, found in peek(sqs, url).items()}, "both")
    sqs.expect((2, 0, 0), sqs.counts(url), "still visible")
    account = url.split("/")[-2]
    same = tree(sqs, "%s/us-east-1%s" % (PEEK, path_of(url)))
    sqs.expect(["a", "b"], [one["Body"] for one in same["ReceiveMessageResponse"][
        "ReceiveMessageResult"]["Message"]], "by its path")
    sqs.expect(account, peek(sqs, url)["a"]["SenderId"], "attributes")
    sqs.true(get(sqs, PEEK, QueueUrl=url).body.startswith(b"<"), "no XML")


def i113b_what_is_hidden_is_asked_for(sqs):
    url = sqs.queue()
    for body, delay in (("a", 0), ("b", 0), ("later", 900)):
        sqs.send(url, body, DelaySeconds=delay)
    sqs.receive(url, 1)
    sqs.expect(["b"], list(peek(sqs, url)), "visible")
    all_of_them = peek(sqs, url, ShowInvisible="true", ShowDelayed="True")
    sqs.expect({"a": ("false", "false"), "b": ("true", "false"),
                "later": ("true", "true")},
               {body: (found["IsVisible"], found["IsDelayed"])
                for body, found in all_of_them.items()}, "all")


def i113c_a_group_that_is_locked_is_hidden(sqs):
    url = sqs.fifo()
    for body, group in (("a", "g"), ("b", "g"), ("c", "h")):
        sqs.send(url, body, group)
    sqs.receive(url, 1)
    sqs.expect(["c"], list(peek(sqs, url)), "visible")
    sqs.expect({"a": "false", "b": "true", "c": "true"},
               {body: found["IsVisible"] for body, found in peek(
                   sqs, url, ShowInvisible="1").items()}, "all")


def i113d_a_look_by_a_client(sqs):
    """The page is its endpoint: ReceiveMessage receives nothing."""
    url = sqs.queue()
    sqs.send(url, "a")
    sqs.send(url, "b")
    result = sqs.ok("ReceiveMessage", path=PEEK, QueueUrl=url, MaxNumberOfMessages=1)
    sqs.expect(["a", "b"], [one["Body"] for one in result["Messages"]], "both")
    sqs.expect("0", sqs.system(result["Messages"][0], "ApproximateReceiveCount"), "count")
    sqs.fails("InvalidRequest", "This endpoint only accepts ReceiveMessage calls",
              "SendMessage", path=PEEK, QueueUrl=url, MessageBody="c")
    sqs.expect((2, 0, 0), sqs.counts(url), "still visible")


def i113e_queues_that_are_not_there(sqs):
    url = sqs.queue()
    region = "%s/eu-west-1%s" % (PEEK, path_of(url))
    for path, fields, status, code in (
            (PEEK, {}, 400, "AWS.SimpleQueueService.NonExistentQueue"),
            (PEEK, {"QueueUrl": url + "-not"}, 400,
             "AWS.SimpleQueueService.NonExistentQueue"),
            (PEEK, {"QueueUrl": "http://localhost:4566/nonsense"}, 404, "InvalidAddress"),
            (region, {}, 400, "AWS.SimpleQueueService.NonExistentQueue")):
        found = tree(sqs, path, status, **fields)
        sqs.expect(code, found["ErrorResponse"]["Error"]["Code"], "%s %s" % (path, fields))
    reply = get(sqs, PEEK + "-not")
    sqs.expect(404, reply.status, "another path")


def i114_the_region_of_a_request_that_is_not_signed(sqs):
    name = sqs.name()
    west = {"Host": "sqs.eu-west-1.amazonaws.com"}
    url = sqs.ok("CreateQueue", headers=west, QueueName=name)["QueueUrl"]
    sqs.true(url.startswith("http://sqs.eu-west-1.amazonaws.com/"), "URL %s", url)
    arn = "arn:aws:sqs:eu-west-1:000000000000:" + name

    def arn_of(queue_url, **headers):
        return sqs.ok("GetQueueAttributes", headers=headers, QueueUrl=queue_url,
                      AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]

    path = "/000000000000/" + name
    for host in ("sqs.eu-west-1.localhost.localstack.cloud:4566",
                 "eu-west-1.queue.localhost.localstack.cloud:4566"):
        sqs.expect(arn, arn_of(path, Host=host), host)
        sqs.expect(arn, arn_of("http://" + host + path), host + " in the URL")
    sqs.expect(arn, arn_of("http://x/queue/eu-west-1" + path), "in the path")
    sqs.no_queue("GetQueueAttributes", QueueUrl=path)
    signed = sqs.with_client(sqs.client.in_region("us-east-1"))
    signed.no_queue("GetQueueAttributes", QueueUrl=url)


@only("json")
def i115_no_body_at_all(sqs):
    url = sqs.queue()
    reply = sqs.client.raw("ListQueues", b"")
    sqs.expect(200, reply.status, "status")
    sqs.true(url in reply.result.get("QueueUrls", []), "not listed")


def i116_every_answer_has_an_id(sqs):
    url = sqs.queue()
    for path in ("/", path_of(url), "/metrics", "/no/where", PEEK + "?QueueUrl=" + url,
                 "/?Action=GetCallerIdentity&Version=2011-06-15"):
        found = get(sqs, path).headers.get("x-amzn-RequestId")
        sqs.true(found and UUID.match(found), "%s: x-amzn-RequestId %r", path, found)


@only("query")
def i117_nulls_of_the_tree(sqs):
    """What API Gateway passes on, as AWS shows it."""
    url = sqs.queue()
    sent = tree(sqs, path_of(url), Action="SendMessage", MessageBody="x")[
        "SendMessageResponse"]["SendMessageResult"]
    sqs.expect({"MD5OfMessageAttributes", "MD5OfMessageSystemAttributes",
                "SequenceNumber"}, {name for name in sent if sent[name] is None}, "sent")
    for wanted in (1, 0):
        found = tree(sqs, path_of(url), Action="ReceiveMessage")[
            "ReceiveMessageResponse"]["ReceiveMessageResult"]
        sqs.true("messages" in found, "no messages in %s", found)
        sqs.expect(wanted, len(found["messages"] or []), "received")
        for one in found["messages"] or []:
            sqs.expect({"Attributes", "MD5OfMessageAttributes", "MessageAttributes"},
                       {name for name in one if one[name] is None}, "absent")
