#!/usr/bin/env python3
"""sysv.py LOG [all]: attach a System V segment with a key twice, and once more
read-only, and a removed segment; share both with a child; count in the log
while contents and status are right.  all: also semaphores, and a message queue
in which messages go around.
"""
import ctypes
import os
import sys
import time

IPC_CREAT, IPC_RMID, IPC_STAT, SHM_RDONLY = 0o1000, 0, 2, 0o10000
PAGE = os.sysconf('SC_PAGESIZE')
SIZE = 3 * PAGE + 100
KEY = 0x7e57
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)


def check(result):
    if result in (-1, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def attach(number, flags=0):
    at = check(libc.shmat(number, None, flags))
    return (ctypes.c_char * SIZE).from_address(at)


def status(number):
    raw = ctypes.create_string_buffer(256)
    check(libc.shmctl(number, IPC_STAT, raw))
    # key, uid, gid; mode; size: struct shmid64_ds of the kernel
    return raw.raw[:12], raw.raw[20:22], raw.raw[48:56]


first = check(libc.shmget(KEY - 1, 1, IPC_CREAT | 0o600))
keyed = check(libc.shmget(KEY, SIZE, IPC_CREAT | 0o640))
gone = check(libc.shmget(0, SIZE, IPC_CREAT | 0o600))
check(libc.shmctl(first, IPC_RMID, None))
both, same, read = attach(keyed), attach(keyed), attach(keyed, SHM_RDONLY)
removed = attach(gone)
check(libc.shmctl(gone, IPC_RMID, None))
both[PAGE:PAGE + 6] = b'second'
both[2 * PAGE:2 * PAGE + 8] = b'%8d' % os.getpid()
leader = both[2 * PAGE:2 * PAGE + 8]
removed[SIZE - 4:SIZE] = b'last'
was = status(keyed)


class Message(ctypes.Structure):
    _fields_ = [('type', ctypes.c_long), ('text', ctypes.c_char * 8192)]


TEXTS = [b'one', b'', b'x' * 8192]
more = len(sys.argv) > 2
if more:
    SETVAL, GETVAL, IPC_NOWAIT = 16, 12, 0o4000
    check(libc.semget(KEY, 1, IPC_CREAT | 0o600))
    semaphores = check(libc.semget(0, 3, IPC_CREAT | 0o600))
    check(libc.semctl(semaphores, 1, SETVAL, 32767))
    queue = check(libc.msgget(KEY, IPC_CREAT | 0o660))
    for i, text in enumerate(TEXTS):
        message = Message(i + 1, text)
        check(libc.msgsnd(queue, ctypes.byref(message), len(text), 0))


def moved(n):
    """Return whether semaphores and queue are right in round n; go on."""
    message = Message()
    number = (n - 1) % len(TEXTS)
    text = TEXTS[number]
    good = (libc.semctl(semaphores, 0, GETVAL) == (n - 1) % 1000 and
            libc.semctl(semaphores, 1, GETVAL) == 32767 and
            libc.msgget(KEY, 0) == queue and
            libc.msgrcv(queue, ctypes.byref(message), 8192, 0,
                        IPC_NOWAIT) == len(text) and
            message.type == number + 1 and message.text == text)
    check(libc.semctl(semaphores, 0, SETVAL, n % 1000))
    message = Message(number + 1, text)
    check(libc.msgsnd(queue, ctypes.byref(message), len(text), IPC_NOWAIT))
    return good


child = os.fork() == 0
name, place = ('child', 0) if child else ('parent', 8)
n = 0
while True:
    n += 1
    other = both[8 - place:16 - place]
    both[place:place + 8] = b'%8d' % n
    wrong = (read[PAGE:PAGE + 6] != b'second' or
             same[place:place + 8] != b'%8d' % n or
             read[place:place + 8] != b'%8d' % n or
             read[2 * PAGE:2 * PAGE + 8] != leader or
             removed[SIZE - 4:SIZE] != b'last' or
             check(libc.shmget(KEY, SIZE, 0)) != keyed or
             status(keyed) != was or (n > 50 and other == bytes(8)) or
             (more and not child and not moved(n)))
    log.write('%s %d %d\n' % (name, n, wrong))
    time.sleep(.01)
