# SPDX-License-Identifier: Apache-2.0
"""The scenarios for clients that are written in Python: boto3 and awscli.

    scenarios.py boto3|awscli

node/scenarios.mjs has the same ones. A client is called with the action and the
members as in AWS's reference; bytes are bytes.
"""

import base64
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
import traceback

ENDPOINT = os.environ["ENDPOINT"]
TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793"


class Refused(Exception):
    """An error of SQS: its code, and the class of the client's exception."""

    def __init__(self, code, kind, message):
        super().__init__("%s: %s" % (code, message))
        self.code = code
        self.kind = kind


def words(action):
    return re.findall("[A-Z][a-z]+", action)


class Boto3:
    def __init__(self):
        import boto3
        import botocore.config
        self.client = boto3.client(
            "sqs", endpoint_url=ENDPOINT,
            config=botocore.config.Config(retries={"max_attempts": 0}, read_timeout=60))

    def call(self, action, **members):
        from botocore.exceptions import ClientError
        try:
            result = getattr(self.client, "_".join(words(action)).lower())(**members)
        except ClientError as error:
            said = error.response["Error"]
            raise Refused(said["Code"], type(error).__name__, said["Message"]) from error
        result.pop("ResponseMetadata")
        return result


class Awscli:
    """The program's own code in this process, where a call takes 20 ms and not a
    second; `started` is the program."""

    def __init__(self):
        from awscli.clidriver import create_clidriver
        self.driver = create_clidriver()

    def arguments(self, action, members):
        given = json.dumps(members, default=lambda data: base64.b64encode(data).decode())
        return ["--endpoint-url", ENDPOINT, "--output", "json", "--no-paginate", "sqs",
                "-".join(words(action)).lower(), "--cli-input-json", given]

    def call(self, action, **members):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = self.driver.main(self.arguments(action, members))
        return self.read(status, out.getvalue(), err.getvalue())

    def started(self, action, **members):
        done = subprocess.run(["/usr/bin/aws", *self.arguments(action, members)],
                              capture_output=True, text=True)
        return self.read(done.returncode, done.stdout, done.stderr)

    def read(self, status, out, err):
        if status == 0:
            return json.loads(out, object_hook=with_bytes) if out.strip() else {}
        said = re.search(r"An error occurred \((\S+)\) when calling.*?: (.*)", err,
                         re.DOTALL)
        if not said:
            raise RuntimeError("exit %s: %s" % (status, err))
        raise Refused(said[1], None, said[2].strip())


def with_bytes(members):
    if "BinaryValue" in members:
        members["BinaryValue"] = base64.b64decode(members["BinaryValue"])
    return members


