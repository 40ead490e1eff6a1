# SPDX-License-Identifier: Apache-2.0
"""Bad bodies and parameters: reliability, section 5, B and C. What the cases A to I
have already is not repeated; the numbers are those of the list."""

import base64
import json
import os

from harness import INVALID, MISSING, only, text
from wire import VERSION

SERIALIZATION = "SerializationException"


def alive(sqs):
    """The server still answers."""
    sqs.ok("ListQueues", QueueNamePrefix="no such prefix")


@only("json")
def x32_bytes_behind_the_object(sqs):
    for body in (b'{"a":1}x', b'{"a":1}{}', b'{"a":1},', b'{"a"', b'{"a":', b'{"a":1,}',
                 b"{", b'{"a":tru}', b'{"a":01}', b"\xef\xbb\xbf{}"):
        reply = sqs.client.raw("ListQueues", body)
        sqs.refused(SERIALIZATION, None, reply, repr(body))
    sqs.expect(200, sqs.client.raw("ListQueues", b" \r\n\t{ } \n").status, "blanks")


@only("json")
def x33_too_deep(sqs):
    for depth in (40, 1000, 100000):
        body = b'{"a":' * depth + b"1" + b"}" * depth
        sqs.refused(SERIALIZATION, None, sqs.client.raw("ListQueues", body),
                    "%d objects" % depth)
        body = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
        sqs.refused(SERIALIZATION, None, sqs.client.raw("ListQueues", body),
                    "%d arrays" % depth)
    alive(sqs)


@only("json")
def x34_a_key_twice(sqs):
    url = sqs.queue()
    body = json.dumps({"QueueUrl": url, "MessageBody": "one"})[:-1] + \
        ', "MessageBody": "two"}'
    sqs.refused(SERIALIZATION, None, sqs.client.raw("SendMessage", body.encode()),
                "two bodies")
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")


@only("json")
def x35_texts_that_are_no_unicode(sqs):
    url = sqs.queue()
    start = ('{"QueueUrl":"%s","MessageBody":"' % url).encode()
    for bad in (b"\\ud800", b"\\udc00\\ud800", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80",
                b"\xf4\x90\x80\x80", b"\xe2\x82", b"\\u12", b"\\x41", b"a\nb"):
        reply = sqs.client.raw("SendMessage", start + bad + b'"}')
        sqs.refused((SERIALIZATION, "InvalidMessageContents"), None, reply, repr(bad))
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")


@only("query")
def x35b_forms_that_are_no_unicode(sqs):
    url = sqs.queue()
    for bad in ("%FF", "%C0%AF", "%ED%A0%80", "%F4%90%80%80", "%E2%82", "%00"):
        reply = sqs.client.form("Action=SendMessage&QueueUrl=%s&MessageBody=%s" % (
            url.split("/")[-1], bad))
        sqs.expect(400, reply.status, bad)
    for bad in ("%zz", "%", "%4"):
        reply = sqs.client.form("Action=SendMessage&QueueUrl=%s&MessageBody=x%s" % (
            url.split("/")[-1], bad))
        sqs.true(reply.status in (200, 400), "%s: %s", bad, reply)
    alive(sqs)


@only("json")
def x36_values_of_the_wrong_kind(sqs):
    url = json.dumps(sqs.queue())
    kinds = (SERIALIZATION, INVALID)
    for name, values in (
            ("MessageBody", ("5", "true", "{}", "[]")),
            ("DelaySeconds", ('"abc"', "10.5", "1e400", "9223372036854775808",
                              "-9223372036854775809", "{}", "true",
                              "123456789012345678901234567890")),
            ("MessageAttributes", ('"text"', "[]", '{"a": "b"}',
                                   '{"a": {"DataType": 1}}')),
            ("MessageGroupId", ("7", "[]"))):
        for value in values:
            body = '{"QueueUrl":%s,"%s":%s' % (url, name, value)
            body += "}" if name == "MessageBody" else ',"MessageBody":"x"}'
            reply = sqs.client.raw("SendMessage", body.encode())
            sqs.refused(kinds, None, reply, "%s: %s" % (name, value))
    for value in ('"text"', "{}", '["a"]', "[[]]", "[1]"):
        reply = sqs.client.raw("SendMessageBatch", (
            '{"QueueUrl":%s,"Entries":%s}' % (url, value)).encode())
        sqs.expect(400, reply.status, "Entries: " + value)


