#!/usr/bin/env python3
"""A client of 9P2000, written from section 5 of the Plan 9 manual.

usage: ninep.py ADDRESS same DIR	compare the tree with that in DIR
       ninep.py ADDRESS rules		check allowed and refused requests
       ninep.py ADDRESS hostile SEED	send bad messages; others are served

ADDRESS is a path or HOST:PORT. It prints only errors.
"""

import os
import random
import socket
import struct
import sys

NOFID = 0xffffffff
DIR = 0x80
TYPES = {'version': 100, 'auth': 102, 'attach': 104, 'flush': 108,
         'walk': 110, 'open': 112, 'create': 114, 'read': 116, 'write': 118,
         'clunk': 120, 'remove': 122, 'stat': 124, 'wstat': 126}
SIZES = {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}


def string(text):
    data = text.encode('utf-8', 'surrogateescape')
    return struct.pack('<H', len(data)) + data


def message(kind, *parts, tag=1):
    """Return a message.  In parts, a number is a pair of value and size."""
    body = b''.join(p if isinstance(p, bytes) else
                    string(p) if isinstance(p, str) else
                    struct.pack('<' + SIZES[p[1]], p[0]) for p in parts)
    number = TYPES.get(kind, kind)
    return struct.pack('<IBH', 7 + len(body), number, tag) + body


def walk(fid, new, *names):
    return message('walk', (fid, 4), (new, 4), (len(names), 2), *names)


class Refused(Exception):
    pass


class Client:
    def __init__(self, address, msize=8192, attach=True):
        self.next = 1
        if '/' in address:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(address)
        else:
            host, port = address.rsplit(':', 1)
            self.sock = socket.create_connection((host, int(port)))
        self.sock.settimeout(60)
        if attach:
            answer = self.ask('version', (msize, 4), '9P2000')
            self.msize = struct.unpack_from('<I', answer)[0]
            assert answer[4:] == string('9P2000'), answer
            self.ask('attach', (0, 4), (NOFID, 4), 'me', '')

    def exactly(self, n):
        data = b''
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def answer(self):
        size, kind, tag = struct.unpack('<IBH', self.exactly(7))
        return kind, tag, self.exactly(size - 7)

    def ask(self, kind, *parts):
        self.sock.sendall(message(kind, *parts, tag=7))
        got, tag, body = self.answer()
        assert tag == 7, tag
        if got == 107:
            raise Refused(body[2:].decode())
        assert got == TYPES[kind] + 1, (kind, got)
        return body

    def walk(self, *names, fid=0):
        new = self.next
        self.next += 1
        self.sock.sendall(walk(fid, new, *names))
        got, _, body = self.answer()
        if got == 107:
            raise Refused(body[2:].decode())
        if struct.unpack_from('<H', body)[0] < len(names):
            raise Refused('only a part')
        return new

    def read(self, fid, off, count):
        body = self.ask('read', (fid, 4), (off, 8), (count, 4))
        assert struct.unpack_from('<I', body)[0] == len(body) - 4 <= count
        return body[4:]

    def stat(self, fid):
        body = self.ask('stat', (fid, 4))
        assert struct.unpack_from('<H', body)[0] == len(body) - 2
        entries = list(stats(body[2:]))
        assert len(entries) == 1
        return entries[0]

    def range(self, fid, off, n):
        """Return the bytes read, and 'error', 'end' or '' if n were read."""
        data = b''
        while len(data) < n:
            try:
                more = self.read(fid, off + len(data),
                                 min(n - len(data), self.msize))
            except Refused:
                return data, 'error'
            if not more:
                return data, 'end'
            data += more
        return data, ''

    def list(self, fid):
        self.ask('open', (fid, 4), (0, 1))
        data, end = self.range(fid, 0, 1 << 40)
        assert end == 'end', end
        return list(stats(data))


def stats(data):
    """Yield name, type and path of the qid, mode, mtime, length, owner."""
    while data:
        size, _, _, kind, _, path, mode, _, mtime, length = struct.unpack_from(
            '<HHIBIQIIIQ', data)
        rest, data = data[41:2 + size], data[2 + size:]
        names = []
        while rest:
            n = struct.unpack_from('<H', rest)[0]
            names.append(rest[2:2 + n].decode('utf-8', 'surrogateescape'))
            rest = rest[2 + n:]
        assert len(names) == 4 and bool(mode >> 31) == (kind == DIR)
        yield names[0], kind, path, mode & 0o777, mtime, length, names[1]


