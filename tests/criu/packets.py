#!/usr/bin/env python3
"""packets - use sockets of packets: packets.py LOG

It has a listening SOCK_SEQPACKET socket, one that was never connected, one with
an empty packet and another one unread, and one whose other end has shut down.
It connects to itself only while LOG.visit exists: a connection that waits
cannot be taken.  The lines are described in tests/targets/apart.h.
"""

import os
import socket
import sys
import time

import counter

PACKET = (socket.AF_UNIX, socket.SOCK_SEQPACKET)


def unconnected(lone):
    """Return whether the socket is not connected, and has no name."""
    try:
        lone.send(b'x')
    except OSError:
        return lone.getsockname() == ''
    return False


def visited(listener, name):
    """Return whether a new connection is accepted, and receives packets."""
    with socket.socket(*PACKET) as visitor:
        visitor.connect(name)
        with listener.accept()[0] as door:
            for text in b'one', b'two':
                visitor.send(text)
            return [door.recv(9), door.recv(9)] == [b'one', b'two']


def queued(pair, ended):
    """Return whether the queued packets are read, and queue them again."""
    got = [pair[1].recv(9) for _ in range(2)]
    for text in b'', b'full':
        pair[0].send(text)
    ended[1].setblocking(False)
    return got == [b'', b'full'] and ended[1].recv(9, socket.MSG_PEEK) == \
        b'last' and pair[1].type == socket.SOCK_SEQPACKET


def main(path):
    log = counter.apart(path)
    name = path + '.socket'
    listener, lone = socket.socket(*PACKET), socket.socket(*PACKET)
    listener.bind(name)
    listener.listen(3)
    pair, ended = socket.socketpair(*PACKET), socket.socketpair(*PACKET)
    for text in b'', b'full':
        pair[0].send(text)
    ended[0].send(b'last')
    ended[0].shutdown(socket.SHUT_WR)
    count = visits = 0
    while True:
        time.sleep(0.05)
        count += 1
        os.write(log, b'packets %d %d\n' % (count, not unconnected(lone)))
        if os.path.exists(path + '.visit'):
            visits += 1
            wrong = [visited(listener, name), queued(pair, ended)]
            os.write(log, b'visits %d %d\n' % (visits, wrong.count(False)))


if __name__ == '__main__':
    main(sys.argv[1])
