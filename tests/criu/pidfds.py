#!/usr/bin/env python3
"""pidfds.py LOG: hold pidfds, and count in the log while they refer to the same
processes: a child, a zombie, a child that was waited for (twice), and itself.
"""
import os
import select
import signal
import sys
import time


def spawn(seconds):
    pid = os.fork()
    if pid == 0:
        time.sleep(seconds)
        os._exit(0)
    return pid


def state(fd):
    """Return the process ID, whether it takes signals, and whether it ended."""
    with open('/proc/self/fdinfo/%d' % fd, encoding='ascii') as f:
        pid = [int(line.split()[1]) for line in f if line[:4] == 'Pid:'][0]
    try:
        signal.pidfd_send_signal(fd, 0)
        sent = True
    except ProcessLookupError:
        sent = False
    return pid, sent, bool(select.select([fd], [], [], 0)[0])


os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
live, zombie, gone = spawn(1000), spawn(0), spawn(0)
fds = [os.pidfd_open(p) for p in (live, zombie, gone, gone, os.getpid())]
os.set_blocking(fds[0], False)
os.waitpid(gone, 0)
while not select.select([fds[1]], [], [], 0)[0]:
    time.sleep(.01)
want = [(live, True, False), (zombie, True, True), (-1, False, True),
        (-1, False, True), (os.getpid(), True, False)]
n = 0
while True:
    n += 1
    wrong = [state(fd) for fd in fds] != want or os.get_blocking(fds[0]) or (
        os.fstat(fds[2]).st_ino != os.fstat(fds[3]).st_ino)
    log.write('parent %d %d\n' % (n, wrong))
    if os.path.exists(sys.argv[1] + '.end'):
        signal.pidfd_send_signal(fds[0], signal.SIGKILL)
        log.write('killed %d\n' % os.waitpid(live, 0)[1])
        break
    time.sleep(.01)
time.sleep(1000)
