# SPDX-License-Identifier: Apache-2.0
"""Servers under test: `letterbox serve` on a free port, in a process of its own."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading

HANG_S = 60  # a limit for hangs, not for speed

# Options that cases ask for; all other cases run with the defaults.
QUICK_CREATE = ("--quick-create",)
TRUST_FORWARDED = ("--trust-forwarded",)
FEW_IN_FLIGHT = ("--max-in-flight", "10")

ADDRESS = re.compile(r"http://(127\.0\.0\.1):(\d+)")


class Server:
    """One server. `store` is "memory" or "file"; a file store has a folder that
    is removed with the server, unless it was given."""

    def __init__(self, build, store, options=(), folder=None):
        self.store = store
        self.scratch = None
        if store == "file" and folder is None:
            self.scratch = folder = tempfile.mkdtemp(prefix="letterbox-sqs-")
        self.folder = folder
        url = "memory:" if store == "memory" else "file:" + folder
        self.command = [os.path.join(build, "cli", "letterbox"), "serve",
                        "--store", url, "--listen", "127.0.0.1:0", *options]
        self.lines = []
        self.ready = threading.Event()
        self.host = self.port = None
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if not self.ready.wait(HANG_S) or self.port is None:
            self.kill()
            raise RuntimeError("no server: %s\n%s" % (" ".join(self.command),
                                                      "".join(self.lines)))

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            found = ADDRESS.search(line)
            if found and self.port is None:
                self.host, self.port = found[1], int(found[2])
                self.ready.set()
        self.ready.set()  # it has ended

    @property
    def url(self):
        return "http://%s:%d" % (self.host, self.port)

    def stop(self):
        """Ends it with SIGTERM. None if it ended well, else what was wrong."""
        early = self.process.poll()
        if early is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return "did not end after SIGTERM"
        self._clean()
        if early is not None:
            return "had ended with %d:\n%s" % (early, "".join(self.lines[-40:]))
        if status != 0:
            return "ended with %d:\n%s" % (status, "".join(self.lines[-40:]))
        return None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._clean()

    def _clean(self):
        self.reader.join(HANG_S)
        self.process.stdout.close()
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)
