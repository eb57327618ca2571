#!/usr/bin/env python3
"""passed.py LOG [HOW]: queue descriptors in sockets, and count in the log; once
LOG.talk exists, receive and use them.  HOW adds what cannot be restored:
credentials, those of a sender; pidfd, the descriptor of a process outside the
snapshot; deserted, a socket whose other end is closed.
"""
import array
import os
import socket
import struct
import sys
import time

os.closerange(3, 1024)
os.setsid()
path = sys.argv[1]
log = open(path, 'a', buffering=1)
how = sys.argv[2] if len(sys.argv) > 2 else ''
pairs = {}


def pair(name, kind):
    pairs[name] = socket.socketpair(socket.AF_UNIX, kind)
    return pairs[name][0]


def send(to, data, *fds):
    """Send descriptors with data, and close them."""
    socket.send_fds(to, [data], fds)
    for fd in fds:
        os.close(fd)


def got(name, most=100):
    """Receive data and descriptors."""
    data, fds, _, _ = socket.recv_fds(pairs[name][1], most, 10)
    return data, fds


def gone(text):
    """Return the descriptor of a deleted file, at its end."""
    fd = os.open(path + '.gone', os.O_CREAT | os.O_RDWR | os.O_EXCL)
    os.unlink(path + '.gone')
    os.write(fd, text)
    return fd


def heard():
    """Yield for each socket the received data."""
    data, fds = got('stream', 5)
    yield 'stream', data, len(fds)
    data, fds = got('stream')
    os.lseek(fds[1], 0, os.SEEK_SET)
    yield 'stream', data, os.read(fds[0], 99), os.read(fds[0], 99), \
        os.read(fds[1], 99)
    yield ('stream', *got('stream'))
    data, fds = got('packets')
    pairs['inner'] = [None, socket.socket(fileno=fds[0])]
    inner, fds = got('inner')
    os.lseek(fds[0], 1, os.SEEK_SET)
    yield 'nested', data, inner, os.read(fds[0], 99)
    yield ('packets', *got('packets'))
    data, fds = got('packets')
    os.write(kept[1], b'late')
    yield 'packets', data, os.read(fds[0], 99), \
        os.path.sameopenfile(fds[0], kept[0])


pipe = os.pipe()
os.write(pipe[1], b'piped')
os.close(pipe[1])
stream = pair('stream', socket.SOCK_STREAM)
stream.send(b'plain')
send(stream, b'two', pipe[0], gone(b'deleted'))
stream.send(b'end')
packets = pair('packets', socket.SOCK_SEQPACKET)
inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
send(inner[0], b'inside', gone(b'deep'))
send(packets, b'outside', inner[1].detach(), inner[0].detach())
packets.send(b'none')
kept = os.pipe()
send(packets, b'kept', os.dup(kept[0]))
if how:
    one = pair('one', socket.SOCK_DGRAM)
    pairs['one'][1].setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
if how == 'credentials':
    one.send(b'sent')
if how == 'deserted':
    inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    send(one, b'deserted', inner[1].detach())
    inner[0].close()
if how == 'pidfd':
    pairs['one'][1].setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    send(one, b'pidfd', os.pidfd_open(1))
n = 0
while not os.path.exists(path + '.talk'):
    n += 1
    log.write('passed %d 0\n' % n)
    time.sleep(.01)
if how == 'credentials':
    data, control, _, _ = pairs['one'][1].recvmsg(100, 100)
    log.write('sent %s by %d %d %d\n' % (data.decode(),
        *struct.unpack('3i', control[0][2])))
for line in heard():
    log.write('heard %s\n' % ' '.join(
        w.decode() if isinstance(w, bytes) else str(w) for w in line))
log.write('over\n')
time.sleep(1000)
