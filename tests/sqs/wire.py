# SPDX-License-Identifier: Apache-2.0
"""The two wire formats of SQS behind one interface.

    reply = Json(server).call("SendMessage", QueueUrl=url, MessageBody="hello")

Members are those of the JSON form; Query flattens them into fields, and turns its
XML back into the JSON form. A reply has the status, the headers, the result, or the
error; `problems` lists what breaks the rules of the format itself.
"""

import http.client
import json
import re
import threading
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree

import sign
from server import HANG_S

VERSION = "2012-11-05"
NAMESPACE = "http://queue.amazonaws.com/doc/2012-11-05/"
IDLE_S = 5  # a connection that was idle for longer is not used again
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")

# Actions that have no output.
EMPTY = {
    "AddPermission", "ChangeMessageVisibility", "DeleteMessage", "DeleteQueue",
    "PurgeQueue", "RemovePermission", "SetQueueAttributes", "TagQueue", "UntagQueue",
}

SQS = "com.amazonaws.sqs#"
CORAL = "com.amazon.coral.service#"
AWS = "AWS.SimpleQueueService."

# Shape: its namespace in JSON, the code of XML and of x-amzn-query-error, the status.
ERRORS = {
    "QueueDoesNotExist": (SQS, AWS + "NonExistentQueue", 400),
    "QueueNameExists": (SQS, "QueueAlreadyExists", 400),
    "QueueDeletedRecently": (SQS, AWS + "QueueDeletedRecently", 400),
    "PurgeQueueInProgress": (SQS, AWS + "PurgeQueueInProgress", 403),
    "ReceiptHandleIsInvalid": (SQS, "ReceiptHandleIsInvalid", 404),
    "MessageNotInflight": (SQS, AWS + "MessageNotInflight", 400),
    "InvalidMessageContents": (SQS, "InvalidMessageContents", 400),
    "InvalidAttributeName": (SQS, "InvalidAttributeName", 400),
    "InvalidAttributeValue": (SQS, "InvalidAttributeValue", 400),
    "EmptyBatchRequest": (SQS, AWS + "EmptyBatchRequest", 400),
    "TooManyEntriesInBatchRequest": (SQS, AWS + "TooManyEntriesInBatchRequest", 400),
    "BatchEntryIdsNotDistinct": (SQS, AWS + "BatchEntryIdsNotDistinct", 400),
    "BatchRequestTooLong": (SQS, AWS + "BatchRequestTooLong", 400),
    "InvalidBatchEntryId": (SQS, AWS + "InvalidBatchEntryId", 400),
    "UnsupportedOperation": (SQS, AWS + "UnsupportedOperation", 400),
    "OverLimit": (SQS, "OverLimit", 403),
    "InvalidAddress": (SQS, "InvalidAddress", 404),
    "ResourceNotFoundException": (SQS, "ResourceNotFoundException", 404),
    "InvalidParameterValueException": (CORAL, "InvalidParameterValue", 400),
    "MissingRequiredParameterException": (CORAL, "MissingParameter", 400),
    "InvalidRequest": (CORAL, "InvalidRequest", 400),
    "UnknownOperationException": (CORAL, "InvalidAction", 400),
    "SerializationException": (CORAL, "MalformedInput", 400),
}


class Fault:
    """An error: `type` only in JSON; `fault` is Sender or Receiver."""

    def __init__(self, kind, code, fault, message):
        self.type = kind
        self.code = code
        self.fault = fault
        self.message = message

    def __str__(self):
        return "%s (%s, %s): %s" % (self.type, self.code, self.fault, self.message)


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # of http.client: any case will do
        self.body = body
        self.result = {}
        self.error = None
        self.request_id = None
        self.problems = []

    def __str__(self):
        return "%d %s" % (self.status, self.error or self.body[:600])

    def require(self, holds, problem, *details):
        if not holds:
            self.problems.append(problem % details if details else problem)


