# SPDX-License-Identifier: Apache-2.0
"""A running `letterbox serve`, for tests of the program."""

import os
import queue
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

from program import LIMIT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "sqs"))
import sign  # noqa: E402


class Server:
    """Starts it at a port that is free; ends it with the block."""

    def __init__(self, place, *arguments):
        self.process = subprocess.Popen(
            [place.program, "serve", "--listen", "127.0.0.1:0", *arguments],
            cwd=place.folder, env=place.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.log = queue.Queue()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        self.url = self.process.stdout.readline().rpartition(" ")[2].strip()
        assert self.url, self.rest()

    def _read(self):
        for line in self.process.stderr:
            self.log.put(line)
        self.log.put(None)

    def wait_for(self, text):
        """The next line of the log that has `text`, and those before it."""
        seen = []
        while True:
            line = self.log.get(timeout=LIMIT)
            assert line is not None, "no %r in %r" % (text, seen)
            seen.append(line)
            if text in line:
                return "".join(seen)

    def rest(self):
        """What is left of the log; it has ended."""
        return "".join(iter(lambda: self.log.get(timeout=LIMIT), None))

    def reload(self):
        """Reads again; returns what it has logged about it."""
        self.process.send_signal(signal.SIGHUP)
        return self.wait_for("reload: settings, keys and certificates")

    def reload_fails(self):
        self.process.send_signal(signal.SIGHUP)
        return self.wait_for("reload: nothing was changed")

    def get(self, path, key=None, region="us-east-1", **headers):
        """Status and text of a GET, signed if there is a key, of (access key,
        secret)."""
        query = path.partition("?")[2]
        headers["Host"] = self.url.partition("//")[2]
        if key:
            headers = sign.header(sign.Key(*key), "GET", path.partition("?")[0],
                                  query, headers, b"", region=region)
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.process.terminate()
        self.code = self.process.wait(LIMIT)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        assert failure[0] or self.code == 0, self.code
