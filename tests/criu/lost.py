#!/usr/bin/env python3
"""lost - have state that criu does not restore: lost.py LOG KIND

KIND is the name of a function below.
"""
import ctypes
import os
import struct
import sys
import time

from counter import apart

libc = ctypes.CDLL(None)


def ticks(_):
    """Have a periodic timerfd expire many times, unread."""
    timer = libc.timerfd_create(1, 0)
    libc.timerfd_settime(timer, 0, struct.pack('4l', 0, 10**7, 0, 10**7), None)
    time.sleep(0.5)
    return timer


def main(path, kind):
    log = apart(path)
    kept = globals()[kind](path)
    for number in range(1, 21):
        os.write(log, b'lost %d 0\n' % number)
    while kept is not log:
        time.sleep(1000)


if __name__ == '__main__':
    main(*sys.argv[1:])
