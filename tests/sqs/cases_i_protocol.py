# SPDX-License-Identifier: Apache-2.0
"""I. The two protocols, and HTTP."""

import json
import re
import socket
import urllib.parse
import xml.etree.ElementTree as ElementTree

from harness import INVALID, only
from server import HANG_S
from wire import EMPTY, VERSION

NO_ACTION = "The action %s is not valid for this endpoint."


def query(action, **fields):
    return [("Action", action), ("Version", VERSION), *fields.items()]


def path_of(url):
    return urllib.parse.urlsplit(url).path


@only("json")
def i103_unknown_actions_in_json(sqs):
    for target in ("AmazonSQS.FooBar", "AmazonSQS.", "FooBar", "AmazonSNS.ListQueues"):
        reply = sqs.client.call("ListQueues", headers={"X-Amz-Target": target})
        sqs.refused("UnknownOperationException", None, reply, target)


@only("query")
def i103b_unknown_actions_in_query(sqs):
    for method in ("GET", "POST"):
        reply = sqs.client.form(query("FooBar"), method)
        sqs.refused("UnknownOperationException", NO_ACTION % "FooBar", reply, method)
    path = path_of(sqs.queue())
    for action in ("CreateQueue", "ListQueues"):
        for method in ("GET", "POST"):
            reply = sqs.client.form(query(action, QueueName="x"), method, path)
            sqs.refused("UnknownOperationException", NO_ACTION % action, reply,
                        "%s %s at a queue" % (method, action))


@only("query")
def i103c_a_queue_url_in_a_browser(sqs):
    path = path_of(sqs.queue())
    for headers in ({}, {"Accept": "application/json"}):
        reply = sqs.client.endpoint.request("GET", path, headers, b"")
        sqs.expect(404, reply.status, "status")
        sqs.true(b"<UnknownOperationException" in reply.body, "body %r", reply.body)


@only("json")
def i104_bodies_that_are_no_json_object(sqs):
    for body in (b"[]", b'{"QueueName": "x"', b" ", b"null", b"5", b'"text"', b"{} {}",
                 b"{'a': 1}"):
        reply = sqs.client.raw("ListQueues", body)
        sqs.refused("SerializationException", None, reply, repr(body))
    sqs.ok("ListQueues")


@only("json")
def i104b_names_and_nulls_of_maps(sqs):
    """CreateQueue has "tags", TagQueue "Tags"; a value is never null."""
    url = sqs.ok("CreateQueue", QueueName=sqs.name(), Tags={"a": "b"})["QueueUrl"]
    sqs.expect({}, sqs.ok("ListQueueTags", QueueUrl=url), "no tags")
    for action, name in (("TagQueue", "Tags"), ("SetQueueAttributes", "Attributes")):
        sqs.fails(INVALID, "the parameter 'value' may not be null", action,
                  {name: {"DelaySeconds": "1", "b": None}}, QueueUrl=url)
    sqs.expect({"DelaySeconds": "0"}, sqs.attributes(url, "DelaySeconds"), "as before")


@only("json")
def i105_json_at_the_path_of_a_queue(sqs):
    url = sqs.queue()
    other = sqs.queue()
    sqs.ok("SendMessage", path=path_of(url), QueueUrl=url, MessageBody="x")
    sqs.ok("SendMessage", path="/some/where", QueueUrl=url, MessageBody="y")
    sqs.ok("SendMessage", path=path_of(other), QueueUrl=url, MessageBody="z")
    sqs.expect((3, 0, 0), sqs.counts(url), "sent")
    sqs.ok("ListQueues", path=path_of(url))


