#!/usr/bin/env python3
"""standard.py LOG: write a number to standard output and standard error each
time, and count: a line "standard COUNT WRONG".  Once LOG.read exists, copy
standard input to LOG.got.

standard.py around LOG WORD COMMAND ARG ...: run a command whose standard input
is a pipe with WORD in it, whose output is a pipe, and whose standard error is a
UNIX socket; copy them to LOG.1 and LOG.2."""
import os
import select
import socket
import sys
import time


def copy(ends):
    """Copy until all writers have closed their ends."""
    while ends:
        for fd in select.select(list(ends), [], [])[0]:
            data = os.read(fd, 4096)
            os.write(ends[fd], data)
            if not data:
                del ends[fd]


def around(path, word, *command):
    stdin, feed = os.pipe()
    out, stdout = os.pipe()
    err, stderr = (s.detach() for s in socket.socketpair())
    os.write(feed, word.encode() + b'\n')
    if os.fork() == 0:
        for i, fd in enumerate((stdin, stdout, stderr)):
            os.dup2(fd, i)
        os.closerange(3, 1024)
        os.execv(command[0], command)
    for fd in stdin, stdout, stderr:
        os.close(fd)
    copy({fd: os.open('%s.%d' % (path, i), os.O_WRONLY | os.O_CREAT, 0o600)
          for i, fd in ((1, out), (2, err))})


def count(path):
    os.setsid()
    os.chdir('/')
    log, got = (os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                for name in (path, path + '.got'))
    n = 0
    while True:
        n += 1
        wrong = 0
        for fd in 1, 2:
            try:
                os.write(fd, b'%d\n' % n)
            except OSError:
                wrong += 1
        if os.path.exists(path + '.read') and select.select([0], [], [], 0)[0]:
            os.write(got, os.read(0, 4096))
        os.write(log, b'standard %d %d\n' % (n, wrong))
        time.sleep(.01)


if sys.argv[1] == 'around':
    around(*sys.argv[2:])
else:
    count(sys.argv[1])
