#!/usr/bin/env python3
"""mqueue.py LOG [HOW]: receive a message from a POSIX message queue and send
one, with two or three queued; a line "mqueue COUNT WRONG" each time.  HOW:
gone, the name of the queue is deleted.
"""
import ctypes
import os
import sys
import time

from counter import apart

how = sys.argv[2] if len(sys.argv) > 2 else ''
log = apart(sys.argv[1])
libc = ctypes.CDLL(None)
NAME = b'/snap-test-%d' % os.getpid()
queue = libc.mq_open(NAME, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600, None)
if queue == -1:
    sys.exit(1)
if how == 'gone':
    libc.mq_unlink(NAME)


def send(n):
    return libc.mq_send(queue, b'message %d' % n, len(b'message %d' % n), 3)


def receive():
    buf, priority = ctypes.create_string_buffer(8192), ctypes.c_uint()
    libc.mq_receive(queue, buf, 8192, ctypes.byref(priority))
    return buf.value, priority.value


n = 3                       # at the end one may be received, but not sent
wrong = send(1) + send(2) + send(3)
while True:
    time.sleep(.01)
    if how != 'gone' and os.path.exists(sys.argv[1] + '.over'):
        libc.mq_unlink(NAME)
        break
    # the queue had other messages when it was taken
    wrong += receive()[0][:8] != b'message '
    n += 1
    wrong += send(n)
    os.write(log, b'mqueue %d %d\n' % (n, wrong))
