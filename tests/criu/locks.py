#!/usr/bin/env python3
"""locks.py LOG: hold locks of all kinds, and count in the log.

A child shares the open files, and has a lock of its own.  The locks are on
files next to the log; one of these is deleted.
"""
import fcntl
import os
import signal
import struct
import sys
import time

OFD_SETLK = 37
os.closerange(3, 1024)
os.setsid()
signal.signal(signal.SIGIO, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
log = open(sys.argv[1], 'a', buffering=1)


def new(name, flags=os.O_RDWR):
    path = sys.argv[1] + '.' + name
    os.close(os.open(path, os.O_RDWR | os.O_CREAT))
    return os.open(path, flags)


def count(name):
    n = 0
    while True:
        n += 1
        wrong = fcntl.fcntl(breaking, fcntl.F_GETSIG) != signal.SIGUSR1
        log.write('%s %d %d\n' % (name, n, wrong))
        time.sleep(.01)


whole = new('whole')
fcntl.flock(whole, fcntl.LOCK_EX)
os.dup(whole)
fcntl.flock(new('shared'), fcntl.LOCK_SH)
fcntl.flock(os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY), fcntl.LOCK_SH)
gone = new('gone')
fcntl.flock(gone, fcntl.LOCK_EX)
os.unlink(sys.argv[1] + '.gone')
parts = new('parts')
fcntl.lockf(parts, fcntl.LOCK_EX, 10, 10)
fcntl.lockf(parts, fcntl.LOCK_SH, 5, 30)
fcntl.lockf(gone, fcntl.LOCK_SH, 0, 7)
own = new('own')
fcntl.fcntl(own, OFD_SETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 5, 5, 0))
fcntl.fcntl(own, OFD_SETLK, struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 50, 0, 0))
fcntl.fcntl(new('read', os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
fcntl.fcntl(new('write'), fcntl.F_SETLEASE, fcntl.F_WRLCK)
breaking = new('breaking')
fcntl.fcntl(breaking, fcntl.F_SETLEASE, fcntl.F_WRLCK)
fcntl.fcntl(breaking, fcntl.F_SETSIG, signal.SIGUSR1)
fcntl.fcntl(new('lowered'), fcntl.F_SETLEASE, fcntl.F_WRLCK)
if os.fork() == 0:
    fcntl.lockf(parts, fcntl.LOCK_EX, 10, 100)
    for name, flags in ('breaking', os.O_RDWR), ('lowered', os.O_RDONLY):
        try:
            os.open(sys.argv[1] + '.' + name, flags | os.O_NONBLOCK)
        except BlockingIOError:
            continue
        log.write('child 1 1\n')
    count('child')
count('parent')
