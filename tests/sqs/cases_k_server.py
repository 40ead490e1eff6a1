# SPDX-License-Identifier: Apache-2.0
"""K. The server around the actions: pages, methods, accounts, other processes, its
end."""

import json
import os
import signal
import socket
import struct
import subprocess
import time

import sign
from cases_i_protocol import Raw, encoded, head
from cases_i_signatures import OTHER, guarded
from harness import HANG_S, INVALID, only, slow
from server import Server
from wire import CLIENTS


def get(sqs, path, query="", accept=None, method="GET"):
    """The status and the text of a page."""
    headers = {"Accept": accept} if accept else {}
    reply = sqs.client.send(method, path, query, headers, b"")
    return reply.status, reply.body.decode()


def metric(sqs, line):
    """The number behind a line of /metrics; None: there is no such line."""
    status, text = get(sqs, "/metrics")
    sqs.expect(200, status, "/metrics")
    for one in text.splitlines():
        name, _, value = one.rpartition(" ")
        if name == line:
            return float(value)
    return None


def program(sqs, *words, data=b""):
    """Runs letterbox beside the server, on its folder."""
    done = subprocess.run(
        [os.path.join(sqs.registry.build, "cli", "letterbox"), *words], input=data,
        capture_output=True, timeout=HANG_S, check=False)
    sqs.true(done.returncode == 0, "letterbox %s: %s", words[0], done.stderr)


def name_of(url):
    return url.split("/")[-1]


# Pages.

@only("query")
def k113_the_page_of_health(sqs):
    for sqs in (sqs, guarded(sqs).with_client(CLIENTS["query"](guarded(sqs).server))):
        sqs.expect((200, '{"status":"ok"}\n'), get(sqs, "/health"), "needs no key")
        sqs.expect((200, ""), get(sqs, "/health", method="HEAD"), "HEAD")
    for path in ("/healthy", "/health/"):
        status, _ = get(sqs, path)
        sqs.true(status in (403, 404), "%s: %d", path, status)


@only("query")
def k114_the_page_of_metrics(sqs):
    url = sqs.queue()
    sqs.send(url, "a")
    sqs.send(url, "b", DelaySeconds=900)
    sqs.send(url, "c")
    sqs.receive(url, 1)
    labels = 'account="000000000000",region="us-east-1",queue="%s"' % name_of(url)
    messages = "letterbox_messages{" + labels + ',state="%s"}'
    for state, count in (("visible", 1), ("in_flight", 1), ("delayed", 1)):
        sqs.expect(count, metric(sqs, messages % state), state)
    sqs.true(metric(sqs, "letterbox_oldest_seconds{%s}" % labels) >= 0, "no age")
    good = 'letterbox_requests_total{action="SendMessage",status="2xx"}'
    bad = 'letterbox_requests_total{action="SendMessage",status="4xx"}'
    before = metric(sqs, good), metric(sqs, bad) or 0
    sqs.send(url, "d")
    sqs.fails(INVALID, None, "SendMessage", QueueUrl=url, MessageBody="x",
              DelaySeconds=901)
    after = metric(sqs, good), metric(sqs, bad) or 0
    sqs.true(after[0] > before[0] and after[1] > before[1], "%s, then %s", before, after)
    for kind in ("count", "sum", 'bucket'):
        line = "letterbox_request_seconds_%s{action=\"SendMessage\"%s}" % (
            kind, ',le="+Inf"' if kind == "bucket" else "")
        sqs.true(metric(sqs, line) > 0, "no %s", line)


@only("query")
def k114b_pages_of_others(sqs):
    """Pages other than health are for those who have a key, and show what is theirs."""
    mine, theirs = guarded(sqs), guarded(sqs, OTHER)
    nobody = mine.with_client(CLIENTS["query"](mine.server))
    url = mine.queue()
    mine.send(url, "secret")
    peek = "/_aws/sqs/messages"
    for path in ("/metrics", peek):
        status, text = get(nobody, path, "" if path == "/metrics" else "QueueUrl=" + url)
        sqs.expect(403, status, path + " without a key")
        sqs.true("secret" not in text and name_of(url) not in text, "%s: %s", path, text)
    _, text = get(theirs, "/metrics")
    sqs.true(name_of(url) not in text, "metrics of another account: %s", text[-400:])
    _, text = get(mine, "/metrics")
    sqs.true(name_of(url) in text, "no metrics of its own account: %s", text[-400:])
    status, text = get(theirs, peek, "QueueUrl=" + url)
    sqs.expect(400, status, "messages of another account")
    sqs.true("secret" not in text, "messages of another account: %s", text)
    status, text = get(mine, peek, "QueueUrl=" + url)
    sqs.true(status == 200 and "secret" in text, "its own messages: %s", text)


