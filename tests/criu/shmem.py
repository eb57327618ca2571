#!/usr/bin/env python3
"""shmem.py LOG: open anonymous shared memory through map_files, and map it
privately; count in the log while all three show the same memory.
"""
import mmap
import os
import sys
import time

PAGE = mmap.PAGESIZE
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
shared = mmap.mmap(-1, 4 * PAGE)
shared[0:6] = b'shared'
shared[PAGE:PAGE + 6] = b'second'
with open('/proc/self/maps', encoding='utf-8') as maps:
    ranges = [line.split()[0] for line in maps if '/dev/zero (deleted)' in line]
fd = os.open('/proc/self/map_files/' + ranges[0], os.O_RDWR)
own = mmap.mmap(fd, 4 * PAGE, mmap.MAP_PRIVATE)
own[0:6] = b'my own'
n = 0
while True:
    n += 1
    shared[2 * PAGE:2 * PAGE + 8] = b'%8d' % n
    wrong = (shared[0:6] != b'shared' or own[0:6] != b'my own' or
             own[PAGE:PAGE + 6] != b'second' or
             os.pread(fd, 8, 2 * PAGE) != b'%8d' % n or
             own[2 * PAGE:2 * PAGE + 8] != b'%8d' % n or
             os.fstat(fd).st_size != 4 * PAGE)
    log.write('shmem %d %d\n' % (n, wrong))
    time.sleep(.01)
