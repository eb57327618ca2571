#!/usr/bin/env python3
"""sessions.py PORT LOG: have four sessions with a local PostgreSQL server, each
of which counts in a table row of its own; write a line "sessionI COUNT WRONG"
for each number, where WRONG is 1 if it is not the next one.
"""
import socket
import struct
import sys
import threading

log = open(sys.argv[2], 'a', buffering=1, encoding='utf-8')


class Session:
    def __init__(self):
        self.peer = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
        self.file = self.peer.makefile('rb')
        self.send(b'', b'\0\3\0\0user\0x\0database\0postgres\0\0')
        self.answer()

    def send(self, kind, text):
        self.peer.sendall(kind + struct.pack('>I', len(text) + 4) + text)

    def answer(self):
        """Return the first value of the last row, up to ReadyForQuery."""
        value = None
        while True:
            kind, length = struct.unpack('>cI', self.file.read(5))
            text = self.file.read(length - 4)
            if kind == b'Z':
                return value
            if kind == b'E':
                raise OSError(text)
            if kind == b'D':
                value = text[6:]

    def ask(self, query):
        self.send(b'Q', query.encode() + b'\0')
        return self.answer()


def count(number):
    session = Session()
    n = 0
    while True:
        n += 1
        got = session.ask('update counts set n = n + 1 where id = %d '
                          'returning n' % number)
        log.write('session%d %d %d\n' % (number, n, int(got) != n))


first = Session()
first.ask('create table counts (id int primary key, n int)')
first.ask('insert into counts select id, 0 from generate_series(1, 4) as id')
threads = [threading.Thread(target=count, args=(i,)) for i in range(1, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
