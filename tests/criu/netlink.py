#!/usr/bin/env python3
"""netlink.py LOG [HOW]: use netlink sockets, a line "netlink COUNT WRONG" each
time.  They can be made to rest: unread messages cannot be restored.  HOW adds
what criu does not restore: waiting, unread messages at all times; connected, a
connection to another socket; many, a group above 32; strict, an option.
"""
import ctypes
import os
import socket
import struct
import sys
import time

from counter import apart, rest

NETLINK, ROUTE, USERSOCK = 270, 0, 2
ADD_MEMBERSHIP, LIST_MEMBERSHIPS, EXT_ACK, STRICT = 1, 9, 11, 12
GETLINK, DONE, ROOT_REQUEST = 18, 3, 0x301
GROUP = 5
# let all packets through
FILTER = struct.pack('HBBI', 6, 0, 0, 0xffff)


def make(protocol, kind=socket.SOCK_RAW):
    return socket.socket(socket.AF_NETLINK, kind, protocol)


def attach(sock, code):
    keep = ctypes.create_string_buffer(code, len(code))
    sock.setsockopt(socket.SOL_SOCKET, 26, struct.pack('HP',
        len(code) // 8, ctypes.addressof(keep)))


def told(sock):
    """Return all that can be read about a socket."""
    words = [sock.getsockname(), sock.proto]
    try:
        words.append(sock.getpeername())
    except OSError as error:
        words.append(error.errno)
    for level, numbers in ((1, (2, 16, 18)), (NETLINK, (3, 4, 5))):
        for number in numbers:
            words.append(sock.getsockopt(level, number))
    words.append(sock.getsockopt(NETLINK, LIST_MEMBERSHIPS, 128))
    words.append(sock.getsockopt(socket.SOL_SOCKET, 26, 64))
    return words


def say(sock, text, *to):
    """Send to a group, or to the kernel, which refuses it."""
    try:
        sock.sendto(text, *to) if to else sock.send(text)
    except ConnectionRefusedError:
        pass


def links(sock):
    """Request all interfaces; return their number."""
    sock.send(struct.pack('IHHIIBBHiII', 32, GETLINK, ROOT_REQUEST, 1, 0, 0,
        0, 0, 0, 0, 0))
    n = 0
    while True:
        data = sock.recv(65536)
        while data:
            size, kind = struct.unpack_from('IH', data)
            if kind == DONE:
                return n
            n += 1
            data = data[(size + 3) & ~3:]


how = sys.argv[2] if len(sys.argv) > 2 else ''
log = apart(sys.argv[1])
asks, fresh, hears, says = make(ROUTE), make(ROUTE, socket.SOCK_DGRAM), \
    make(USERSOCK), make(USERSOCK)
asks.bind((0, 0))
hears.bind((0, 1 << GROUP - 1))
hears.setsockopt(NETLINK, ADD_MEMBERSHIP, 31)
hears.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
hears.settimeout(5)
attach(hears, FILTER)
says.bind((0, 0))
says.connect((0, 1 << GROUP - 1))
if how == 'waiting':
    late = make(USERSOCK)
    late.bind((0, 1 << 8))
    say(says, b'late', (0, 1 << 8))
if how == 'connected':
    other = make(USERSOCK)
    other.connect((asks.getsockname()[0], 0))
if how == 'strict':
    asks.setsockopt(NETLINK, EXT_ACK, 1)
    asks.setsockopt(NETLINK, STRICT, 1)
if how == 'many':
    asks.setsockopt(NETLINK, ADD_MEMBERSHIP, 33)
sockets = asks, fresh, hears, says
first = [told(s) for s in sockets]
n = 0
while True:
    rest(sys.argv[1])
    n += 1
    say(says, b'%d heard' % n)
    wrong = hears.recv(100) != b'%d heard' % n
    wrong += links(asks) == 0
    now = [told(s) for s in sockets]
    if now != first:
        with open(sys.argv[1] + '.diff', 'w') as diff:
            for pair in zip(first, now):
                print(*pair, sep='\n', file=diff)
    os.write(log, b'netlink %d %d\n' % (n, wrong + (now != first)))
    time.sleep(.01)