class Endpoint:
    """Connections to a server, one for each thread, kept alive."""

    def __init__(self, server):
        self.server = server
        self.local = threading.local()

    def request(self, method, target, headers, body):
        connection = getattr(self.local, "connection", None)
        if connection is None or time.monotonic() - self.local.used > IDLE_S:
            if connection:
                connection.close()
            connection = http.client.HTTPConnection(
                self.server.host, self.server.port, timeout=HANG_S)
            self.local.connection = connection
        try:
            connection.putrequest(method, target, skip_host="Host" in headers,
                                  skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            if body or method == "POST":
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            reply = Reply(response.status, response.headers, response.read())
        except Exception:
            self.local.connection = None
            connection.close()
            raise
        if response.will_close:
            self.local.connection = None
            connection.close()
        self.local.used = time.monotonic()
        return reply


class Client:
    """What both formats share. `key` and `region` sign requests."""

    def __init__(self, server, key=None, region=None):
        self.server = server
        self.endpoint = Endpoint(server)
        self.key = key or (sign.Key("test", "test") if region else None)
        self.region = region or "us-east-1"

    def in_region(self, region):
        return type(self)(self.server, self.key, region)

    def with_key(self, key):
        return type(self)(self.server, key, self.region)

    def send(self, method, path, query, headers, body):
        target = path + ("?" + query if query else "")
        if self.key:
            headers = dict(headers)
            headers.setdefault(
                "Host", "%s:%d" % (self.server.host, self.server.port))
            headers = sign.header(self.key, method, path, query, headers, body,
                                  self.region)
        return self.endpoint.request(method, target, headers, body)

    def call(self, action, members=None, headers=None, path="/", **more):
        """Makes a request; `members` are for names that are not Python's."""
        method, query, all_headers, body = self.encode(
            action, dict(members or {}, **more))
        reply = self.send(method, path, query, dict(all_headers, **headers or {}), body)
        self.decode(action, reply)
        return reply


class Json(Client):
    name = "json"

    def encode(self, action, members):
        return "POST", "", {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": "AmazonSQS." + action,
        }, json.dumps(members).encode()

    def raw(self, action, body, headers=None, path="/"):
        """A body as it is, bytes that may be no JSON at all."""
        _, _, usual, _ = self.encode(action, {})
        reply = self.send("POST", path, "", dict(usual, **headers or {}), body)
        self.decode(action, reply)
        return reply

    def decode(self, action, reply):
        kind = reply.headers.get("Content-Type", "")
        reply.request_id = reply.headers.get("x-amzn-RequestId")
        reply.require(reply.request_id and UUID.match(reply.request_id),
                      "x-amzn-RequestId is %r", reply.request_id)
        reply.require("Content-Length" in reply.headers, "no Content-Length")
        reply.require("Date" in reply.headers, "no Date")
        if reply.status == 200 and action in EMPTY:
            reply.require(reply.body == b"", "a body where none belongs: %r",
                          reply.body[:100])
            return
        reply.require(kind == "application/x-amz-json-1.0", "Content-Type %r", kind)
        try:
            document = json.loads(reply.body.decode("utf-8"))
        except ValueError as error:
            reply.problems.append("no JSON: %s: %r" % (error, reply.body[:200]))
            document = {}
        if not isinstance(document, dict):
            reply.problems.append("no object: %r" % document)
            document = {}
        if reply.status == 200:
            reply.require(not has_null(document), "null in %r", document)
            reply.result = document
            return
        code, _, fault = reply.headers.get("x-amzn-query-error", ";").partition(";")
        reply.error = Fault(document.get("__type"), code, fault, document.get("message"))
        reply.require(code and fault, "x-amzn-query-error is %r",
                      reply.headers.get("x-amzn-query-error"))


def has_null(value):
    if isinstance(value, dict):
        return any(has_null(item) for item in value.values())
    if isinstance(value, list):
        return any(has_null(item) for item in value)
    return value is None


# Members of JSON that are lists of texts, and their fields.
LISTS = {
    "AttributeNames": "AttributeName", "MessageAttributeNames": "MessageAttributeName",
    "MessageSystemAttributeNames": "MessageSystemAttributeName", "TagKeys": "TagKey",
    "AWSAccountIds": "AWSAccountId", "Actions": "ActionName",
    "StringListValues": "StringListValue", "BinaryListValues": "BinaryListValue",
}
# Maps: the field, what the key and the value are called.
MAPS = {
    "Attributes": ("Attribute", "Name", "Value"),
    "MessageAttributes": ("MessageAttribute", "Name", "Value"),
    "MessageSystemAttributes": ("MessageSystemAttribute", "Name", "Value"),
    "tags": ("Tag", "Key", "Value"), "Tags": ("Tag", "Key", "Value"),
}


def fields_of(action, members, prefix=""):
    """The flat fields of Query, a list of pairs."""
    fields = []
    for name, value in members.items():
        if name in LISTS:
            for i, item in enumerate(value, 1):
                fields.append(("%s%s.%d" % (prefix, LISTS[name], i), str(item)))
        elif name in MAPS:
            field, key_name, value_name = MAPS[name]
            for i, (key, item) in enumerate(value.items(), 1):
                inner = "%s%s.%d." % (prefix, field, i)
                fields.append((inner + key_name, key))
                if isinstance(item, dict):
                    fields += fields_of(action, item, inner + value_name + ".")
                else:
                    fields.append((inner + value_name, str(item)))
        elif name == "Entries":
            for i, item in enumerate(value, 1):
                fields += fields_of(action, item, "%sRequestEntry.%d." % (action, i))
        else:
            fields.append((prefix + name, value if isinstance(value, bytes)
                           else str(value).encode("utf-8", "surrogatepass")))
    return fields


# Elements that are repeated: their lists in JSON.
REPEATED = {
    "Message": "Messages", "BatchResultErrorEntry": "Failed",
    "SendMessageBatchResultEntry": "Successful",
    "DeleteMessageBatchResultEntry": "Successful",
    "ChangeMessageVisibilityBatchResultEntry": "Successful",
    "ListMessageMoveTasksResultEntry": "Results",
}
KEYED = {
    "Attribute": ("Attributes", "Name"), "Tag": ("Tags", "Key"),
    "MessageAttribute": ("MessageAttributes", "Name"),
}
NUMBERS = {
    "ApproximateNumberOfMessagesMoved", "ApproximateNumberOfMessagesToMove",
    "MaxNumberOfMessagesPerSecond", "StartedTimestamp",
}
URLS = {"ListQueues": "QueueUrls", "ListDeadLetterSourceQueues": "queueUrls"}


def plain(tag):
    return tag.rpartition("}")[2]


def members_of(action, element):
    """The JSON form of an element's children."""
    members = {}
    for child in element:
        name = plain(child.tag)
        if name == "QueueUrl" and action in URLS:
            members.setdefault(URLS[action], []).append(child.text or "")
        elif name in KEYED and len(child):
            into, key_name = KEYED[name]
            parts = {plain(part.tag): part for part in child}
            value = parts["Value"]
            members.setdefault(into, {})[parts[key_name].text or ""] = (
                members_of(action, value) if len(value) else value.text or "")
        elif name in REPEATED and len(child):
            members.setdefault(REPEATED[name], []).append(members_of(action, child))
        elif name in NUMBERS:
            members[name] = int(child.text)
        elif name == "SenderFault":
            members[name] = {"true": True, "false": False}[child.text]
        else:
            members[name] = child.text or ""
    return members


class Query(Client):
    name = "query"

    def encode(self, action, members):
        fields = [("Action", action), ("Version", VERSION)]
        fields += fields_of(action, members)
        return "POST", "", {
            "Content-Type": "application/x-www-form-urlencoded",
        }, urllib.parse.urlencode(fields).encode()

    def form(self, fields, method="POST", path="/", headers=None, action=None):
        """Fields as they are: a list of pairs, or a text that may be no form."""
        text = fields if isinstance(fields, str) else urllib.parse.urlencode(fields)
        usual = {"Content-Type": "application/x-www-form-urlencoded"}
        if method == "GET":
            reply = self.send("GET", path, text, headers or {}, b"")
        else:
            reply = self.send("POST", path, "", dict(usual, **headers or {}),
                              text.encode())
        self.decode(action or dict(urllib.parse.parse_qsl(text)).get("Action", ""), reply)
        return reply

    def decode(self, action, reply):
        kind = reply.headers.get("Content-Type", "").partition(";")[0]
        reply.require(kind == "text/xml", "Content-Type %r", kind)
        reply.require("Content-Length" in reply.headers, "no Content-Length")
        try:
            root = ElementTree.fromstring(reply.body)
        except ElementTree.ParseError as error:
            reply.problems.append("no XML: %s: %r" % (error, reply.body[:200]))
            return
        if reply.status != 200:
            self.decode_error(reply, root)
            return
        reply.require(root.tag == "{%s}%sResponse" % (NAMESPACE, action),
                      "root element %s", root.tag)
        parts = [plain(child.tag) for child in root]
        wanted = ["ResponseMetadata"]
        if action not in EMPTY:
            wanted.insert(0, action + "Result")
        reply.require(parts == wanted, "elements %s, not %s", parts, wanted)
        reply.request_id = root.findtext("{%s}ResponseMetadata/{%s}RequestId" % (
            NAMESPACE, NAMESPACE))
        reply.require(reply.request_id, "no RequestId")
        if parts and parts[0] == action + "Result":
            reply.result = members_of(action, root[0])

    def decode_error(self, reply, root):
        if root.tag != "{%s}ErrorResponse" % NAMESPACE:
            reply.problems.append("root element %s" % root.tag)
            return
        reply.request_id = root.findtext("{%s}RequestId" % NAMESPACE)
        reply.require(reply.request_id, "no RequestId")
        reply.require("x-amzn-query-error" not in reply.headers, "a header of JSON")
        error = root.find("{%s}Error" % NAMESPACE)
        parts = {plain(part.tag): part.text for part in error}
        reply.require(list(parts) == ["Type", "Code", "Message", "Detail"],
                      "Error has %s", list(parts))
        reply.error = Fault(None, parts.get("Code"), parts.get("Type"),
                            parts.get("Message"))


CLIENTS = {"json": Json, "query": Query}
