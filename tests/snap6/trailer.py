#!/usr/bin/env python3
"""trailer - write the trailer of a snapshot, slowly

usage: trailer.py [-s] snapshot-without-one > trailer

With -s, write checksums only, without an index. It follows man6/snap.6 and
shares no code with the library.
"""

import struct
import sys

sys.dont_write_bytecode = True

from reader import FILES, KB, Reader
from xxh3 import xxh3

MB = 1 << 20
RAW, ZERO, SAME = range(3)
MAGIC = b'SNAPEND\n'


def number(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def difference(n, last):
    d = (n - last) % (1 << 64)
    return number(2 * d if d < 1 << 63 else 2 * ((1 << 64) - d) - 1)


class Index(Reader):
    """Read a stream and note its contents in the form of an index."""

    def read(self):
        self.records, self.index = 0, b''
        self.pid = 0
        self.raw = {}               # place in the stream: raw page
        self.same = 0
        return super().read()

    def record(self):
        start, self.body, self.end = self.pos, [], 0
        self.records += 1
        super().record()
        pid, name = self.last
        self.index += difference(pid, self.pid)
        self.pid = pid
        types = FILES + [b'text', b'mem']
        if name in types:
            self.index += number(types.index(name))
        else:
            self.index += number(len(types)) + number(len(name)) + name
        self.index += b''.join(self.body) + number(self.pos - start)

    def head(self):
        self.last = super().head()
        return self.last

    def count(self):
        n = super().count()
        self.body.append(number(n))
        return n

    def segment(self, image):
        self.runs = []
        super().segment(image)
        for kind, n, first, size in self.runs:
            self.body.append(number(n << 2 | kind))
            if kind == SAME:
                self.body.append(number(size - 25 * n))
                self.body.append(difference(first, self.same))
                self.same = first + n

    def extent(self):
        base, length, pages = super().extent()
        self.body.append(difference(base, self.end) + number(length))
        self.end = base + length
        return base, length, pages

    def zeros(self, most):
        n = super().zeros(most)
        if n:
            self.run(ZERO, n, 0, n)
        return n

    def raws(self, most):
        first = self.pos + 1
        n = super().raws(most)
        if n:
            for where in range(first, self.pos, 1 + KB):
                self.raw[where] = len(self.raw)
            self.run(RAW, n, 0, (1 + KB) * n)
        return n

    def page(self, room):
        start = self.pos
        flag, where, size = super().page(room)
        first = 0
        if flag == b'r':
            kind = RAW
            self.raw[where] = len(self.raw)
        elif flag == b'z':
            kind = ZERO
        else:
            kind = SAME
            first = self.raw[where]
        self.run(kind, 1, first, self.pos - start)
        return flag, where, size

    def run(self, kind, n, first, size):
        """Add n pages, size bytes in the stream, to the last run, or begin
        one."""
        last = self.runs[-1] if self.runs else (None, 0, 0, 0)
        if last[0] == kind and (kind != SAME or last[2] + last[1] == first):
            self.runs[-1] = kind, last[1] + n, last[2], last[3] + size
        else:
            self.runs.append((kind, n, first, size))


def named(name, data):
    return b'%s\n%11d ' % (name, len(data)) + data


def seal(files):
    """Return the trailer with these files, followed by the file "end"."""
    files = b'linux index 1\n' + files + b'end\n%11d ' % 24
    out = b'%11d proc\n%11d ' % (0, len(files) + 24) + files
    out += struct.pack('<Q', len(out) + 24)
    return out + struct.pack('<Q', xxh3(out)) + MAGIC


def write(stream, index=True, records=0):
    """Return the trailer of stream. It counts this number of records more
    than there are."""
    stream = bytes(stream)
    read = Index(stream).read()
    sums = [xxh3(stream[at:at + MB]) for at in range(0, len(stream), MB)]
    files = named(b'before', b'%d %d\n' % (read.records + records,
                                           len(stream)))
    files += named(b'sums', struct.pack('<%dQ' % len(sums), *sums))
    if index:
        files += named(b'index', read.index)
    out = seal(files)
    if index and len(out) > len(stream) // 100:
        return write(stream, False, records)
    return out


def main(args):
    index = args[:1] != ['-s']
    with open(args[-1], 'rb') as file:
        sys.stdout.buffer.write(write(file.read(), index))


if __name__ == '__main__':
    main(sys.argv[1:])
