#!/usr/bin/env python3
"""inet - check sockets of the internet: inet.py LOG [errors|groups|reset]

For each socket, a line "KIND COUNT WRONG" (tests/targets/apart.h) says whether
its names and all options that getsockopt(2) can read are the same, and whether
it still works; LOG.diff has the differences.  There is also a connection; when
an end of it is closed, "ended" is logged, at most twice.  It can be made to
rest: a connection that was not yet accepted is not restored.
"""

import os
import socket
import struct
import sys
import time

from counter import apart, rest

SOCKET, IP, IPV6, TCP, UDP, LITE = 1, 0, 41, 6, 17, 136
RANGES = ((SOCKET, 80), (IP, 60), (IPV6, 80), (TCP, 45), (UDP, 110),
    (LITE, 20))
ATTACH_FILTER, LINGER = 26, 13
# values that change; attributes of the socket, which are not options; and
# TCP_ZEROCOPY_RECEIVE, which reads an argument that Python does not set
PASSING = {(SOCKET, n) for n in (4, 26, 28, 49, 54, 55, 56, 57, 59, 71)} | {
    (TCP, n) for n in (2, 10, 11, 12, 24, 26, 35)}
FILTER = b''.join(struct.pack('HBBI', *i) for i in (
    (0x30, 0, 0, 0), (0x15, 0, 1, 7), (6, 0, 0, 0), (6, 0, 0, 0xffffffff)))


def options(sock):
    told = {}
    for level, most in RANGES:
        for number in range(1, most):
            if (level, number) in PASSING:
                continue
            try:
                told[level, number] = sock.getsockopt(level, number, 64)
            except OSError:
                pass
    return told


def names(sock):
    told = []
    for get in sock.getsockname, sock.getpeername:
        try:
            told.append(get())
        except OSError as error:
            told.append(error.errno)
    if sock.type == socket.SOCK_STREAM:
        info = sock.getsockopt(TCP, 11, 32)
        told.append((info[0], struct.unpack_from('I', info, 28)))
    return tuple(told)


def state(sock):
    return {'names': names(sock), 'flags': os.get_blocking(sock.fileno()),
        **options(sock)}


def accepts(sock):
    """Return whether a new connection is accepted, and receives data.

    The peer closes it first, so that the port stays free.
    """
    family, (host, port) = sock.family, sock.getsockname()[:2]
    local = '127.0.0.1' if family == socket.AF_INET else '::1'
    with socket.socket(family) as peer:
        peer.settimeout(5)
        peer.connect((local if host in ('0.0.0.0', '::') else host, port))
        with sock.accept()[0] as new:
            new.sendall(b'hello')
            got = peer.recv(5)
            peer.close()
            return got == b'hello' and new.recv(1) == b''


def receives(sock):
    with socket.socket(sock.family, sock.type, sock.proto) as peer:
        peer.sendto(b'packet', sock.getsockname())
        sock.settimeout(5)
        got = sock.recv(10) == b'packet'
        sock.settimeout(None)
        return got


def fresh(family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0):
    return socket.socket(family, kind, protocol)


def with_options(sock, *values):
    for level, number, value in values:
        sock.setsockopt(level, number, value)
    return sock


def bound(sock, host='127.0.0.1', port=0):
    sock.bind((host, port))
    return sock


def listening(sock, backlog=7):
    sock.listen(backlog)
    return sock


def sent_only(sock):
    sock.shutdown(socket.SHUT_RD)
    return sock


def connected(sock, host='127.0.0.1', port=9):
    sock.connect((host, port))
    return sock


V6, DGRAM, RAW = socket.AF_INET6, socket.SOCK_DGRAM, socket.SOCK_RAW
MANY = ((SOCKET, 2, 1), (SOCKET, 9, 1), (SOCKET, 10, 1), (SOCKET, 5, 1),
    (SOCKET, 12, 3), (SOCKET, 36, 77), (SOCKET, 18, 9), (SOCKET, 7, 20000),
    (SOCKET, LINGER, struct.pack('ii', 1, 5)), (SOCKET, 6, 1),
    (SOCKET, 20, struct.pack('ll', 3, 5000)),
    (SOCKET, 21, struct.pack('ll', 4, 6000)))


