#!/usr/bin/env python3
"""pages.py LOG - a process and its child whose memory changes all the time

Each kilobyte has its number and a version, of which a copy is kept.  Some of
the first pages are written or zeroed, some are dropped or change places, one
mapping moves, and a part is shared.  A deleted file has the same bytes as some
memory.  A line of tests/targets/apart.h counts what is wrong.
"""
import mmap
import os
import random
import struct
import sys
import time

from counter import apart

PAGES, CHANGING, SHARED, PAGE, KB = 6144, 1024, 256, 4096, 1024


class Area:
    def __init__(self, pages, flags):
        self.map = mmap.mmap(-1, pages * PAGE, flags=flags)
        self.version = [0] * (pages * 4)
        for i in range(len(self.version)):
            self.write(i, 1)

    def write(self, i, version):
        self.map[i * KB:i * KB + 16] = struct.pack('QQ', i if version else 0,
            version)
        self.version[i] = version

    def drop(self, page):
        self.map.madvise(mmap.MADV_DONTNEED, page * PAGE, PAGE)
        self.version[page * 4:page * 4 + 4] = [0] * 4

    def wrong(self, i):
        want = (i, self.version[i]) if self.version[i] else (0, 0)
        return struct.unpack_from('QQ', self.map, i * KB) != want


def deleted(path, content):
    """Return a descriptor of a deleted file with this content."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(fd, content)
    os.unlink(path)
    return fd


def run(log, name, own, shared, gone):
    moving = None
    # pages that change places
    turning = mmap.mmap(-1, 64 * PAGE, flags=mmap.MAP_PRIVATE |
        mmap.MAP_ANONYMOUS)
    turning[:] = os.urandom(64 * PAGE)
    turned = turning[:]
    same = os.pread(gone, 4 * PAGE, 0)
    for n in range(1, 1 << 30):
        wrong = moving is not None and moving[0:8] != b'%8d' % (n - 1)
        wrong += turning[:] != turned
        wrong += os.pread(gone, 4 * PAGE, 0) != same
        turned = turned[PAGE:] + turned[:PAGE]
        turning[:] = turned
        moving = mmap.mmap(-1, (n % 7 + 1) * PAGE)
        moving[0:8] = b'%8d' % n
        for area in own, shared:
            size = len(area.version)
            first = 0 if n % 20 == 0 else random.randrange(size)
            last = size if n % 20 == 0 else first + 200
            wrong += sum(area.wrong(i) for i in range(first, min(last, size)))
            for _ in range(20):
                area.write(random.randrange(min(size, CHANGING * 4)),
                    n % 4 and n + 1)
        own.drop(random.randrange(CHANGING))
        os.write(log, b'%s %d %d\n' % (name, n, wrong))
        time.sleep(0.005)


def main(path):
    log = apart(path)
    own = Area(PAGES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    parts = [Area(SHARED, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        for _ in range(2)]
    gone = deleted(path + '.gone', os.urandom(4 * PAGE))
    run(log, *((b'parent', own, parts[0], gone) if os.fork() else
        (b'child', own, parts[1], gone)))


main(sys.argv[1])
