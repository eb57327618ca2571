#!/usr/bin/env python3
"""huge.py LOG: count in the log while the contents of huge pages of hugetlbfs
are right: private ones, shared ones, those of an open memfd, and of a closed
one.  Exits 2 if there are none.
"""
import mmap
import os
import sys
import time

HUGE = 2 << 20
SIZE = 2 * HUGE
MAP_HUGETLB = 0x40000 | 21 << 26
MFD_HUGETLB = 4 | 21 << 26


def memfd(name, flags):
    fd = os.memfd_create(name, flags | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, SIZE)
    return fd, mmap.mmap(fd, SIZE)


def lines():
    kinds = {}
    with open('/proc/self/smaps', encoding='utf-8') as smaps:
        for line in smaps:
            word = line.split()
            if line[0] in '0123456789abcdef':
                name = word[5] if len(word) > 5 else ''
            elif word[0] == 'KernelPageSize:' and word[1] == '2048':
                kinds[name.replace('/memfd:', '', 1)] = 1
    return sorted(kinds)


os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
try:
    own = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS |
                    MAP_HUGETLB)
    shared = mmap.mmap(-1, SIZE, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS |
                       MAP_HUGETLB)
    fd, there = memfd('there', MFD_HUGETLB)
    other, gone = memfd('gone', MFD_HUGETLB)
except OSError:
    sys.exit(2)
os.close(other)
all_ = [own, shared, there, gone]
for i, m in enumerate(all_):
    m[HUGE + 4096:HUGE + 4104] = b'memory %d' % i
was = lines()
child = os.fork()
n = 0
while True:
    n += 1
    if child:
        shared[HUGE + 16:HUGE + 24] = b'%8d' % n
        own[HUGE:HUGE + 8] = b'%8d' % n
    wrong = lines() != was or len(was) < 3
    for i, m in enumerate(all_):
        wrong += m[HUGE + 4096:HUGE + 4104] != b'memory %d' % i
        wrong += m[HUGE + 8192:HUGE + 12288] != bytes(4096)
    wrong += os.pread(fd, 8, HUGE + 4096) != b'memory 2'
    wrong += os.fstat(fd).st_size != SIZE or os.fstat(fd).st_blksize != HUGE
    wrong += own[HUGE:HUGE + 8] != (b'%8d' % n if child else bytes(8))
    log.write('%s %d %d\n' % ('huge' if child else 'child', n, wrong))
    time.sleep(.01)
