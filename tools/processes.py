# SPDX-License-Identifier: Apache-2.0
"""Ends test programs with everything they have started. Read by run-suites and
script/mutate."""

import os
import signal
import time


def living_processes():
    """{pid: (parent, session)} of all processes but zombies."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name, encoding="latin-1") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue  # gone meanwhile
        if fields[0] not in "ZX":
            found[int(name)] = (int(fields[1]), int(fields[3]))
    return found


def end_processes(leader):
    """Kills the processes of a session and all their descendants: tests have
    process groups of their own, so that a kill of one group is not enough."""
    doomed = set()
    while True:
        living = living_processes()
        more = {pid for pid, (_, session) in living.items() if session == leader}
        while more - doomed:
            doomed |= more
            more = {pid for pid, (parent, _) in living.items()
                    if parent in doomed}
        left = doomed & living.keys()
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)
