# Two processes that share open files, data in pipes and sockets, memory,
# embedded files, and namespaces, if these can be made.  The record of the first
# one has all of it.
import ctypes
import mmap
import os
import select
import socket
import sys
import tempfile
import time

CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWNET = 0x4000000, 0x8000000, 0x40000000
libc = ctypes.CDLL(None)
if libc.unshare(CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET) == 0:
    socket.sethostname('picked')
    libc.semget(4711, 3, 0o1600)

memory = mmap.mmap(-1, 65536)
memory[:6] = b'shared'
fd = os.memfd_create('given')
os.write(fd, b'content of the memfd' * 1000)
given = mmap.mmap(fd, 4096)
gone = tempfile.TemporaryFile()
gone.write(b'content of the file' * 1000)
gone.flush()
r, w = os.pipe()
os.write(w, b'in the pipe')
a, b = socket.socketpair()
socket.send_fds(a, [b'with a descriptor'], [r])
a.send(b'at the socket')
poll = select.epoll()
poll.register(r)
poll.register(b)
pid = os.fork()
if pid == 0:
    os.setsid()
    libc.prctl(1, 9)	# PR_SET_PDEATHSIG
    # only the socket and the epoll lead to the pipe
    os.close(r)
    time.sleep(1000)
print('pids', os.getpid(), pid, flush=True)
print('ready', flush=True)
sys.stdin.read()