@only("query")
def i105b_query_at_the_path_of_a_queue(sqs):
    url, other = sqs.queue(), sqs.queue()
    for method in ("GET", "POST"):
        reply = sqs.client.form(query("SendMessage", MessageBody=method), method,
                                path_of(url))
        sqs.expect((200, []), (reply.status, reply.problems), method)
    sqs.expect({"GET", "POST"}, {message["Body"]
                                 for message in sqs.await_messages(url, 2)}, "sent")
    reply = sqs.client.form(query("SendMessage", MessageBody="x", QueueUrl=url), "GET",
                            path_of(other))
    sqs.expect(200, reply.status, "the parameter wins over the path")
    sqs.expect("x", sqs.one(url)["Body"], "the parameter wins")
    sqs.expect((0, 0, 0), sqs.counts(other), "over the path")
    reply = sqs.client.form(query("ReceiveMessage", QueueUrl=url) +
                            [("Unknown.Field", "1")], "GET", "/")
    sqs.expect(200, reply.status, "GET at the root")


@only("query")
def i105c_plus_and_escapes_are_spaces(sqs):
    url = sqs.queue()
    text = "Action=SendMessage&QueueUrl=%s&MessageBody=a+b%%20c%%2Bd" % (
        urllib.parse.quote(url, safe=""))
    sqs.expect(200, sqs.client.form(text).status, "sent")
    sqs.expect("a b c+d", sqs.one(url)["Body"], "received")


@only("query")
def i105d_json_instead_of_xml(sqs):
    url = sqs.queue()
    name = url.split("/")[-1]
    target = "/?" + urllib.parse.urlencode(query("GetQueueUrl", QueueName=name))
    reply = sqs.client.endpoint.request("GET", target, {"Accept": "application/json"},
                                        b"")
    sqs.expect(200, reply.status, "status")
    if not reply.body.startswith(b"{"):
        sqs.fail("no JSON: %r", reply.body)
        return
    tree = json.loads(reply.body)
    sqs.expect(url, tree["GetQueueUrlResponse"]["GetQueueUrlResult"]["QueueUrl"], "tree")
    sqs.true(tree["GetQueueUrlResponse"]["ResponseMetadata"]["RequestId"], "no id")


def i106_actions_without_output(sqs):
    """That an answer has no body, or no Result, is checked for every call."""
    url = sqs.queue()
    sqs.send(url, "x")
    handle = sqs.one(url)["ReceiptHandle"]
    calls = {
        "AddPermission": {"Label": "l", "AWSAccountIds": ["111111111111"],
                          "Actions": ["SendMessage"]},
        "RemovePermission": {"Label": "l"},
        "ChangeMessageVisibility": {"ReceiptHandle": handle, "VisibilityTimeout": 9},
        "DeleteMessage": {"ReceiptHandle": handle},
        "SetQueueAttributes": {"Attributes": {"DelaySeconds": "1"}},
        "TagQueue": {"Tags": {"a": "b"}}, "UntagQueue": {"TagKeys": ["a"]},
        "PurgeQueue": {}, "DeleteQueue": {},
    }
    sqs.expect(EMPTY, set(calls), "every one is called")
    for action, members in calls.items():
        reply = sqs.call(action, members, QueueUrl=url)
        sqs.expect(200, reply.status, action)
        if sqs.protocol == "json":
            sqs.expect("0", reply.headers["Content-Length"], action)
        else:
            sqs.true(b"Result" not in reply.body, "%s: %r", action, reply.body)


def i107_request_ids(sqs):
    url = sqs.queue()
    replies = [sqs.call("ReceiveMessage", QueueUrl=url) for _ in range(5)]
    replies += [sqs.call("ReceiveMessage", QueueUrl=url + "-not") for _ in range(5)]
    sqs.expect(10, len({reply.request_id for reply in replies}), "unique ids")
    error = replies[-1]
    if sqs.protocol == "json":
        sqs.expect("AWS.SimpleQueueService.NonExistentQueue;Sender",
                   error.headers.get("x-amzn-query-error"), "header")
        sqs.expect({"__type", "message"}, set(json.loads(error.body)), "members")
    else:
        root = ElementTree.fromstring(error.body)
        parts = [re.sub("{.*}", "", part.tag) for part in root.iter()]
        sqs.expect(["ErrorResponse", "Error", "Type", "Code", "Message", "Detail",
                    "RequestId"], parts, "elements")


