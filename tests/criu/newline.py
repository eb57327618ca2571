#!/usr/bin/env python3
"""newline.py LOG: use files whose names have newlines: a regular file that is
mapped, a deleted file, a directory, a FIFO, a socket.  The name of the process
has one as well.  A line "newline COUNT WRONG" each time.
"""
import ctypes
import mmap
import os
import socket
import sys
import time

from counter import apart

log = apart(sys.argv[1])
base = sys.argv[1] + '.a\nb (deleted)\n'
os.mkdir(base)


def opened(name, flags=os.O_RDWR):
    return os.open(base + '/' + name, flags, 0o600)


os.mkfifo(base + '/pipe\n')
there, gone, inside, fifo = opened('\n', os.O_CREAT | os.O_RDWR), \
    opened('gone\n', os.O_CREAT | os.O_RDWR), os.open(base, os.O_RDONLY), \
    opened('pipe\n')
os.write(there, b'there')
os.write(gone, b'gone')
os.unlink(base + '/gone\n')
mapped = mmap.mmap(there, 5, prot=mmap.PROT_READ)
os.chdir(base)
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind('s\n')
ctypes.CDLL(None).prctl(15, b'a)(b\n c')  # PR_SET_NAME
n = 0
while True:
    n += 1
    os.write(fifo, b'written')
    sock.sendto(b'sent', 's\n')
    wrong = (os.pread(there, 9, 0) != b'there') + \
        (os.pread(gone, 9, 0) != b'gone') + \
        (os.read(fifo, 9) != b'written') + (mapped[:] != b'there') + \
        (sock.recv(9) != b'sent') + \
        (open('/proc/self/comm').read() != 'a)(b\n c\n') + \
        (not os.path.sameopenfile(inside, os.open('.', os.O_PATH)))
    os.closerange(max(there, gone, inside, fifo, sock.fileno()) + 2, 99)
    os.write(log, b'newline %d %d\n' % (n, wrong))
    time.sleep(.01)
