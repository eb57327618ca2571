#!/usr/bin/env python3
"""fanotify.py LOG [ask|all|gone|answer]: watch LOG.dir, a mount, and LOG.file,
and count in the log while the marks are the same.  Once LOG.talk exists, change
both and log the events.  ask: with permission events; all: watch a whole file
system; gone: the file is open, and its name deleted.  Exits 2 without fanotify.

answer: decide whether LOG.file, which is mapped, may be opened and read, and
allow it.
"""
import ctypes
import mmap
import os
import struct
import sys
import threading
import time

ADD, MOUNT, IGNORED, SURVIVES, ALL = 1, 0x10, 0x20, 0x40, 0x100
CLOSE_WRITE, MODIFY, OPEN_PERM, ACCESS_PERM = 8, 2, 0x10000, 0x20000
ALLOW = 1
CONTENT, NONBLOCK = 4, 2
AT_FDCWD = -100
libc = ctypes.CDLL(None)
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
base = sys.argv[1] + '.'
what = sys.argv[2] if len(sys.argv) > 2 else ''


def marks():
    with open('/proc/self/fdinfo/%d' % fd, encoding='ascii') as f:
        seen = sorted(line for line in f if line[:8] == 'fanotify')
    if what == 'gone':      # a restore changes its inode
        seen = [line.partition('mflags')[2].split()[:3] for line in seen]
    return seen


def mark(flags, mask, path):
    if libc.fanotify_mark(fd, ADD | flags, ctypes.c_uint64(mask), AT_FDCWD,
                          path.encode()) != 0:
        sys.exit(2)


def answer():
    while True:
        of = struct.unpack('IBBHQii', os.read(fd, 24))[5]
        os.write(fd, struct.pack('iI', of, ALLOW))
        os.close(of)


file = os.open(base + 'file', os.O_CREAT | os.O_RDWR)
if what == 'answer':
    os.write(file, b'x' * 8192)
    mapped = mmap.mmap(file, 8192)
    private = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
if what != 'gone':
    os.close(file)
fd = libc.fanotify_init({'ask': NONBLOCK | CONTENT,
                         'answer': CONTENT}.get(what, NONBLOCK), os.O_RDONLY)
if fd == -1:
    sys.exit(2)
if what == 'answer':
    mark(0, OPEN_PERM | ACCESS_PERM, base + 'file')
    mark(MOUNT, OPEN_PERM, base + 'dir')
    threading.Thread(target=answer, daemon=True).start()
    at = [ctypes.addressof(ctypes.c_char.from_buffer(m))
          for m in (mapped, private)]
    n = 0
    while True:
        n += 1
        for m in mapped, private:
            m[0:14] = b'=%012d=' % n
        log.write('fanotify %x %x\n' % tuple(at))
        time.sleep(.001)
mark(0, MODIFY | (OPEN_PERM if what == 'ask' else 0), base + 'file')
mark(MOUNT, CLOSE_WRITE, base + 'dir')
mark(MOUNT | IGNORED | SURVIVES, MODIFY, base + 'dir')
if what == 'all':
    mark(ALL, CLOSE_WRITE, base + 'dir')
if what == 'gone':
    os.unlink(base + 'file')
was = marks()
n = 0
while not os.path.exists(base + 'talk'):
    n += 1
    log.write('fanotify %d %d\n' % (n, marks() != was or len(was) < 3))
    time.sleep(.01)
for name in 'file', 'dir/new':
    if name == 'file' and what == 'gone':
        os.write(file, b'x')
        continue
    with open(base + name, 'w', encoding='ascii') as f:
        f.write('x')
events = os.read(fd, 4096)
while events:
    size, _, _, _, mask, of, _ = struct.unpack('IBBHQii', events[:24])
    log.write('event %x %s\n' % (mask, os.path.basename(
              os.readlink('/proc/self/fd/%d' % of))))
    events = events[size:]
time.sleep(1000)