@only("query")
def k115_peek_without_receiving(sqs):
    url = sqs.queue()
    for i in range(5):
        sqs.send(url, "body %d" % i)
    peek = "/_aws/sqs/messages"
    for where in ((peek, "QueueUrl=" + url),
                  (peek + "/us-east-1/000000000000/" + name_of(url), "")):
        status, text = get(sqs, *where)
        sqs.true(status == 200 and text.count("<Body>") == 5, "%s: %s", where, text)
    seen, token, pages = [], "", 0
    while pages < 9:
        _, text = get(sqs, peek, "QueueUrl=%s&MaxResults=2%s" % (url, token),
                      accept="application/json")
        result = json.loads(text)["ReceiveMessageResponse"]["ReceiveMessageResult"]
        found = result.get("Message", [])  # one is not in a list
        seen += [message["Body"] for message in (
            found if isinstance(found, list) else [found])]
        pages += 1
        if "NextToken" not in result:
            break
        token = "&NextToken=" + result["NextToken"]
    sqs.expect(["body %d" % i for i in range(5)], sorted(seen), "page by page")
    for wrong in ("MaxResults=0", "MaxResults=1001", "NextToken=x",
                  "NextToken=99999999999999999999"):
        status, _ = get(sqs, peek, "QueueUrl=%s&%s" % (url, wrong))
        sqs.expect(400, status, wrong)
    status, _ = get(sqs, peek, "QueueUrl=%s&MaxResults=1000" % url)
    sqs.expect(200, status, "MaxResults=1000")
    status, _ = get(sqs, peek, "QueueUrl=" + url + "-not")
    sqs.expect(400, status, "no queue")
    sqs.expect((5, 0, 0), sqs.counts(url), "none was received")


@only("query")
def k115b_peek_in_pages_of_bytes(sqs):
    """A page is in memory as a whole: it ends after 16 MiB, and says that there is more."""
    url = sqs.queue()
    for _ in range(18):
        sqs.send(url, "x" * 1000000)
    status, text = get(sqs, "/_aws/sqs/messages", "QueueUrl=" + url, accept="application/json")
    result = json.loads(text)["ReceiveMessageResponse"]["ReceiveMessageResult"]
    sqs.expect((200, 17), (status, len(result["Message"])), "the first page")
    _, text = get(sqs, "/_aws/sqs/messages", "QueueUrl=%s&NextToken=%s" % (
        url, result["NextToken"]))
    sqs.expect(1, text.count("<Body>"), "the last page")
    sqs.true("<NextToken>" not in text, "a token on the last page")


def k116_methods(sqs):
    for method in ("PUT", "DELETE", "HEAD", "OPTIONS"):
        reply = sqs.client.send(method, "/", "Action=ListQueues", {}, b"")
        sqs.expect(405, reply.status, method)


@only("query")
def k116b_the_body_of_a_get_is_no_form(sqs):
    name = sqs.name()
    reply = sqs.client.send("GET", "/", "Action=ListQueues", {
        "Content-Type": "application/x-www-form-urlencoded"},
        b"QueueNamePrefix=" + name.encode())
    sqs.expect(200, reply.status, "status")
    url = sqs.create(name)
    reply = sqs.client.send("GET", "/", "Action=ListQueues", {}, b"MaxResults=x")
    sqs.expect(200, reply.status, "MaxResults in the body")
    sqs.true(url.encode() in reply.body or reply.body.count(b"<QueueUrl>") == 1000,
             "the queue is not listed")


# Accounts.

def k117_an_open_server_believes_an_account(sqs):
    """Without keys, an access key of twelve digits is the account, as the account in
    a queue's URL is."""
    other = sqs.with_client(CLIENTS[sqs.protocol](
        sqs.server, sign.Key("333333333333", "anything")))
    name = sqs.name()
    url = other.create(name)
    sqs.expect("333333333333", url.split("/")[-2], "its account")
    sqs.no_queue("GetQueueUrl", QueueName=name)
    sqs.send(url, "by its URL")
    sqs.expect("by its URL", other.one(url)["Body"], "received")
    sqs.expect(url, sqs.ok("GetQueueUrl", QueueName=name,
                           QueueOwnerAWSAccountId="333333333333")["QueueUrl"], "by owner")