def pread(fd, off, n):
    data = b''
    while len(data) < n:
        try:
            more = os.pread(fd, n - len(data), off + len(data))
        except OSError:
            return data, 'error'
        if not more:
            return data, 'end'
        data += more
    return data, ''


def runs(fd, size, most):
    """Yield offset and size of pieces with data, at most most bytes in all,
    then a piece at the end of the file."""
    at = 0
    while most > 0 and at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            break
        at = os.lseek(fd, start, os.SEEK_HOLE)
        n = min(at - start, most, 1 << 20)
        yield start, n
        most -= n
    yield size, 100


def same(client, directory):
    files = 0
    stack = [()]
    while stack:
        names = stack.pop()
        path = os.path.join(directory, *names)
        fid = client.walk(*names[:16])
        if len(names) > 16:
            fid = client.walk(*names[16:], fid=fid)
        st = os.stat(path)
        name, kind, ino, mode, mtime, length, owner = client.stat(fid)
        want = (names[-1] if names else '/', st.st_ino, st.st_mode & 0o777,
                int(st.st_mtime), str(st.st_uid))
        if (name, ino, mode, mtime, owner) != want:
            print(path, name, ino, mode, mtime, owner)
        if kind == DIR:
            found = client.list(fid)
            if sorted(e[0] for e in found) != sorted(os.listdir(path)):
                print(path, 'has other entries', found)
            stack += [names + (e[0],) for e in found]
            if names:
                up = client.walk('..', fid=client.walk(*names[:16]))
                if len(names) < 16 and client.stat(up)[2] != os.stat(
                        os.path.dirname(path)).st_ino:
                    print(path, 'has another parent')
        else:
            client.ask('open', (fid, 4), (3, 1))
            fd = os.open(path, os.O_RDONLY)
            for off, n in runs(fd, st.st_size, min(client.msize << 6, 2 << 20)):
                if client.range(fid, off, n) != pread(fd, off, n):
                    print(path, 'differs from byte', off)
            os.close(fd)
            if length != st.st_size:
                print(path, length)
            files += 1
        client.ask('clunk', (fid, 4))
    if files < 20:
        print('only', files, 'files')


def refused(client, why, kind, *parts):
    try:
        client.ask(kind, *parts)
        got = 'nothing'
    except Refused as error:
        got = str(error)
    if got != why:
        print(kind, parts, 'was refused for', got)


def rules(address):
    client = Client(address)
    pid = client.list(client.walk())[0][0]
    top, regs, mem = client.walk(), client.walk(pid, 'regs'), \
        client.walk(pid, 'mem')
    for mode in 1, 2, 16, 64, 255:
        refused(client, 'Read-only file system', 'open', (regs, 4), (mode, 1))
    refused(client, 'Read-only file system', 'create', (top, 4), 'new',
            (0o666, 4), (0, 1))
    refused(client, 'Read-only file system', 'wstat', (regs, 4), b'\0\0')
    refused(client, 'Bad file descriptor', 'read', (regs, 4), (0, 8), (9, 4))
    client.ask('open', (regs, 4), (0, 1))
    refused(client, 'Device or resource busy', 'open', (regs, 4), (0, 1))
    refused(client, 'Read-only file system', 'write', (regs, 4), (0, 8),
            (1, 4), b'x')
    refused(client, 'Read-only file system', 'remove', (regs, 4))
    refused(client, 'Bad file descriptor', 'clunk', (regs, 4))
    refused(client, 'Operation not supported', 'auth', (9, 4), 'me', '')
    refused(client, 'Operation not supported', 'attach', (9, 4), (1, 4), '',
            '')
    refused(client, 'Device or resource busy', 'attach', (top, 4),
            (NOFID, 4), '', '')
    client.ask('flush', (3, 2))
    for names in [('none',), ('1/2',), ('',), ('.',), ('\0',), ('x' * 300,)]:
        refused(client, 'No such file or directory', 'walk', (0, 4),
                (99, 4), (len(names), 2), *names)
    refused(client, 'Bad message', 'walk', (0, 4), (99, 4), (17, 2),
            *['..'] * 17)
    for args in (0, top, 1), (top, top + 1, 1):
        body = client.ask('walk', (args[0], 4), (999, 4), (3, 2), '..', pid,
                          'none')
        if struct.unpack_from('<H', body)[0] != 2:
            print('a walk that fails in the middle', body)
    refused(client, 'Bad file descriptor', 'clunk', (999, 4))
    # memory above 2^63 cannot be read, nor can the page at 0
    client.ask('open', (mem, 4), (0, 1))
    for off in 1 << 63, (1 << 64) - 1:
        refused(client, 'Invalid argument', 'read', (mem, 4), (off, 8),
                (9, 4))
    refused(client, 'Input/output error', 'read', (mem, 4), (0, 8), (9, 4))
    client.ask('open', (top, 4), (0, 1))
    refused(client, 'Message too long', 'read', (top, 4), (0, 8), (9, 4))
    first = client.read(top, 0, 100)
    refused(client, 'Invalid argument', 'read', (top, 4), (1, 8), (999, 4))
    if client.read(top, 0, NOFID)[:len(first)] != first:
        print('a directory read again from the start')
    # a version request closes all fids
    answer = client.ask('version', (NOFID, 4), '9P2000.L')
    if answer[4:] != string('9P2000') or answer[:4] == b'\xff' * 4:
        print('9P2000.L', answer)
    refused(client, 'Bad file descriptor', 'stat', (top, 4))
    if client.ask('version', (8192, 4), '9P1999')[4:] != string('unknown'):
        print('an unknown version')
    refused(client, 'Protocol error', 'stat', (top, 4))
    refused(client, 'Message too long', 'version', (1023, 4), '9P2000')


