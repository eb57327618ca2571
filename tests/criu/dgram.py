#!/usr/bin/env python3
"""Connected datagram sockets: dgram.py LOG KIND ...

Each kind sends through its sockets and checks the data received.  The order in
which sockets are created is also that of their inodes and descriptors.
"""

import os
import socket
import sys
import time

from counter import apart


def unix():
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)


class Sockets:
    """Some sockets, with names."""

    def __init__(self, path, names):
        self.path = path
        for name in names:
            setattr(self, name, unix())

    def bind(self, name):
        path = '%s.%s' % (self.path, name)
        if os.path.exists(path):
            os.unlink(path)
        getattr(self, name).bind(path)

    def connect(self, name, to):
        getattr(self, name).connect('%s.%s' % (self.path, to))

    def unlink(self, name):
        os.unlink('%s.%s' % (self.path, name))

    def wrong(self, name, to, text=b'text'):
        """Send text; return whether other text, or none, is received."""
        try:
            getattr(self, name).send(text)
            return getattr(self, to).recv(100) != text
        except OSError:
            return 1


def ahead(s):
    """The peer was created before."""
    s.bind('a')
    s.connect('b', 'a')
    return lambda: s.wrong('b', 'a')


def behind(s):
    """The peer was created later; two sockets are connected to it."""
    s.bind('c')
    s.connect('a', 'c')
    s.connect('b', 'c')
    return lambda: s.wrong('a', 'c') + s.wrong('b', 'c')


def named(s):
    """The connected socket has a name."""
    s.bind('a')
    s.bind('b')
    s.connect('a', 'b')
    return lambda: s.wrong('a', 'b')


def itself(s):
    """Connected to itself."""
    s.bind('a')
    s.connect('a', 'a')
    return lambda: s.wrong('a', 'a')


def deleted(s):
    """The name of the peer is deleted."""
    s.bind('b')
    s.connect('a', 'b')
    s.unlink('b')
    return lambda: s.wrong('a', 'b')


def mutual(s):
    """Two sockets are connected to each other."""
    s.bind('a')
    s.bind('b')
    s.connect('a', 'b')
    s.connect('b', 'a')
    return lambda: s.wrong('a', 'b') + s.wrong('b', 'a')


def stands(s):
    """A packet is queued at the peer."""
    s.bind('b')
    s.connect('a', 'b')
    s.a.send(b'stands')
    return lambda: s.b.recv(100) != b'stands' or s.a.send(b'stands') != 6


def third(s):
    """The peer is connected to a third socket."""
    s.bind('b')
    s.bind('c')
    s.connect('a', 'b')
    s.connect('b', 'c')
    return lambda: s.wrong('a', 'b') + s.wrong('b', 'c')


def thirdback(s):
    """The same; each peer was created before."""
    s.bind('b')
    s.bind('a')
    s.connect('c', 'b')
    s.connect('b', 'a')
    return lambda: s.wrong('c', 'b') + s.wrong('b', 'a')


def pair(s):
    """The peer and another socket are connected to each other."""
    s.bind('a')
    s.bind('b')
    s.connect('c', 'a')
    s.connect('a', 'b')
    s.connect('b', 'a')
    return lambda: s.wrong('c', 'a') + s.wrong('a', 'b')


def waits(s):
    """A packet is queued at a connected socket."""
    s.bind('a')
    s.bind('b')
    s.a.sendto(b'waits', '%s.b' % s.path)
    s.connect('b', 'a')
    return lambda: s.b.recv(100, socket.MSG_PEEK) != b'waits' or \
        s.wrong('b', 'a')


def waitsfirst(s):
    """The same; the peer was created later."""
    s.bind('a')
    s.bind('b')
    s.b.sendto(b'waits', '%s.a' % s.path)
    s.connect('a', 'b')
    return lambda: s.a.recv(100, socket.MSG_PEEK) != b'waits' or \
        s.wrong('a', 'b')


def forked(s):
    """The peer is in a child."""
    s.bind('a')
    s.bind('c')
    s.connect('a', 'c')
    if os.fork() == 0:
        s.a.close()
        s.c.setblocking(True)
        while True:
            text, who = s.c.recvfrom(100)
            s.c.sendto(text, who)
    s.c.close()
    s.a.setblocking(True)
    return lambda: s.a.send(b'text') != 4 or s.a.recv(100) != b'text'


def left(s):
    """The peer is closed."""
    s.bind('a')
    s.connect('b', 'a')
    s.a.close()
    s.unlink('a')
    return lambda: 0


def many(s):
    """Many packets of a closed socket are queued."""
    s.a, s.b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for _ in range(100):
        s.a.send(b'text')
    s.a.close()
    return lambda: sum(s.b.recv(10, socket.MSG_PEEK) != b'text'
                       for _ in range(100))


def main(path, kinds):
    log = apart(path)
    look = [(k, globals()[k](Sockets('%s.%s' % (path, k), 'abc')))
            for k in kinds]
    n = 0
    while True:
        n += 1
        for name, wrong in look:
            try:
                bad = int(wrong())
            except OSError as e:
                bad = e.errno
            os.write(log, b'%s %d %d\n' % (name.encode(), n, bad))
        time.sleep(0.01)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
