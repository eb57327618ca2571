#!/usr/bin/env python3
"""
A client that measures how long it waits: client.py KIND HOST PORT SECONDS
[RATE KEYS].  KIND is redis, memcached, http or postgres.  It sends a request,
waits for the answer, compares it with the one that must come, and sends the
next after 5 ms; with RATE after 1 ms.  It prints the longest wait, that of the
99th percentile, both in microseconds, the number of requests, and the number
of wrong answers and lost connections.

With RATE, a redis is also sent RATE new values of 4,000 bytes a second, for
random ones of KEYS keys.  client.py fill HOST PORT KEYS writes each key once.
"""
import os
import random
import socket
import sys
import threading
import time

VALUE = 4000


class Redis:
    """A counter of its own, which shows lost and repeated requests."""
    REQUEST, ANSWER = b'INCR probe%d\r\n', b':%d\r\n'

    def __init__(self, s):
        self.s = s
        self.n = 0

    def ask(self):
        self.n += 1
        self.s.sendall(self.REQUEST % os.getpid())
        return line(self.s) == self.ANSWER % self.n


class Memcached(Redis):
    """The same; a counter must exist before it is incremented."""
    REQUEST, ANSWER = b'incr probe%d 1\r\n', b'%d\r\n'

    def __init__(self, s):
        super().__init__(s)
        s.sendall(b'set probe%d 0 0 1\r\n0\r\n' % os.getpid())
        line(s)


class Http:
    """One connection; the answer has a Content-Length."""
    def __init__(self, s):
        self.s = s

    def ask(self):
        self.s.sendall(b'GET / HTTP/1.1\r\nHost: probe\r\n\r\n')
        ok = line(self.s).startswith(b'HTTP/1.1 200')
        length = 0
        while (head := line(self.s)) != b'\r\n':
            if head.lower().startswith(b'content-length:'):
                length = int(head.split(b':')[1])
        while length > 0:
            length -= len(some(self.s, length))
        return ok


class Postgres:
    """A query by primary key; no password is asked for."""
    def __init__(self, s):
        self.s = s
        body = b'\0\3\0\0user\0postgres\0database\0postgres\0\0'
        s.sendall((len(body) + 4).to_bytes(4, 'big') + body)
        self.until_ready()

    def until_ready(self):
        types = b''
        while not types.endswith(b'Z'):
            types += exactly(self.s, 1)
            exactly(self.s, int.from_bytes(exactly(self.s, 4), 'big') - 4)
        return types

    def ask(self):
        query = b'select v from t where k = %d\0' % random.randrange(10000)
        self.s.sendall(b'Q' + (len(query) + 4).to_bytes(4, 'big') + query)
        return self.until_ready() == b'TDCZ'


def some(s, n):
    data = s.recv(n)
    if not data:
        raise OSError('the connection was closed')
    return data


def exactly(s, n):
    data = b''
    while len(data) < n:
        data += some(s, n - len(data))
    return data


def line(s):
    data = b''
    while not data.endswith(b'\n'):
        data += some(s, 1)
    return data


def connect():
    s = socket.create_connection((host, port))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def probe(waits, errors):
    try:
        client = kinds[kind](connect())
        while time.time() < until:
            start = time.time()
            if not client.ask():
                errors.append('a wrong answer')
            waits.append(time.time() - start)
            time.sleep(nap)
    except OSError as e:
        errors.append(str(e))


def values_send(s, first, n, key):
    """Write n values, numbered from first on."""
    out = b''
    for i in range(first, first + n):
        at = i * 7919 % (len(noise) - VALUE)
        out += (b'*3\r\n$3\r\nSET\r\n$10\r\nk%09d\r\n$%d\r\n%010d%s\r\n' %
                (key(i), VALUE, i, noise[at:at + VALUE - 10]))
    s.sendall(out)
    exactly(s, n * len(b'+OK\r\n'))


def load(errors):
    sent = 0
    start = time.time()
    try:
        s = connect()
        while time.time() < until:
            # do not make up for what a stop has delayed
            due = int((time.time() - start) * rate) - sent
            start += max(0, due - 400) / rate
            due = min(due, 400)
            if due > 0:
                values_send(s, keys + sent, due,
                            lambda i: random.randrange(keys))
                sent += due
            time.sleep(0.001)
    except OSError as e:
        errors.append(str(e))


def fill():
    s = connect()
    for k in range(0, keys, 200):
        values_send(s, k, min(200, keys - k), lambda i: i)


def main():
    waits, errors = [], []
    threads = [threading.Thread(target=probe, args=(waits, errors))]
    if rate > 0:
        threads.append(threading.Thread(target=load, args=(errors,)))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    waits.sort()
    print(*(int(waits[i] * 1e6) for i in (-1, len(waits) * 99 // 100))
          if waits else ('-', '-'), len(waits), len(errors))
    for e in errors[:3]:
        print(e, file=sys.stderr)


kinds = {'redis': Redis, 'memcached': Memcached, 'http': Http,
         'postgres': Postgres}
kind, host = sys.argv[1:3]
port = int(sys.argv[3])
noise = os.urandom(1 << 20).hex().encode()
if kind == 'fill':
    keys = int(sys.argv[4])
    fill()
else:
    until = time.time() + float(sys.argv[4])
    rate, nap = 0, 0.005
    if len(sys.argv) > 5:
        rate, keys, nap = int(sys.argv[5]), int(sys.argv[6]), 0.001
    main()