class Scenarios:
    def __init__(self, name, client):
        self.name = name
        self.client = client
        self.call = client.call
        self.count = 0

    def queue(self, suffix="", **attributes):
        self.count += 1
        name = "%s-%d%s" % (self.name, self.count, suffix)
        return self.call("CreateQueue", QueueName=name,
                         Attributes=attributes)["QueueUrl"]

    def fifo(self, **attributes):
        return self.queue(".fifo", FifoQueue="true", **attributes)

    def receive(self, url, count, **more):
        """So many messages, which have to come."""
        messages = []
        for _ in range(20):
            messages += self.call("ReceiveMessage", QueueUrl=url, WaitTimeSeconds=5,
                                  MaxNumberOfMessages=count - len(messages),
                                  **more).get("Messages", [])
            if len(messages) == count:
                return messages
        raise AssertionError("%d of %d messages came" % (len(messages), count))

    def refused(self, code, kind, action, **members):
        try:
            self.call(action, **members)
        except Refused as error:
            assert error.code == code, "%s: %s, not %s" % (action, error, code)
            assert error.kind in (None, kind), "%s: raised %s, not %s" % (
                action, error.kind, kind)
            return
        raise AssertionError("%s was not refused" % action)

    def create_find_and_delete_a_queue(self):
        url = self.queue(VisibilityTimeout="40")
        name = url.split("/")[-1]
        assert self.call("GetQueueUrl", QueueName=name)["QueueUrl"] == url
        found = self.call("GetQueueAttributes", QueueUrl=url,
                          AttributeNames=["All"])["Attributes"]
        assert found["VisibilityTimeout"] == "40", found
        assert found["QueueArn"].endswith(":" + name), found
        self.call("SetQueueAttributes", QueueUrl=url, Attributes={"DelaySeconds": "3"})
        found = self.call("GetQueueAttributes", QueueUrl=url,
                          AttributeNames=["DelaySeconds"])["Attributes"]
        assert found == {"DelaySeconds": "3"}, found
        self.call("DeleteQueue", QueueUrl=url)
        self.refused("AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist",
                     "GetQueueUrl", QueueName=name)

    def send_and_receive_with_attributes(self):
        url = self.queue()
        attributes = {
            "text": {"DataType": "String", "StringValue": "\u00e9 & <x>"},
            "number": {"DataType": "Number.int", "StringValue": "12"},
            "bytes": {"DataType": "Binary", "BinaryValue": bytes(range(256))}}
        body = "line\r\nline \U0001f4ec \"quoted\" <&>"
        sent = self.call("SendMessage", QueueUrl=url, MessageBody=body,
                         MessageAttributes=attributes, MessageSystemAttributes={
                             "AWSTraceHeader": {"DataType": "String",
                                                "StringValue": TRACE}})
        assert sent["MD5OfMessageBody"] == hashlib.md5(body.encode()).hexdigest()
        [message] = self.receive(url, 1, AttributeNames=["All"],
                                 MessageAttributeNames=["All"])
        assert message["MessageId"] == sent["MessageId"]
        assert message["Body"] == body, message["Body"]
        assert message["MD5OfBody"] == sent["MD5OfMessageBody"]
        assert message["MessageAttributes"] == attributes, message
        assert message["MD5OfMessageAttributes"] == sent["MD5OfMessageAttributes"]
        assert message["Attributes"]["AWSTraceHeader"] == TRACE, message
        assert message["Attributes"]["ApproximateReceiveCount"] == "1", message

    def change_visibility_and_delete(self):
        url = self.queue()
        self.call("SendMessage", QueueUrl=url, MessageBody="x")
        [message] = self.receive(url, 1)
        self.call("ChangeMessageVisibility", QueueUrl=url, VisibilityTimeout=0,
                  ReceiptHandle=message["ReceiptHandle"])
        [message] = self.receive(url, 1, AttributeNames=["ApproximateReceiveCount"])
        assert message["Attributes"] == {"ApproximateReceiveCount": "2"}, message
        self.call("DeleteMessage", QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        found = self.call("GetQueueAttributes", QueueUrl=url, AttributeNames=[
            "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"])
        assert set(found["Attributes"].values()) == {"0"}, found

    def batches(self):
        url = self.queue()
        bodies = ["body %d" % i for i in range(9)] + ["\x01"]
        sent = self.call("SendMessageBatch", QueueUrl=url, Entries=[
            {"Id": "e%d" % i, "MessageBody": body} for i, body in enumerate(bodies)])
        assert len(sent["Successful"]) == 9, sent
        [failed] = sent["Failed"]
        assert (failed["Id"], failed["Code"], failed["SenderFault"]) == (
            "e9", "InvalidMessageContents", True), failed
        messages = self.receive(url, 9)
        entries = [{"Id": str(i), "ReceiptHandle": message["ReceiptHandle"]}
                   for i, message in enumerate(messages)]
        changed = self.call("ChangeMessageVisibilityBatch", QueueUrl=url, Entries=[
            dict(entry, VisibilityTimeout=100) for entry in entries])
        assert len(changed["Successful"]) == 9 and "Failed" not in changed, changed
        entries[0]["ReceiptHandle"] = "garbage"
        deleted = self.call("DeleteMessageBatch", QueueUrl=url, Entries=entries)
        assert len(deleted["Successful"]) == 8, deleted
        assert deleted["Failed"][0]["Code"] == "ReceiptHandleIsInvalid", deleted

    def fifo_order_and_deduplication(self):
        url = self.fifo(ContentBasedDeduplication="true")
        sent = [self.call("SendMessage", QueueUrl=url, MessageBody=body,
                          MessageGroupId=body[:2])
                for body in ("g1-a", "g2-a", "g1-b", "g1-a")]
        assert sent[3]["MessageId"] == sent[0]["MessageId"]
        assert sent[3]["SequenceNumber"] == sent[0]["SequenceNumber"]
        assert sent[0]["SequenceNumber"] < sent[1]["SequenceNumber"]
        bodies = [message["Body"] for message in self.receive(url, 3)]
        assert bodies == ["g1-a", "g1-b", "g2-a"], bodies

    def dead_letters(self):
        dead = self.queue()
        arn = self.call("GetQueueAttributes", QueueUrl=dead,
                        AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        url = self.queue(VisibilityTimeout="0", RedrivePolicy=json.dumps(
            {"deadLetterTargetArn": arn, "maxReceiveCount": 1}))
        sent = self.call("SendMessage", QueueUrl=url, MessageBody="poison")
        self.receive(url, 1)
        assert "Messages" not in self.call("ReceiveMessage", QueueUrl=url)
        [message] = self.receive(dead, 1)
        assert message["MessageId"] == sent["MessageId"]
        found = self.call("ListDeadLetterSourceQueues", QueueUrl=dead)
        assert found["queueUrls"] == [url], found

    def tags(self):
        url = self.queue()
        self.call("TagQueue", QueueUrl=url, Tags={"team": "mail", "Team": "Mail"})
        assert self.call("ListQueueTags", QueueUrl=url)["Tags"] == {
            "team": "mail", "Team": "Mail"}
        self.call("UntagQueue", QueueUrl=url, TagKeys=["team", "none"])
        assert self.call("ListQueueTags", QueueUrl=url)["Tags"] == {"Team": "Mail"}
        self.call("UntagQueue", QueueUrl=url, TagKeys=["Team"])
        assert "Tags" not in self.call("ListQueueTags", QueueUrl=url)

    def list_page_by_page(self):
        prefix = self.name + "-page-"
        urls = [self.call("CreateQueue", QueueName=prefix + str(i))["QueueUrl"]
                for i in range(5)]
        found, more = [], {}
        for _ in range(3):
            page = self.call("ListQueues", QueueNamePrefix=prefix, MaxResults=2, **more)
            found += page["QueueUrls"]
            more = {"NextToken": page.get("NextToken")}
        assert sorted(found) == urls and more["NextToken"] is None, (found, more)
        assert "QueueUrls" not in self.call("ListQueues", QueueNamePrefix=prefix + "x")

    def purge(self):
        url = self.queue()
        self.call("SendMessage", QueueUrl=url, MessageBody="x")
        self.call("PurgeQueue", QueueUrl=url)
        assert "Messages" not in self.call("ReceiveMessage", QueueUrl=url)
        self.refused("AWS.SimpleQueueService.PurgeQueueInProgress",
                     "PurgeQueueInProgress", "PurgeQueue", QueueUrl=url)

    def errors_are_the_clients_exceptions(self):
        url = self.queue()
        name = url.split("/")[-1]
        aws = "AWS.SimpleQueueService."
        entry = {"Id": "a", "MessageBody": "x"}
        refused = self.refused
        refused(aws + "NonExistentQueue", "QueueDoesNotExist", "SendMessage",
                QueueUrl=url + "-not", MessageBody="x")
        refused("QueueAlreadyExists", "QueueNameExists", "CreateQueue", QueueName=name,
                Attributes={"DelaySeconds": "9"})
        refused("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", "DeleteMessage",
                QueueUrl=url, ReceiptHandle="garbage")
        refused("InvalidMessageContents", "InvalidMessageContents", "SendMessage",
                QueueUrl=url, MessageBody="\x08")
        refused("InvalidAttributeName", "InvalidAttributeName", "SetQueueAttributes",
                QueueUrl=url, Attributes={"Foo": "1"})
        refused(aws + "EmptyBatchRequest", "EmptyBatchRequest", "SendMessageBatch",
                QueueUrl=url, Entries=[])
        refused(aws + "TooManyEntriesInBatchRequest", "TooManyEntriesInBatchRequest",
                "SendMessageBatch", QueueUrl=url,
                Entries=[dict(entry, Id=str(i)) for i in range(11)])
        refused(aws + "BatchEntryIdsNotDistinct", "BatchEntryIdsNotDistinct",
                "SendMessageBatch", QueueUrl=url, Entries=[entry, entry])
        refused(aws + "InvalidBatchEntryId", "InvalidBatchEntryId", "SendMessageBatch",
                QueueUrl=url, Entries=[dict(entry, Id="a:b")])
        refused("InvalidParameterValue", "ClientError", "ReceiveMessage", QueueUrl=url,
                MaxNumberOfMessages=11)
        refused("OverLimit", "OverLimit", "AddPermission", QueueUrl=url, Label="x",
                AWSAccountIds=["111111111111"], Actions=["SendMessage"] * 8)
        self.call("DeleteQueue", QueueUrl=url)
        refused(aws + "QueueDeletedRecently", "QueueDeletedRecently", "CreateQueue",
                QueueName=name)

    def a_send_wakes_a_long_poll(self):
        url = self.queue()
        poll = getattr(self.client, "started", self.call)
        got = []
        thread = threading.Thread(target=lambda: got.append(
            poll("ReceiveMessage", QueueUrl=url, WaitTimeSeconds=20)))
        thread.start()
        thread.join(1)  # until it waits, most likely
        started = time.monotonic()
        self.call("SendMessage", QueueUrl=url, MessageBody="wake")
        thread.join(60)
        assert got and got[0]["Messages"][0]["Body"] == "wake", got
        assert time.monotonic() - started < 15, "woken after its time"


SCENARIOS = [name for name, value in vars(Scenarios).items()
             if callable(value) and not name.startswith("_")
             and name not in ("queue", "fifo", "receive", "refused")]


def main():
    name = sys.argv[1]
    scenarios = Scenarios(name, {"boto3": Boto3, "awscli": Awscli}[name]())
    for scenario in SCENARIOS:
        try:
            getattr(scenarios, scenario)()
            print("ok - " + scenario.replace("_", " "))
        except Exception:
            print("not ok - " + scenario.replace("_", " "))
            print(traceback.format_exc())
        sys.stdout.flush()


if __name__ == "__main__":
    main()