@only("json")
def x36c_words_for_values_of_the_wrong_kind(sqs):
    url = json.dumps(sqs.queue())
    for name, value, kinds in (
            ("DelaySeconds", '"1"', ("STRING", "an Integer")),
            ("DelaySeconds", "true", ("TRUE", "an Integer")),
            ("MessageGroupId", "5", ("NUMBER", "a String")),
            ("MessageGroupId", "false", ("FALSE", "a String"))):
        reply = sqs.client.raw("SendMessage", (
            '{"QueueUrl":%s,"MessageBody":"x","%s":%s}' % (url, name, value)).encode())
        sqs.refused(SERIALIZATION, "%s_VALUE can not be converted to %s" % kinds, reply,
                    "%s: %s" % (name, value))


@only("query")
def x36b_numbers_that_are_none(sqs):
    url = sqs.queue()
    for value in ("abc", "10.5", "1e3", "", "9223372036854775808", "0x10", " 5", "5 "):
        sqs.fails((INVALID, "SerializationException"), None, "SendMessage",
                  QueueUrl=url, MessageBody="x", DelaySeconds=value)
        sqs.fails((INVALID, "SerializationException"), None, "ReceiveMessage",
                  QueueUrl=url, MaxNumberOfMessages=value)
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")


def x37_unknown_members_are_ignored(sqs):
    url = sqs.queue()
    sqs.ok("SendMessage", QueueUrl=url, MessageBody="x", Foo="bar", NextThing=5)
    sqs.expect((1, 0, 0), sqs.counts(url), "sent")


@only("json")
def x38_no_target(sqs):
    reply = sqs.client.endpoint.request(
        "POST", "/", {"Content-Type": "application/x-amz-json-1.0"}, b"{}")
    sqs.true(reply.status in (400, 404), "no X-Amz-Target: %s", reply)


@only("query")
def x38b_no_action(sqs):
    for method, body in (("POST", "Version=" + VERSION), ("POST", ""),
                         ("GET", "Version=" + VERSION)):
        reply = sqs.client.form(body, method)
        sqs.true(reply.status in (400, 404), "no Action: %s", reply)


@only("json")
def x39_content_types(sqs):
    for kind in ("text/plain", "application/xml", "image/png"):
        reply = sqs.client.endpoint.request("POST", "/", {"Content-Type": kind}, b"{}")
        sqs.true(reply.status in (400, 404, 415), "%s: %s", kind, reply)
    reply = sqs.client.call("ListQueues", headers={
        "Content-Type": "application/x-amz-json-1.0; charset=utf-8"})
    sqs.expect(200, reply.status, "with a charset")


@only("query")
def x40_indexes_that_are_none(sqs):
    url = sqs.queue()
    for index in ("0", "1000000000", "-1", "99999999999999999999", "x", "1x", ""):
        reply = sqs.client.form([
            ("Action", "SetQueueAttributes"), ("QueueUrl", url),
            ("Attribute.%s.Name" % index, "DelaySeconds"),
            ("Attribute.%s.Value" % index, "5")])
        sqs.true(reply.status in (200, 400), "index %r: %s", index, reply)
    alive(sqs)


@only("query")
def x41_a_million_fields(sqs):
    fields = "Action=ListQueues&" + "&".join(["a=b"] * 200000)
    reply = sqs.client.endpoint.request(
        "POST", "/", {"Content-Type": "application/x-www-form-urlencoded"},
        fields.encode())
    sqs.true(reply.status in (200, 400, 413), "many fields: %s", reply)
    alive(sqs)


def x42_names_of_queues(sqs):
    for name in ("a/b", "a b", "\u00fc", "../x", "a.b", "x.fifo.fifo", ".fifo"):
        sqs.fails(INVALID, None, "CreateQueue", QueueName=name)
    sqs.fails((INVALID, SERIALIZATION), None, "CreateQueue", QueueName="a\x00")
    for name in ("a/b", "\u00fc", "../x"):
        reply = sqs.call("GetQueueUrl", QueueName=name)
        sqs.refused((INVALID, "QueueDoesNotExist"), None, reply, name)


