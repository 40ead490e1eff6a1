# SPDX-License-Identifier: Apache-2.0
"""A task queue that people run on SQS: Celery, and Kombu below it.

    celery_scenarios.py

Both are Debian's. They have ways of their own: they list queues to find theirs, take
several messages at once, and poll with pycurl instead of boto3. The worker is this
file too, as the module that Celery is given.
"""

import os
import subprocess
import sys
import traceback
import urllib.parse

import celery
import kombu

ADDRESS = urllib.parse.urlsplit(os.environ["ENDPOINT"]).netloc
BROKER = "sqs://%s:%s@%s//" % (
    urllib.parse.quote(os.environ["AWS_ACCESS_KEY_ID"], safe=""),
    urllib.parse.quote(os.environ["AWS_SECRET_ACCESS_KEY"], safe=""), ADDRESS)
OPTIONS = {"region": "us-east-1", "is_secure": False, "wait_time_seconds": 5}
HANG_S = 120  # a limit for hangs
TASKS = 30

app = celery.Celery("celery_scenarios", broker=BROKER)
app.conf.broker_transport_options = OPTIONS
app.conf.task_default_queue = "celery-tasks"


def queue(connection, name):
    return connection.SimpleQueue(name)


def connect():
    return kombu.Connection(BROKER, transport_options=OPTIONS)


@app.task(name="scenarios.square")
def square(number):
    with connect() as connection:
        queue(connection, "celery-results").put(number * number)


def collect(connection, name, count):
    results = queue(connection, name)
    got = []
    while len(got) < count:
        message = results.get(timeout=HANG_S)
        got.append(message.payload)
        message.ack()
    return got


def kombu_gives_each_message_once():
    sent = [{"n": n, "text": "\u00e9 <&> \r\n %d" % n} for n in range(25)]
    with connect() as connection:
        out = queue(connection, "kombu-queue")
        for one in sent:
            out.put(one)
        got = collect(connection, "kombu-queue", len(sent))
    assert sorted(got, key=lambda one: one["n"]) == sent, got


def a_worker_of_celery_runs_every_task():
    worker = subprocess.Popen(
        [sys.executable, "-B", "-m", "celery", "-A", "celery_scenarios", "worker",
         "--pool", "solo", "--without-mingle", "--without-gossip"],
        cwd=os.path.dirname(os.path.abspath(__file__)), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for number in range(TASKS):
            square.delay(number)
        with connect() as connection:
            got = collect(connection, "celery-results", TASKS)
    finally:
        worker.terminate()
        said = worker.communicate(timeout=HANG_S)[1]
    assert sorted(got) == [n * n for n in range(TASKS)], (got, said)
    assert "Traceback" not in said, said


def main():
    for scenario in (kombu_gives_each_message_once, a_worker_of_celery_runs_every_task):
        name = scenario.__name__.replace("_", " ")
        try:
            scenario()
            print("ok - " + name)
        except Exception:
            print("not ok - " + name)
            print(traceback.format_exc())
        sys.stdout.flush()


if __name__ == "__main__":
    main()