def k117b_the_owner_of_a_queue(sqs):
    """With keys, a queue of another account does not exist, whoever is named."""
    mine, theirs = guarded(sqs), guarded(sqs, OTHER)
    name = name_of(mine.queue())
    theirs.no_queue("GetQueueUrl", QueueName=name,
                    QueueOwnerAWSAccountId="000000000000")
    sqs.true(mine.ok("GetQueueUrl", QueueName=name,
                     QueueOwnerAWSAccountId="000000000000"), "its own")


# Clients that leave.

def k118_a_poll_of_a_client_that_left_is_over(sqs):
    """It does not wait for its 20 seconds. A server of its own: its counts are read."""
    server = Server(sqs.registry.build, sqs.store)
    try:
        own = sqs.with_client(CLIENTS[sqs.protocol](server))
        url = own.queue()
        headers, body = encoded(own, "ReceiveMessage", QueueUrl=url, WaitTimeSeconds=20)
        headers["Content-Length"] = str(len(body))
        count = 'letterbox_request_seconds_count{action="ReceiveMessage"}'
        started = time.monotonic()
        with Raw(own) as raw:
            raw.send(head(headers) + body)
            own.eventually(lambda: metric(own, "letterbox_connections") == 2,
                           "its connection is open")
        own.eventually(lambda: metric(own, count) == 1, "the poll is over")
        sqs.soon(started, time.monotonic(), "the poll of a client that left")
    finally:
        server.kill()


def k118b_what_a_client_that_left_has_not_seen_comes_back(sqs):
    """Two answers that the client does not read: of the first, which is more than a
    kernel takes, some bytes were sent, of the second none. So what the second had is put
    back, as if it was not received."""
    url = sqs.queue(VisibilityTimeout=3600)
    for i in range(7):
        sqs.send(url, str(i) * (1 << 20))
    data = b""
    for most in (6, 1):
        headers, body = encoded(sqs, "ReceiveMessage", QueueUrl=url,
                                MaxNumberOfMessages=most)
        data += head(dict(headers, **{"Content-Length": str(len(body))})) + body
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((sqs.server.host, sqs.server.port))
    client.sendall(data)
    client.settimeout(HANG_S)
    sqs.expect(b"H", client.recv(1), "the first has begun")
    sqs.eventually(lambda: sqs.counts(url) == (0, 7, 0), "all are received")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()  # with a reset
    sqs.eventually(lambda: sqs.counts(url) == (1, 6, 0), "one is put back")
    message = sqs.one(url, AttributeNames=["ApproximateReceiveCount"])
    sqs.expect("1", sqs.system(message, "ApproximateReceiveCount"), "its count")


# Programs that use the same folder.

def on_a_folder(sqs):
    """Whether there is one; programs do not reach the memory of a server."""
    return sqs.store == "file"


@only("json")
def k119_messages_of_a_program(sqs):
    """What SQS cannot carry comes in base64, and says so."""
    if not on_a_folder(sqs):
        return
    box = "file:%s/%s" % (sqs.server.folder, sqs.name())
    program(sqs, "send", box, "-f", "-", "-t", "shop.Order", "-a", "zeta=1",
            "-a", "alpha:Number=2", data=b"\x00\x01bytes")
    url = sqs.ok("GetQueueUrl", QueueName=name_of(box))["QueueUrl"]
    message = sqs.one(url, MessageAttributeNames=["All"])
    sqs.expect("AAFieXRlcw==", message["Body"], "body")
    attributes = message["MessageAttributes"]
    sqs.expect({"zeta": ("String", "1"), "alpha": ("Number", "2"),
                "lbx.type": ("String", "shop.Order"), "lbx.encoding": ("String", "base64")},
               {name: (one["DataType"], one["StringValue"])
                for name, one in attributes.items()}, "attributes")
    sqs.expect(list(sorted(attributes)), list(attributes), "their order")
    program(sqs, "send", box, "")
    message = sqs.one(url, MessageAttributeNames=["All"])
    sqs.expect(("", "base64"), (message["Body"], message.get("MessageAttributes", {}).get(
        "lbx.encoding", {}).get("StringValue")), "an empty body")


