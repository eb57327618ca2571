#!/usr/bin/env python3
"""keeper.py LOG: count, and log each of three descriptors only while it is
open: a connected netlink socket, a pidfd of process 1, a semaphore eventfd."""

import ctypes
import os
import socket
import sys
import time

from counter import apart


def main(path):
    log = apart(path)
    netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    netlink.connect((1, 0))
    first = os.pidfd_open(1)
    semaphore = ctypes.CDLL(None).eventfd(1, 1)  # EFD_SEMAPHORE
    n = 0
    while True:
        n += 1
        os.write(log, b'keeper %d 0\n' % n)
        for name, fd in ((b'netlink', netlink.fileno()),
                         (b'pidfd', first),
                         (b'eventfd', semaphore)):
            try:
                os.fstat(fd)
                os.write(log, b'%s %d 0\n' % (name, n))
            except OSError:
                pass
        time.sleep(0.01)


if __name__ == '__main__':
    main(sys.argv[1])