def kinds():
    """Yield name, socket, and a function that uses it."""
    yield 'listen', listening(with_options(bound(fresh()), *MANY, (TCP, 1, 1),
        (TCP, 4, 77), (TCP, 5, 78), (TCP, 6, 7), (IP, 2, 44)), 9), accepts
    yield 'anywhere', listening(bound(fresh(), '0.0.0.0')), accepts
    yield 'listen6', listening(with_options(bound(fresh(V6), '::1'), *MANY,
        (IPV6, 78, 1))), accepts
    yield 'both', listening(bound(with_options(fresh(V6), (IPV6, 26, 0)),
        '::')), accepts
    yield 'only6', listening(bound(with_options(fresh(V6), (IPV6, 26, 1)),
        '::')), accepts
    first = listening(bound(with_options(fresh(), (SOCKET, 15, 1))))
    yield 'shared', first, None
    yield 'sharing', listening(bound(with_options(fresh(), (SOCKET, 15, 1)),
        port=first.getsockname()[1])), None
    yield 'new', with_options(fresh(), (TCP, 3, 1)), None
    yield 'bound', bound(fresh()), None
    patient = fresh()
    patient.setblocking(False)
    yield 'nonblock', patient, None
    yield 'udp', with_options(bound(fresh(kind=DGRAM)), *MANY, (IP, 8, 1),
        (IP, 1, 8), (IP, 15, 1)), receives
    yield 'udp6', with_options(bound(fresh(V6, DGRAM), '::1'), (IPV6, 49, 1),
        (SOCKET, 11, 1)), receives
    yield 'unbound', fresh(kind=DGRAM), None
    yield 'connected', connected(fresh(kind=DGRAM)), None
    yield 'connected6', connected(bound(fresh(V6, DGRAM), '::1'), '::1'), None
    shut = connected(fresh(kind=DGRAM))
    shut.shutdown(socket.SHUT_WR)
    yield 'unsent', shut, unsent
    yield 'unheard', sent_only(connected(fresh(kind=DGRAM))), unheard
    filtered = bound(fresh(kind=DGRAM))
    attach(filtered)
    yield 'filter', filtered, filters
    yield 'device', with_options(bound(fresh(kind=DGRAM)), (SOCKET, 25,
        b'lo')), receives
    yield 'raw', with_options(fresh(kind=RAW, protocol=1), (255, 1,
        struct.pack('I', 0x1234))), None
    yield 'raw6', with_options(fresh(V6, RAW, 58), (58, 1, bytes(range(32)))
        ), None
    yield 'header', fresh(kind=RAW, protocol=255), None
    yield 'rawbound', bound(fresh(kind=RAW, protocol=89)), None
    try:
        yield 'lite', bound(fresh(kind=DGRAM, protocol=LITE)), receives
    except OSError:
        pass


def unsent(sock):
    try:
        sock.send(b'x')
    except BrokenPipeError:
        return True
    return False


def unheard(sock):
    return sock.recv(1) == b''


def attach(sock):
    import ctypes
    text = ctypes.create_string_buffer(FILTER)
    sock.setsockopt(SOCKET, ATTACH_FILTER, struct.pack('HxxxxxxP', 4,
        ctypes.addressof(text)))


def filters(sock):
    """Return whether the filter lets a packet in: its first byte is not 7."""
    return receives(sock)


def connection():
    with listening(bound(fresh())) as server:
        peer = connected(fresh(), *server.getsockname())
        return peer, server.accept()[0]


def reset():
    peer, sock = connection()
    peer.sendall(b'asd')
    with_options(peer, (SOCKET, LINGER, struct.pack('ii', 1, 0))).close()
    return sock


def main(path, only=None):
    log = apart(path)
    diff = os.open(path + '.diff', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if only == 'errors':
        sockets = [(only, with_options(fresh(kind=DGRAM), (IP, 11, 1)), None)]
    elif only == 'reset':
        sockets = [(only, reset(), None)]
    elif only == 'groups':
        sockets = [(only, with_options(fresh(kind=DGRAM), (IP, 35,
            socket.inet_aton('239.1.2.3') + socket.inet_aton('127.0.0.1'))),
            None), ('groups6', with_options(fresh(V6, DGRAM), (IPV6, 20,
            socket.inet_pton(V6, 'ff15::77') + struct.pack('i', 1))), None)]
    else:
        sockets = list(kinds())
    ends = () if only else connection()
    for end in ends:
        end.setblocking(False)
    was = {name: state(sock) for name, sock, _ in sockets}
    count = {name: 0 for name in was}
    ended = 0
    while True:
        for name, sock, does in sockets:
            does_it = does is None or does(sock)
            now = state(sock)
            wrong = [(key, was[name].get(key), now.get(key))
                for key in {**now, **was[name]}
                if now.get(key) != was[name].get(key)]
            if wrong or not does_it:
                os.write(diff, ('%s %s %r\n' % (name, does_it, wrong)
                    ).encode())
            count[name] += 1
            os.write(log, ('%s %d %d\n' % (name, count[name],
                len(wrong) + (not does_it))).encode())
        for end in ends:
            try:
                if end.recv(1) == b'' and ended < 2:
                    ended += 1
                    os.write(log, b'ended %d 0\n' % ended)
            except BlockingIOError:
                pass
        rest(path)
        time.sleep(0.02)


if __name__ == '__main__':
    main(*sys.argv[1:])
