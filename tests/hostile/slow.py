# SPDX-License-Identifier: Apache-2.0
"""Clients that are slow, and too many bytes at once."""

import json
import resource
import selectors
import socket
import time

from caller import HANG_S, Caller, descriptors, read_answer, request, resident
from server import Server

SLOW = 1000  # clients of each kind,
NEVER = 100  # and of those that do not read: the kernel keeps 2 MiB for each
DEADLINES = ("--request-timeout", "3s", "--write-timeout", "3s")


def connect(server, small=False):
    stream = socket.socket()
    if small:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.settimeout(HANG_S)
    stream.connect((server.host, server.port))
    return stream


def median(times):
    return sorted(times)[len(times) // 2]


def work(caller, rounds):
    """Sends, receives and deletes; how long each round took."""
    times = []
    for i in range(rounds):
        began = time.monotonic()
        caller.ok("SendMessage", QueueUrl="work", MessageBody="%d" % i)
        got = caller.ok("ReceiveMessage", QueueUrl="work", WaitTimeSeconds=20)
        for letter in got["Messages"]:
            caller.ok("DeleteMessage", QueueUrl="work",
                      ReceiptHandle=letter["ReceiptHandle"])
        times.append(time.monotonic() - began)
    return times


def open_slow(server):
    """Heads and bodies of which half has come, and answers that nobody reads."""
    head = request("SendMessage", {"QueueUrl": "work", "MessageBody": "x" * 1000})
    clients = []
    for _ in range(SLOW):
        clients.append(connect(server))
        clients[-1].sendall(head[:40])
        clients.append(connect(server))
        clients[-1].sendall(head[:-500])
    for _ in range(NEVER):
        clients.append(connect(server, small=True))
        clients[-1].sendall(request(
            "ReceiveMessage", {"QueueUrl": "large", "VisibilityTimeout": 0,
                               "MaxNumberOfMessages": 10}) * 3)
    return clients


def await_close(clients):
    """The statuses of their answers; raises if one is not closed."""
    waiting = selectors.EpollSelector()
    statuses = {}
    for client in clients:
        client.setblocking(False)
        waiting.register(client, selectors.EVENT_READ, [b""])
    limit = time.monotonic() + HANG_S
    while waiting.get_map():
        if time.monotonic() > limit:
            raise RuntimeError("%d are not closed" % len(waiting.get_map()))
        for key, _ in waiting.select(1):
            try:
                data = key.fileobj.recv(65536)
            except ConnectionResetError:
                data = b""
            if not key.data[0]:
                key.data[0] = data[:12]
            if not data:
                statuses[key.data[0]] = statuses.get(key.data[0], 0) + 1
                waiting.unregister(key.fileobj)
                key.fileobj.close()
    return statuses


def slow_clients_are_closed_and_do_not_disturb_others(build):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    server = Server(build, "memory", DEADLINES)
    caller, problems = Caller(server), []
    caller.ok("CreateQueue", QueueName="work")
    caller.ok("CreateQueue", QueueName="large")
    for _ in range(10):
        caller.ok("SendMessage", QueueUrl="large", MessageBody="y" * 100000)
    alone = work(caller, 100)
    before = descriptors(server.process.pid)
    clients = open_slow(server)
    beside = work(caller, 100)
    # Those that do not read are closed without having read: the last look.
    reading, silent = clients[:-NEVER], clients[-NEVER:]
    statuses = await_close(reading)
    limit = time.monotonic() + HANG_S
    while descriptors(server.process.pid) > before and time.monotonic() < limit:
        work(caller, 1)
    left = descriptors(server.process.pid) - before
    for client in silent:
        client.close()
    if set(statuses) != {b"HTTP/1.1 408"} or statuses[b"HTTP/1.1 408"] != 2 * SLOW:
        problems.append("not all got 408: %r" % statuses)
    if left > 0:
        problems.append("%d clients that do not read are not closed" % left)
    if server.stop():
        problems.append("the daemon did not end well")
    return ("%d slow clients; a round of work took %.1f ms beside them, and %.1f ms "
            "before" % (len(clients), 1e3 * median(beside), 1e3 * median(alone)),
            problems)


def too_many_bytes_at_once_are_refused_and_nothing_is_lost(build):
    """Forty clients hold most of a body; then all finish. What was acknowledged is
    there; what was not got 503, in time; and afterwards all is as before."""
    limit, size, count = 8 << 20, 1 << 20, 40
    server = Server(build, "memory", ("--max-memory", str(limit)))
    caller, problems = Caller(server), []
    caller.ok("CreateQueue", QueueName="work")
    body = request("SendMessage", {"QueueUrl": "work", "MessageBody": "z" * (size - 100)})
    # Once, so that what the allocator keeps is there before.
    caller.stream.sendall(body)
    read_answer(caller.stream)
    before, most = resident(server.process.pid), 0
    answers = {}
    for _ in range(5):
        clients = [connect(server) for _ in range(count)]
        for client in clients:
            client.setblocking(False)
        left = {client: body[:-1] for client in clients}
        end = time.monotonic() + 1
        while left and time.monotonic() < end:  # until nothing moves
            for client in list(left):
                try:
                    left[client] = left[client][client.send(left[client]):]
                except BlockingIOError:
                    continue
                except (BrokenPipeError, ConnectionResetError):
                    left[client] = b""
                if not left[client]:
                    del left[client]
            most = max(most, resident(server.process.pid))
        for client in clients:
            client.settimeout(HANG_S)
            try:
                client.sendall(left.get(client, b"") + body[-1:])
            except (BrokenPipeError, ConnectionResetError):
                pass
            try:
                answer = read_answer(client)
            except ConnectionResetError:
                answer = None
            status = answer[0] if answer else "closed"
            if status == 503 and b"ServiceUnavailable" not in answer[1]:
                problems.append("503 with %r" % answer[1][:200])
            answers[status] = answers.get(status, 0) + 1
            client.close()
    counts = caller.ok("GetQueueAttributes", QueueUrl="work",
                       AttributeNames=["ApproximateNumberOfMessages"])
    kept = int(counts["Attributes"]["ApproximateNumberOfMessages"])
    acknowledged = answers.get(200, 0) + 1
    # The messages themselves are kept in memory here.
    held = most - before - (acknowledged + 1) * size
    if kept != acknowledged:
        problems.append("%d acknowledged, %d there" % (acknowledged, kept))
    if answers.get(503, 0) < count or 200 not in answers:
        problems.append("statuses: %r" % answers)
    if held > 4 * limit:
        problems.append("%d KiB were held, with a limit of %d" % (held >> 10, limit >> 10))
    caller.ok("SendMessage", QueueUrl="work", MessageBody="a")
    if server.stop():
        problems.append("the daemon did not end well")
    return ("%d clients with 1 MiB each, five times, limit %d MiB: answers %s; at most "
            "%d MiB held" % (count, limit >> 20, json.dumps(answers), held >> 20), problems)


def requests_and_polls_over_a_limit_are_throttled(build):
    server = Server(build, "memory", ("--max-polls", "2", "--max-requests-per-second", "50",
                                      "--log-requests", "--max-log-lines", "5"))
    callers, problems = [Caller(server) for _ in range(3)], []
    callers[0].ok("CreateQueue", QueueName="work")
    polls = selectors.EpollSelector()
    for caller in callers:
        caller.stream.sendall(request("ReceiveMessage", {"QueueUrl": "work",
                                                         "WaitTimeSeconds": 20}))
        polls.register(caller.stream, selectors.EVENT_READ)
    # Two of them wait; whichever came last has its answer first.
    _, seen = read_answer(polls.select(HANG_S)[0][0].fileobj)
    for caller in callers:
        caller.stream.close()
    if b"wait for messages" not in seen:
        problems.append("a third poll: %r" % seen[:200])
    # A body that was not read ends its connection.
    statuses = [Caller(server).call("ListQueues")[0] for _ in range(200)]
    if statuses.count(403) == 0 or statuses.count(200) == 0:
        problems.append("200 requests: %d were throttled" % statuses.count(403))
    if server.stop():
        problems.append("the daemon did not end well")
    dropped = [line for line in server.lines if "lines were dropped" in line]
    if not dropped:
        problems.append("no line says that lines were dropped")
    return None, problems


TESTS = [slow_clients_are_closed_and_do_not_disturb_others,
         too_many_bytes_at_once_are_refused_and_nothing_is_lost,
         requests_and_polls_over_a_limit_are_throttled]
