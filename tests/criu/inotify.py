#!/usr/bin/env python3
"""inotify.py LOG [WHAT]: watch a directory and a file, and count in the log
while the watches are the same.  Once LOG.talk exists, change both and log the
events.  WHAT "events": some events are unread.  Any other WHAT deletes the name
of the file:

    linked, open    the file has another name; open: it is open
    gone            the file has no name, but is open and mapped
    lost            so is its directory deleted

WHAT "once" and "unlinked": the file has flags for one event alone, and for no
events after it is deleted.
"""
import ctypes
import mmap
import os
import struct
import sys
import time

IN_MODIFY, IN_CREATE, IN_NONBLOCK = 2, 0x100, os.O_NONBLOCK
IN_ONESHOT, IN_EXCL_UNLINK = 0x80000000, 0x4000000
libc = ctypes.CDLL(None)
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
base = sys.argv[1] + '.'
what = sys.argv[2] if len(sys.argv) > 2 else ''


def state():
    with open('/proc/self/fdinfo/%d' % fd, encoding='ascii') as f:
        seen = sorted(line for line in f if line[:7] == 'inotify')
    if what == 'gone':      # a restore changes its inode
        seen = [[w for w in line.split() if w.startswith(('wd', 'mask'))]
                for line in seen]
    return seen, os.fstat(file).st_nlink if file != -1 else 0


def add(path, mask):
    return libc.inotify_add_watch(fd, path.encode(), ctypes.c_uint32(mask))


os.mkdir(base + 'a b')
os.mkdir(base + 'dir')
path = base + ('dir/file' if what == 'lost' else 'file')
kept = base + 'dir/kept' if what in ('open', 'linked') else path
for name in kept, base + 'other':
    os.close(os.open(name, os.O_CREAT | os.O_RDWR))
if kept != path:
    os.link(kept, path)
file = os.open(path, os.O_RDWR) if what in ('open', 'gone', 'lost') else -1
fd = libc.inotify_init1(IN_NONBLOCK)
add(base + 'a b', IN_CREATE)
libc.inotify_rm_watch(fd, add(base + 'other', IN_MODIFY))
os.read(fd, 100)        # IN_IGNORED
add(path, IN_MODIFY | {'once': IN_ONESHOT, 'unlinked': IN_EXCL_UNLINK}.get(
    what, 0))
if what == 'events':
    os.close(os.open(base + 'a b/early', os.O_CREAT | os.O_RDWR))
elif what and what not in ('once', 'unlinked'):
    os.unlink(path)
if what == 'gone':
    os.ftruncate(file, mmap.PAGESIZE)
    os.read(fd, 100)        # IN_MODIFY
    shared = mmap.mmap(file, mmap.PAGESIZE)
if what == 'lost':
    os.rmdir(base + 'dir')
was = state()
n = 0
while not os.path.exists(base + 'talk'):
    n += 1
    log.write('inotify %d %d\n' % (n, state() != was or len(was[0]) != 2))
    time.sleep(.01)
os.close(os.open(base + 'a b/new', os.O_CREAT | os.O_RDWR))
if what == 'gone':
    shared.close()
if file == -1:
    file = os.open(kept, os.O_WRONLY)
os.write(file, b'x')
events = os.read(fd, 4096)
while events:
    wd, mask, _, size = struct.unpack('iIII', events[:16])
    log.write('event %d %x %s\n' % (wd, mask,
              events[16:16 + size].rstrip(b'\0').decode()))
    events = events[16 + size:]
time.sleep(1000)