def attack(address, data, good, more=b''):
    """Send data, return the answer, and check that good is still served."""
    client = Client(address)
    answer = b''
    client.sock.sendall(walk(0, 1))
    client.answer()
    try:
        client.sock.sendall(data + more)
        client.sock.shutdown(socket.SHUT_WR)
        while got := client.sock.recv(1 << 16):
            answer += got
    except OSError:
        pass                    # the server has closed the connection
    client.sock.close()
    good.stat(0)
    return answer


def hostile(address, seed):
    rand = random.Random(seed)
    good = Client(address)
    pid = good.list(good.walk())[0][0]
    valid = [message('version', (8192, 4), '9P2000'),
             message('auth', (5, 4), 'me', ''),
             message('attach', (5, 4), (NOFID, 4), 'me', ''),
             message('flush', (1, 2)),
             walk(0, 5, pid, 'status'),
             message('open', (1, 4), (0, 1)),
             message('create', (1, 4), 'new', (0, 4), (0, 1)),
             message('read', (1, 4), (0, 8), (100, 4)),
             message('write', (1, 4), (0, 8), (3, 4), b'abc'),
             message('clunk', (1, 4)), message('remove', (1, 4)),
             message('stat', (1, 4)), message('wstat', (1, 4), b'\3\0abc')]
    for data in valid:
        for n in range(len(data)):
            attack(address, data[:n], good)
            attack(address, struct.pack('<I', n) + data[4:n], good, data)
            bad = bytearray(data)
            bad[n] ^= rand.randrange(1, 256)
            attack(address, bytes(bad), good, data)
            bad[n] = 255
            attack(address, bytes(bad), good, data)
        attack(address, struct.pack('<I', len(data) + 3) + data[4:] + b'abc',
               good, data)
    for size in 0, 6, 8193, 1000000, 1 << 31, NOFID:
        if attack(address, struct.pack('<I', size) + b'x' * 1000000, good):
            print('an answer to a message of', size, 'bytes')
    for kind in range(256):
        attack(address, message(kind, b'x' * rand.randrange(40)), good)
    for _ in range(300):
        attack(address, b''.join(rand.choice(valid) for _ in range(50)), good)
    # more files than one client may have
    client = Client(address)
    try:
        while client.next < 10000:
            client.walk()
        print('more files than allowed')
    except Refused as error:
        if str(error) != 'Too many open files':
            print(error)
    client.ask('clunk', (5, 4))
    client.walk()
    # clients that do not read what they asked for
    deaf = [Client(address, attach=False) for _ in range(20)]
    for d in deaf:
        d.sock.setblocking(False)
        try:
            while True:
                d.sock.send(valid[0] * 100)
        except BlockingIOError:
            pass
    good.stat(0)
    # too many clients: existing ones are served, new ones after some have left
    many = []
    try:
        while len(many) < 100:
            many.append(Client(address))
        print('more clients than allowed')
    except OSError:
        pass
    except EOFError:
        pass
    good.stat(0)
    for c in deaf + many:
        c.sock.close()
    for _ in range(600):
        try:
            Client(address)
            return
        except (OSError, EOFError):
            pass
    print('no client after too many')


def main():
    address, what = sys.argv[1:3]
    if what == 'same':
        for msize in 1024, 1 << 30:
            same(Client(address, msize), sys.argv[3])
    elif what == 'rules':
        rules(address)
    else:
        hostile(address, int(sys.argv[3]))


if __name__ == '__main__':
    main()