def x46_queues_of_others(sqs):
    name = sqs.name()
    sqs.create(name)
    for account in ("999999999999",):
        reply = sqs.call("SendMessage", MessageBody="x",
                         QueueUrl="%s/%s/%s" % (sqs.server.url, account, name))
        sqs.refused(("QueueDoesNotExist", "InvalidAddress"), None, reply, account)


def x49_attributes_of_messages(sqs):
    url = sqs.queue()
    for attributes in ({"a..b": text("v")}, {"a": text("1" * 40, "Number")},
                       {"a": text("1e200", "Number")}, {"": text("v")},
                       {"a": {"DataType": "Binary", "BinaryValue": ""}},
                       {"a": {"DataType": "Binary", "StringValue": "v"}},
                       {"a": {"DataType": "String", "BinaryValue": "dg=="}},
                       {"a": {"StringValue": "v"}}):
        sqs.fails(INVALID, None, "SendMessage", QueueUrl=url, MessageBody="x",
                  MessageAttributes=attributes)
    reply = sqs.call("SendMessage", QueueUrl=url, MessageBody="x", MessageAttributes={
        "a": {"DataType": "Binary", "BinaryValue": "no base64!"}})
    sqs.refused((INVALID, SERIALIZATION), None, reply, "no base64")
    sqs.fails(INVALID, None, "SendMessage", QueueUrl=url, MessageBody="x",
              MessageSystemAttributes={"Foo": text("v")})
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")


def x56_receipts(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    good = sqs.one(url)["ReceiptHandle"]
    flipped = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
    middle = good[:8] + ("A" if good[8] != "A" else "B") + good[9:]
    random = base64.b64encode(os.urandom(60)).decode()
    for handle in ("x" * 1025, random, flipped, middle, good[:-4], good + "AAAA",
                   "x" * 100000, "\u00e9", "..", "AQEB" + good):
        for action, more in (("DeleteMessage", {}),
                             ("ChangeMessageVisibility", {"VisibilityTimeout": 0})):
            sqs.fails("ReceiptHandleIsInvalid", None, action, QueueUrl=url,
                      ReceiptHandle=handle, **more)
    sqs.fails((MISSING, "ReceiptHandleIsInvalid"), None, "DeleteMessage", QueueUrl=url,
              ReceiptHandle="")
    sqs.expect((0, 1, 0), sqs.counts(url), "nothing was deleted")


def x56b_receipts_of_the_time_before_a_purge(sqs):
    url = sqs.queue()
    sqs.send(url, "x")
    old = sqs.one(url)["ReceiptHandle"]
    sqs.ok("PurgeQueue", QueueUrl=url)
    sqs.send(url, "y")
    reply = sqs.call("DeleteMessage", QueueUrl=url, ReceiptHandle=old)
    sqs.true(reply.status in (200, 404), "an old receipt: %s", reply)
    sqs.expect("y", sqs.one(url)["Body"], "the new message")


def x61_policies_that_are_no_json(sqs):
    url = sqs.queue()
    for name in ("RedrivePolicy", "RedriveAllowPolicy", "Policy"):
        for value in ("{", "text", "[]", "5", '{"a":' * 100):
            reply = sqs.call("SetQueueAttributes", QueueUrl=url, Attributes={name: value})
            sqs.refused((INVALID, "InvalidAttributeValue"), None, reply,
                        "%s %s" % (name, value[:20]))
        sqs.true(name not in sqs.attributes(url), "%s was set", name)


def x64_tokens_that_are_forged(sqs):
    prefix = sqs.name("-")
    for i in range(3):
        sqs.create(prefix + str(i))
    for token in ("forged", "x" * 5000, "\u00e9", base64.b64encode(b"\0" * 40).decode()):
        sqs.fails(INVALID, None, "ListQueues", QueueNamePrefix=prefix, MaxResults=2,
                  NextToken=token)


def x65_tags(sqs):
    url = sqs.queue()
    for tags in ({"aws:x": "1"}, {"k" * 129: "1"}, {"k": "v" * 257}, {"": "v"}):
        sqs.fails(INVALID, None, "TagQueue", QueueUrl=url, Tags=tags)
    sqs.expect({}, sqs.ok("ListQueueTags", QueueUrl=url), "nothing was tagged")
    sqs.ok("TagQueue", QueueUrl=url,
           Tags={"k" * 128: "v" * 256, "\u00fc \U0001f4ec": "x"})
