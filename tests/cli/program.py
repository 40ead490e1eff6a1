# SPDX-License-Identifier: Apache-2.0
"""Runs the program letterbox for tests, and prints TAP.

A test is a function with a @case; its name is the sentence that is true. It gets
a `Place`: a folder of its own, in which the program is run. Nothing sleeps: tests
wait for output, or for the end of a process.
"""

import fcntl
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import traceback

LIMIT = 120  # seconds until a process counts as hanging
cases = []


def case(sentence):
    def register(function):
        cases.append((sentence, function))
        return function
    return register


def control(terminal):
    """Makes it the one from which Ctrl-C comes."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        return self.out.decode()

    @property
    def lines(self):
        # Not splitlines(), for which U+2028 and others end a line, too.
        text = self.text
        return text[:-1].split("\n") if text.endswith("\n") else \
            text.split("\n") if text else []

    @property
    def objects(self):
        return [json.loads(line) for line in self.lines]

    def __repr__(self):
        return "exit %d\nout: %r\nerr: %s" % (self.code, self.out[:2000],
                                             self.err[:2000])


class Place:
    def __init__(self, build, folder):
        self.program = os.path.join(build, "cli", "letterbox")
        self.folder = folder
        self.environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC")
        for name in ("NO_COLOR", "POSIXLY_CORRECT"):
            self.environment.pop(name, None)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return name

    def try_run(self, *arguments, input=b"", **more):
        """Runs it to the end, whatever it exits with."""
        done = subprocess.run([self.program, *arguments], input=input,
                              capture_output=True, cwd=self.folder,
                              env=self.environment, timeout=LIMIT, **more)
        return Result(done.returncode, done.stdout, done.stderr.decode())

    def run(self, *arguments, input=b"", code=0):
        """Runs it to the end; it exits with `code`."""
        result = self.try_run(*arguments, input=input)
        assert result.code == code, "%s: %r, not %d" % (
            " ".join(arguments), result, code)
        return result

    def start(self, *arguments, **more):
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([self.program, *arguments], cwd=self.folder,
                                env=self.environment, stderr=subprocess.PIPE,
                                **more)

    def on_terminal(self, command, typed=None, shell=False, environment=()):
        """Runs it with a terminal as input and output. `typed`: pairs of what
        to wait for and what to type then."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            command if shell else [self.program, *command], shell=shell,
            stdin=slave, stdout=slave, stderr=slave, cwd=self.folder,
            executable="/bin/bash" if shell else None,
            env={**self.environment, "TERM": "xterm", **dict(environment)},
            preexec_fn=lambda: control(slave))
        os.close(slave)
        seen = b""
        waited = list(typed or ())
        while True:
            if not select.select([master], [], [], LIMIT)[0]:
                process.kill()
                raise AssertionError("hangs after %r" % seen)
            try:
                read = os.read(master, 65536)
            except OSError:  # every process has closed the terminal
                break
            if not read:
                break
            seen += read
            if waited and waited[0][0].encode() in seen:
                os.write(master, waited.pop(0)[1].encode())
        code = process.wait(LIMIT)
        os.close(master)
        return Result(code, seen.replace(b"\r\n", b"\n"), "")


def equal(found, expected):
    assert found == expected, "%r, not %r" % (found, expected)


def has(text, part):
    assert part in text, "%r is not in %r" % (part, text)


def main(build, words):
    """Runs those whose sentence has one of the words; all without words."""
    wanted = [one for one in cases
              if not words or any(word in one[0] for word in words)]
    print("1..%d" % len(wanted))
    failed = 0
    for number, (sentence, function) in enumerate(wanted, 1):
        folder = tempfile.mkdtemp(prefix="letterbox-cli-")
        try:
            function(Place(build, folder))
            print("ok %d - cli: %s" % (number, sentence))
        except Exception:  # a test that fails does not end the others
            failed += 1
            print("not ok %d - cli: %s" % (number, sentence))
            for line in traceback.format_exc().splitlines():
                print("#   " + line)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    return 1 if failed else 0
