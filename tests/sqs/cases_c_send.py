# SPDX-License-Identifier: Apache-2.0
"""C. Sending."""

import re
import time

from harness import INVALID, MISSING, binary, md5, md5_of, slow, text

MOST = 1048576
TOO_LONG = "One or more parameters are invalid. Reason: Message must be shorter than " \
    "%d bytes."
TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
IDS = "Value %s for parameter %s is invalid. Reason: %s can only include alphanumeric " \
    "and punctuation characters. 1 to 128 in length."
UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def c31_bodies_come_back_as_they_were(sqs):
    url = sqs.queue()
    for body in ("plain", "1\r\n2\r3\n4\t5", "\"quotes\" and 'more' \\ /", "<a>&amp;</a>",
                 "]]>", "\U0001f4ec \U0010fffd", "\ufffd \ud7ff \ue000", " spaces  ",
                 "+%20%", "{\"json\": [1, 2]}", "\u0085\u2028\u007f", "\r"):
        sent = sqs.send(url, body)
        sqs.expect(["MD5OfMessageBody", "MessageId"], sorted(sent), "members of a send")
        sqs.expect(md5(body), sent["MD5OfMessageBody"], "MD5 of %r, sent" % body)
        sqs.true(re.fullmatch(UUID, sent["MessageId"]), "id %s", sent["MessageId"])
        message = sqs.one(url)
        sqs.expect(["Body", "MD5OfBody", "MessageId", "ReceiptHandle"], sorted(message),
                   "members of a message")
        sqs.expect((body, md5(body), sent["MessageId"]),
                   (message["Body"], message["MD5OfBody"], message["MessageId"]),
                   "received")


def c32_characters_that_are_not_allowed(sqs):
    url = sqs.queue()
    for body in ("a\x00b", "\x08", "\x13", "\x0b", "\x1f", "\ufffe", "\uffff"):
        sqs.fails("InvalidMessageContents", None, "SendMessage", QueueUrl=url,
                  MessageBody=body)
    reply = sqs.call("SendMessage", QueueUrl=url, MessageBody="lone \ud800 surrogate")
    sqs.expect(400, reply.status, "a lone surrogate")
    sqs.expect((0, 0, 0), sqs.counts(url), "nothing was sent")


def c33_a_body_is_required(sqs):
    url = sqs.queue()
    words = "The request must contain the parameter MessageBody."
    sqs.fails(MISSING, words, "SendMessage", QueueUrl=url, MessageBody="")
    sqs.fails(MISSING, words, "SendMessage", QueueUrl=url)


