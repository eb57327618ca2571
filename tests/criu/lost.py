#!/usr/bin/env python3
"""lost - have state that criu does not restore: lost.py LOG KIND

KIND is the name of a function below.  The lines of LOG end in 1 if the kernel
cannot do it.
"""
import ctypes
import mmap
import os
import signal
import socket
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


def urgent(_):
    """Have an urgent byte wait in a UNIX stream."""
    near, far = socket.socketpair()
    near.send(b'before')
    near.send(b'U', socket.MSG_OOB)
    near.send(b'after')
    return near, far


def child(_):
    """Have a child whose end is not reported with SIGCHLD."""
    clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
    process = libc.syscall(clone, signal.SIGUSR2, 0, 0, 0, 0)
    while process == 0:
        libc.pause()
    return process


def listener(path):
    """Have a listening socket in a queue, with a connection of a closed one."""
    near, far = socket.socketpair()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path + '.listener')
        server.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path + '.listener')
        socket.send_fds(near, [b'x'], [server.fileno()])
    return near, far


def ldt(_):
    """Have a segment register refer to the local descriptor table."""
    flags = 1 | 1 << 4      # seg_32bit, limit_in_pages
    entry = struct.pack('4I', 0, 0, 0xfffff, flags)
    if os.uname().machine != 'x86_64' or libc.syscall(154, 1, entry, 16):
        raise OSError
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE |
                     mmap.PROT_EXEC)
    code.write(b'\x8e\xef\xc3')    # mov %edi,%gs; ret
    at = ctypes.addressof(ctypes.c_char.from_buffer(code))
    ctypes.CFUNCTYPE(None, ctypes.c_int)(at)(7)
    return code


def main(path, kind):
    log = apart(path)
    try:
        kept = globals()[kind](path)
    except OSError:
        kept = None
    for number in range(1, 21):
        os.write(log, b'lost %d %d\n' % (number, kept is None))
    while True:
        time.sleep(1000)


if __name__ == '__main__':
    main(*sys.argv[1:])