@only("json")
def k119b_large_letters_of_a_program(sqs):
    """An answer has as many as fit; the others were not received."""
    if not on_a_folder(sqs):
        return
    box = "file:%s/%s" % (sqs.server.folder, sqs.name())
    for i in range(3):
        program(sqs, "send", box, "-f", "-", data=b"%d" % i * (30 << 20))
    url = sqs.ok("GetQueueUrl", QueueName=name_of(box))["QueueUrl"]
    sqs.expect([30 << 20] * 2, [len(body) for body in sqs.bodies(url)], "two of three")
    sqs.expect((1, 2, 0), sqs.counts(url), "the third is still there")
    message = sqs.one(url, AttributeNames=["ApproximateReceiveCount"])
    sqs.expect("1", sqs.system(message, "ApproximateReceiveCount"), "its count")
    sqs.ok("DeleteQueue", QueueUrl=url)


@slow
@only("json")
def k120_changes_of_another_process(sqs):
    """What a server knows of a queue is at most a second old; a queue that was deleted
    and created elsewhere is found at once."""
    if not on_a_folder(sqs):
        return
    url = sqs.queue()
    box = "file:%s/%s" % (sqs.server.folder, name_of(url))
    sqs.send(url, "first life")
    program(sqs, "create", box, "--update", "--delay", "15m")
    sqs.let_pass(1.5)  # the counts would read the queue again
    sqs.send(url, "a second later")
    sqs.expect((1, 0, 1), sqs.counts(url), "a change elsewhere is seen")
    program(sqs, "delete", box, "--yes")
    program(sqs, "create", box, "--preset", "sqs")
    sqs.call("SendMessage", QueueUrl=url, MessageBody="refused, or sent")
    sqs.send(url, "second life")


# The end.

def stopping(sqs, headers=None, body=None):
    """An answer to a request whose body comes after the server was told to end. A
    server waits five seconds for it: a machine may be too busy, once or twice."""
    answer = None, {}, b""
    for _ in range(3):
        if answer[0] is None:
            answer = stop_once(sqs, headers, body)
    return answer


def stop_once(sqs, headers, body):
    server = Server(sqs.registry.build, sqs.store)
    try:
        own = sqs.with_client(CLIENTS[sqs.protocol](server))
        headers, body = (headers, body) if headers else encoded(
            own, "ReceiveMessage", QueueUrl=own.queue(), WaitTimeSeconds=20)
        path = "/" if body != b"x" else "/health"
        headers = dict(headers, **{"Content-Length": str(len(body))})
        with Raw(own) as raw:
            raw.send(head(headers, method="POST" if path == "/" else "GET", path=path))
            own.eventually(lambda: metric(own, "letterbox_connections") == 2, "begun")
            server.process.send_signal(signal.SIGTERM)
            own.eventually(lambda: refuses(server), "does not listen any more")
            raw.send(body)
            answer = raw.answer()
        sqs.expect(0, server.process.wait(HANG_S), "the end")
        return answer
    finally:
        server.kill()


def refuses(server):
    try:
        socket.create_connection((server.host, server.port), timeout=HANG_S).close()
        return False
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        return False  # it was accepted at the last moment


def k121_no_poll_begins_while_the_server_ends(sqs):
    started = time.monotonic()
    status, headers, _ = stopping(sqs)
    sqs.expect((200, "close"), (status, headers.get("connection")), "an empty answer")
    sqs.true(time.monotonic() - started < HANG_S, "only after %d s", HANG_S)


@only("query")
def k121b_a_server_that_ends_is_not_healthy(sqs):
    status, _, text = stopping(sqs, {"Host": "x"}, b"x")
    sqs.expect((503, b'{"status":"stopping"}\n'), (status, text), "health")


def k122_queues_that_are_created_at_once(sqs):
    """Who comes second finds the queue of the first."""
    for _ in range(3):
        name, data = sqs.name(), b""
        for more in [{"Attributes": {"DelaySeconds": "7"}}] + [{}] * 7:
            headers, body = encoded(sqs, "CreateQueue", QueueName=name, **more)
            data += head(dict(headers, **{"Content-Length": str(len(body))})) + body
        with Raw(sqs) as raw:
            raw.send(data)
            sqs.expect([200] * 8, [raw.answer()[0] for _ in range(8)], "each")
