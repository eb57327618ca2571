#!/usr/bin/env python3
"""counter - count, and check many small objects: counter LOG [OBJECTS MS]

A round checks every tenth object, after a pause of MS milliseconds.  Its lines
are described in tests/targets/apart.h.
"""

import os
import sys
import time


def apart(path):
    """Open the log, close all other descriptors, and return it."""
    os.setsid()
    os.chdir('/')
    null = os.open('/dev/null', os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.closerange(3, 1024)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def rest(path):
    """Do nothing while PATH.rest exists; create PATH.rests first."""
    if os.path.exists(path + '.rest'):
        os.close(os.open(path + '.rests', os.O_WRONLY | os.O_CREAT, 0o600))
        while os.path.exists(path + '.rest'):
            time.sleep(0.01)


def main(path, many=50000, pause=50):
    log = apart(path)
    objects = {str(i): [i] for i in range(many)}
    count = 0
    while True:
        time.sleep(pause / 1000)
        wrong = 0
        for i in range(count % 10, many, 10):
            wrong += objects[str(i)][0] != i + count // 10
            objects[str(i)][0] += 1
        count += 1
        os.write(log, b'python %d %d\n' % (count, wrong))


if __name__ == '__main__':
    main(sys.argv[1], *map(int, sys.argv[2:]))
