#!/usr/bin/env python3
"""inotify.py LOG [events]: watch a directory and a file, and count in the log
while both are watched as they were; LOG.talk has it tell of what happens.  With
events some wait to be read.
"""
import ctypes
import os
import struct
import sys
import time

IN_MODIFY, IN_CREATE, IN_NONBLOCK = 2, 0x100, os.O_NONBLOCK
libc = ctypes.CDLL(None)
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
base = sys.argv[1] + '.'


def watches():
    with open('/proc/self/fdinfo/%d' % fd, encoding='ascii') as f:
        return sorted(line for line in f if line[:7] == 'inotify')


def add(path, mask):
    return libc.inotify_add_watch(fd, path.encode(), mask)


os.mkdir(base + 'a b')
for name in 'file', 'other':
    os.close(os.open(base + name, os.O_CREAT | os.O_RDWR))
fd = libc.inotify_init1(IN_NONBLOCK)
add(base + 'a b', IN_CREATE)
libc.inotify_rm_watch(fd, add(base + 'other', IN_MODIFY))
os.read(fd, 100)        # IN_IGNORED
add(base + 'file', IN_MODIFY)
if len(sys.argv) > 2:
    os.close(os.open(base + 'a b/early', os.O_CREAT | os.O_RDWR))
was = watches()
n = 0
while not os.path.exists(base + 'talk'):
    n += 1
    log.write('inotify %d %d\n' % (n, watches() != was or len(was) != 2))
    time.sleep(.01)
os.close(os.open(base + 'a b/new', os.O_CREAT | os.O_RDWR))
with open(base + 'file', 'w', encoding='ascii') as f:
    f.write('x')
events = os.read(fd, 4096)
while events:
    wd, mask, _, size = struct.unpack('iIII', events[:16])
    log.write('event %d %x %s\n' % (wd, mask,
              events[16:16 + size].rstrip(b'\0').decode()))
    events = events[16 + size:]
time.sleep(1000)