def c34_a_message_has_at_most_one_mebibyte(sqs):
    url = sqs.queue()
    body = "x" * MOST
    sqs.expect(md5(body), sqs.send(url, body)["MD5OfMessageBody"], "1 MiB")
    message = sqs.one(url)
    sqs.true(message["Body"] == body, "another body of %d", len(message["Body"]))
    sqs.fails(INVALID, TOO_LONG % MOST, "SendMessage", QueueUrl=url,
              MessageBody=body + "x")
    # The name, the type and the value count: 1 + 6 + 3 bytes.
    attributes = {"a": text("123")}
    sqs.send(url, "x" * (MOST - 10), MessageAttributes=attributes)
    sqs.fails(INVALID, TOO_LONG % MOST, "SendMessage", QueueUrl=url,
              MessageBody="x" * (MOST - 9), MessageAttributes=attributes)
    sqs.fails(INVALID, TOO_LONG % MOST, "SendMessage", QueueUrl=url,
              MessageBody="\u00e9" * (MOST // 2) + "x")


def c34b_one_mebibyte_that_has_to_be_escaped(sqs):
    url = sqs.queue()
    for body in ("\"" * MOST, "\u00e9" * (MOST // 2)):
        sqs.send(url, body)
        sqs.true(sqs.one(url)["Body"] == body, "another body")


def c35_the_limit_of_the_queue(sqs):
    url = sqs.queue(MaximumMessageSize=1024)
    sqs.send(url, "x" * 1024)
    sqs.fails(INVALID, TOO_LONG % 1024, "SendMessage", QueueUrl=url,
              MessageBody="x" * 1025)
    sqs.set(url, MaximumMessageSize=2048)
    sqs.send(url, "x" * 1025)
    sqs.fails(INVALID, TOO_LONG % 2048, "SendMessage", QueueUrl=url,
              MessageBody="x" * 2049)


@slow
def c36_delays(sqs):
    url = sqs.queue(DelaySeconds=2)
    for delay in (-1, 901):
        sqs.fails(INVALID, None, "SendMessage", QueueUrl=url, MessageBody="x",
                  DelaySeconds=delay)
    sqs.send(url, "at once", DelaySeconds=0)
    sqs.expect(["at once"], sqs.bodies(url), "0 overrides the queue's delay")
    started = time.monotonic()
    sqs.send(url, "of the queue")
    sqs.expect("of the queue", sqs.one(url)["Body"], "delayed")
    sqs.not_before(started, 2, "the queue's delay")
    started = time.monotonic()
    sqs.send(url, "its own", DelaySeconds=1)
    sqs.expect("its own", sqs.one(url)["Body"], "delayed")
    sqs.not_before(started, 1, "its own delay")
    sqs.send(url, "most", DelaySeconds=900)
    sqs.expect((0, 3, 1), sqs.counts(url), "counts")


def c37_message_attributes(sqs):
    url = sqs.queue()
    good = {"n%d" % i: text("v") for i in range(10)}
    sent = sqs.send(url, "x", MessageAttributes=good)
    sqs.expect(md5_of(good), sent.get("MD5OfMessageAttributes"), "MD5 of ten")
    sqs.one(url)
    odd = {"N" * 256: text("v"), "a.b-c_d": text("v", "String.my.own"),
           "num": text("12", "Number.java.lang.Long"), "attr.1\u00f8\u00df": text("v")}
    sqs.send(url, "x", MessageAttributes=odd)
    message = sqs.one(url, MessageAttributeNames=["All"])
    sqs.expect(odd, message.get("MessageAttributes"), "received, types and all")
    sqs.expect(md5_of(odd), message.get("MD5OfMessageAttributes"), "their MD5")

    def refused(shape, words, attributes):
        sqs.fails(shape, words, "SendMessage", QueueUrl=url, MessageBody="x",
                  MessageAttributes=attributes)

    refused(INVALID, None, dict(good, one_more=text("v")))
    for name in ("N" * 257, "AWS.x", "aWs.x", "amazon.x", "AMAZON.x", ".x", "x.", "a!b",
                 "a b", "a\u00a7b", "a?b"):
        refused(INVALID, None, {name: text("v")})
    for kind in ("Foo", "Number." + "L" * 256, "string", ""):
        refused(INVALID, None, {"a": text("1", kind)})
    refused(INVALID, "Message (user) attribute 'Empty' must contain a non-empty value of "
            "type 'String'.", {"Empty": text("")})
    refused(INVALID, None, {"a": text("bell \x07")})
    refused(INVALID, None, {"a": text("\x08,\x0b")})
    refused(INVALID, None, {"a": {"DataType": "String"}})


def c38_numbers(sqs):
    url = sqs.queue()
    for value in ("abc", "", "1,5", "0x10", "1 2"):
        sqs.fails(INVALID, None, "SendMessage", QueueUrl=url, MessageBody="x",
                  MessageAttributes={"n": text(value, "Number")})
    attributes = {"a": text("1.50", "Number"), "b": text("-12", "Number"),
                  "c": text("1e3", "Number.float")}
    sqs.send(url, "x", MessageAttributes=attributes)
    message = sqs.one(url, MessageAttributeNames=["All"])
    sqs.expect(attributes, message["MessageAttributes"], "kept as sent")


def c39_binary_attributes(sqs):
    url = sqs.queue()
    attributes = {"all": binary(bytes(range(256))), "own": binary(b"\0", "Binary.gif"),
                  "text": text("t")}
    sent = sqs.send(url, "x", MessageAttributes=attributes)
    sqs.expect(md5_of(attributes), sent["MD5OfMessageAttributes"], "MD5")
    message = sqs.one(url, MessageAttributeNames=["All"])
    sqs.expect(attributes, message["MessageAttributes"], "received")
    sqs.expect(md5_of(attributes), message["MD5OfMessageAttributes"], "MD5, received")


def c39b_known_md5s(sqs):
    url = sqs.queue()
    for attributes, wanted in (
            ({"MyAttribute": text("foobar")}, "adb59cd4678ea5a855436b949cd07ab6"),
            ({"test-key": text("test-value")}, "befa18540a897f7d022bf07057754a03"),
            ({"timestamp": text("1493147359900", "Number.java.lang.Long")},
             "2e2e4876d8e0bd6b8c2c8f556831c349"),
            ({"attr1": binary(b"traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-"
                              b"2d2482211f6489da-01")},
             "8cbe4db156db8a94db8b801b7addb984")):
        sent = sqs.send(url, "x", MessageAttributes=attributes)
        sqs.expect(wanted, sent.get("MD5OfMessageAttributes"), str(attributes))


def c40_lists_are_not_supported(sqs):
    url = sqs.queue()
    for value in ({"DataType": "String", "StringListValues": ["a", "b"]},
                  {"DataType": "Binary", "BinaryListValues": ["YQ==", "Yg=="]}):
        sqs.fails("UnsupportedOperation", None, "SendMessage", QueueUrl=url,
                  MessageBody="x", MessageAttributes={"a": value})


def c41_trace_headers(sqs):
    url = sqs.queue()
    attributes = {"timestamp": text("1493147359900", "Number")}
    without = sqs.send(url, "x", MessageAttributes=attributes)
    sqs.true("MD5OfMessageSystemAttributes" not in without, "an MD5 of nothing")
    sqs.one(url)
    sent = sqs.send(url, "x", MessageAttributes=attributes,
                    MessageSystemAttributes={"AWSTraceHeader": text(TRACE)})
    sqs.expect("5ae4d5d7636402d80f4eb6d213245a88",
               sent.get("MD5OfMessageSystemAttributes"), "MD5")
    sqs.expect(without["MD5OfMessageAttributes"], sent["MD5OfMessageAttributes"],
               "MD5 of the other attributes")
    message = sqs.one(url, MessageSystemAttributeNames=["AWSTraceHeader"])
    sqs.expect({"AWSTraceHeader": TRACE}, message.get("Attributes"), "received")

    sqs.send(url, "x", headers={"X-Amzn-Trace-Id": TRACE})
    message = sqs.one(url, AttributeNames=["AWSTraceHeader"])
    sqs.expect({"AWSTraceHeader": TRACE}, message.get("Attributes"), "of the header")


def c42_groups_on_a_standard_queue(sqs):
    url = sqs.queue()
    for group in ("g", "g" * 128, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"):
        sqs.send(url, "x", group)
        message = sqs.one(url, AttributeNames=["All"])
        sqs.expect(group, sqs.system(message, "MessageGroupId"), "the group")
    for group in ("", "g" * 129, "a b"):
        sqs.fails(INVALID, IDS % (group, "MessageGroupId", "MessageGroupId"),
                  "SendMessage", QueueUrl=url, MessageBody="x", MessageGroupId=group)
    sqs.fails(INVALID, None, "SendMessage", QueueUrl=url, MessageBody="x",
              MessageDeduplicationId="d")


def c42b_groups_do_not_lock_a_standard_queue(sqs):
    url = sqs.queue()
    for body in ("one", "two", "three"):
        sqs.send(url, body, "g")
    sqs.expect({"one", "two", "three"},
               {sqs.one(url)["Body"] for _ in range(3)}, "all three")


def c43_standard_queues_have_no_sequence_numbers(sqs):
    url = sqs.queue()
    sqs.true("SequenceNumber" not in sqs.send(url, "x"), "a SequenceNumber")
    batch = sqs.ok("SendMessageBatch", QueueUrl=url,
                   Entries=[{"Id": "a", "MessageBody": "x"}])
    sqs.true("SequenceNumber" not in batch["Successful"][0], "in a batch")
    message = sqs.one(url, AttributeNames=["All"])
    sqs.true("SequenceNumber" not in message["Attributes"], "of a message")