# Raw HTTP: what SDKs and proxies send, and http.client does not.

class Raw:
    """A socket to the server."""

    def __init__(self, sqs):
        self.sqs = sqs
        self.socket = socket.create_connection((sqs.server.host, sqs.server.port),
                                               timeout=HANG_S)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the answer may be on its way all the same

    def answer(self):
        """The status, the headers and the body of the next answer."""
        status = self.stream.readline().split()
        if len(status) < 2:
            return None, {}, b""
        headers = {}
        for line in iter(self.stream.readline, b"\r\n"):
            if not line:
                break
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = self.stream.read(int(headers.get("content-length", 0)))
        return int(status[1]), headers, body


def head(headers, version="1.1", method="POST", path="/"):
    lines = ["%s %s HTTP/%s" % (method, path, version)]
    lines += ["%s: %s" % pair for pair in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def encoded(sqs, action, **members):
    _, _, headers, body = sqs.client.encode(action, members)
    return dict({"Host": "%s:%d" % (sqs.server.host, sqs.server.port)}, **headers), body


def i108_chunked_bodies(sqs):
    url = sqs.queue()
    headers, body = encoded(sqs, "SendMessage", QueueUrl=url, MessageBody="in chunks")
    data = head(dict(headers, **{"Transfer-Encoding": "chunked"}))
    for i in range(0, len(body), 7):
        chunk = body[i:i + 7]
        data += b"%x\r\n%s\r\n" % (len(chunk), chunk)
    with Raw(sqs) as raw:
        raw.send(data + b"0\r\n\r\n")
        sqs.expect(200, raw.answer()[0], "status")
    sqs.expect("in chunks", sqs.one(url)["Body"], "received")


def i108b_expect_100_continue(sqs):
    url = sqs.queue()
    headers, body = encoded(sqs, "SendMessage", QueueUrl=url, MessageBody="expected")
    with Raw(sqs) as raw:
        raw.send(head(dict(headers, **{"Content-Length": len(body),
                                            "Expect": "100-continue"})))
        sqs.expect(100, raw.answer()[0], "first")
        raw.send(body)
        sqs.expect(200, raw.answer()[0], "then")
    sqs.expect("expected", sqs.one(url)["Body"], "received")


def i108c_a_hundred_requests_in_a_row(sqs):
    url = sqs.fifo()
    data = b""
    for i in range(100):
        headers, body = encoded(sqs, "SendMessage", QueueUrl=url, MessageBody=str(i),
                                MessageGroupId="g")
        data += head(dict(headers, **{"Content-Length": len(body)})) + body
    with Raw(sqs) as raw:
        raw.send(data)
        sqs.expect([200] * 100, [raw.answer()[0] for _ in range(100)], "answers")
    bodies = []
    while len(bodies) < 100:
        messages = sqs.await_messages(url, 10)
        bodies += [message["Body"] for message in messages]
        sqs.ok("DeleteMessageBatch", QueueUrl=url, Entries=[
            {"Id": str(i), "ReceiptHandle": message["ReceiptHandle"]}
            for i, message in enumerate(messages)])
    sqs.expect([str(i) for i in range(100)], bodies, "in order")


def i108d_http_1_0_and_names_of_headers(sqs):
    url = sqs.queue()
    headers, body = encoded(sqs, "SendMessage", QueueUrl=url, MessageBody="old")
    headers["Content-Length"] = len(body)
    with Raw(sqs) as raw:
        raw.send(head(headers, "1.0") + body)
        sqs.expect(200, raw.answer()[0], "HTTP/1.0")
        sqs.expect(b"", raw.stream.read(1), "closed")
    for change in (str.upper, str.lower, str.swapcase):
        with Raw(sqs) as raw:
            raw.send(head({change(name): value
                                for name, value in headers.items()}) + body)
            sqs.expect(200, raw.answer()[0], "names of headers")
    sqs.expect((4, 0, 0), sqs.counts(url), "sent")


def i108e_a_body_of_two_megabytes(sqs):
    url = sqs.queue()
    headers, body = encoded(sqs, "SendMessage", QueueUrl=url, MessageBody="x" * 2000000)
    with Raw(sqs) as raw:
        raw.send(head(dict(headers, **{"Content-Length": len(body)})) + body)
        status = raw.answer()[0]
        sqs.true(status in (400, 413), "status %s", status)
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")


def i108f_a_connection_is_kept(sqs):
    url = sqs.queue()
    headers, body = encoded(sqs, "SendMessage", QueueUrl=url, MessageBody="x")
    headers["Content-Length"] = len(body)
    with Raw(sqs) as raw:
        for _ in range(3):
            raw.send(head(headers) + body)
            sqs.expect(200, raw.answer()[0], "kept")
        raw.send(head(dict(headers, Connection="close")) + body)
        sqs.expect(200, raw.answer()[0], "the last")
        sqs.expect(b"", raw.stream.read(1), "closed when asked to")


@only("query")
def i110_fields_without_an_index_and_with_gaps(sqs):
    name = sqs.name()
    reply = sqs.client.form(query("CreateQueue", QueueName=name) + [
        ("Attribute.Name", "DelaySeconds"), ("Attribute.Value", "7")])
    sqs.expect(200, reply.status, "without an index")
    url = reply.result["QueueUrl"]
    sqs.expect({"DelaySeconds": "7"}, sqs.attributes(url, "DelaySeconds"), "set")
    reply = sqs.client.form(query("SetQueueAttributes", QueueUrl=url) + [
        ("Attribute.3.Name", "DelaySeconds"), ("Attribute.3.Value", "8"),
        ("Attribute.7.Value", "9"), ("Attribute.7.Name", "VisibilityTimeout")])
    sqs.expect(200, reply.status, "with gaps")
    sqs.expect({"DelaySeconds": "8", "VisibilityTimeout": "9"},
               sqs.attributes(url, "DelaySeconds", "VisibilityTimeout"), "set")
    reply = sqs.client.form(query("GetQueueAttributes", QueueUrl=url) + [
        ("AttributeName", "DelaySeconds")])
    sqs.expect({"DelaySeconds": "8"}, reply.result.get("Attributes"), "a list of one")
    reply = sqs.client.form(query("GetQueueAttributes", QueueUrl=url) + [
        ("AttributeName.2", "DelaySeconds"), ("AttributeName.5", "VisibilityTimeout")])
    sqs.expect({"DelaySeconds": "8", "VisibilityTimeout": "9"},
               reply.result.get("Attributes"), "a list with gaps")


@only("query")
def i111_who_am_i(sqs):
    """STS, which tools ask first."""
    reply = sqs.client.endpoint.request(
        "POST", "/", {"Content-Type": "application/x-www-form-urlencoded"},
        b"Action=GetCallerIdentity&Version=2011-06-15")
    sqs.expect(200, reply.status, "status")
    root = ElementTree.fromstring(reply.body)
    space = "{https://sts.amazonaws.com/doc/2011-06-15/}"
    sqs.expect(space + "GetCallerIdentityResponse", root.tag, "root")
    account = root.findtext("%sGetCallerIdentityResult/%sAccount" % (space, space))
    sqs.expect(sqs.queue().split("/")[-2], account, "account")


def i112_integers_of_both_forms(sqs):
    """VisibilityTimeout of a batch's entry, the numbers of a receive."""
    url = sqs.queue()
    sqs.send(url, "x", DelaySeconds=0)
    message = sqs.ok("ReceiveMessage", QueueUrl=url, MaxNumberOfMessages=10,
                     WaitTimeSeconds=20, VisibilityTimeout=43200)["Messages"][0]
    result = sqs.ok("ChangeMessageVisibilityBatch", QueueUrl=url, Entries=[
        {"Id": "a", "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0}])
    sqs.expect([{"Id": "a"}], result.get("Successful"), "changed")
    sqs.fails(INVALID, None, "ListQueues", MaxResults=0)
    sqs.fails(INVALID, None, "ListQueues", MaxResults=1001)
