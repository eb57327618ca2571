#!/usr/bin/env python3
"""hidden.py LOG MOUNT WHAT: have a file that its path does not lead to, and
count in the log.  Below LOG.d another file has this path.

MOUNT: lazy, the mount of the file is detached; covered, a tmpfs covers it.
WHAT: open, map, cwd or root.

hidden.py LOG long WHAT: open or map a file whose path is too long for open(2).

hidden.py LOG fine: have files near mounts that their paths do lead to, and
count while their contents are right.
"""
import mmap
import os
import subprocess
import sys
import time

from counter import apart

HOW, WHAT = (sys.argv[2:] + [''])[:2]
log = apart(sys.argv[1])
DIR = sys.argv[1] + '.d'
os.mkdir(DIR)


def mount(*args):
    subprocess.check_call(('mount',) + args, stdout=subprocess.DEVNULL)


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='ascii') as f:
        f.write(text.ljust(4096))
    return path


def have(path):
    """Open or map the file at path.  Return how to read four bytes of it."""
    fd = os.open(path, os.O_RDWR)
    if WHAT != 'map':
        return lambda: os.pread(fd, 4, 0)
    memory = mmap.mmap(fd, 4096)
    os.close(fd)
    return lambda: memory[:4]


def fine():
    global WHAT
    os.makedirs(DIR + '/a b/bound')
    os.makedirs(DIR + '/below')
    put(DIR + '/below/file', 'none')
    mount('-t', 'tmpfs', 'none', DIR + '/below')
    mount('-t', 'tmpfs', 'none', DIR + '/a b')
    os.makedirs(DIR + '/a b/bound')
    mount('--bind', DIR + '/below', DIR + '/a b/bound')
    got = [have(put(DIR + '/below/file', 'over')),
           have(put(DIR + '/a b/bound/more', 'over')),
           have(put(DIR + '/same', 'over')),
           have(put(DIR + '/below/gone', 'over'))]
    os.unlink(DIR + '/below/gone')
    mount('--bind', DIR + '/same', DIR + '/same')       # covers itself
    WHAT = 'map'
    got += [have(DIR + '/a b/bound/file')]
    os.chdir(DIR + '/a b/bound')
    return lambda: any(g() != b'over' for g in got)


def hidden():
    real = put(DIR + '/in/file', 'real')
    top = DIR + '/m' if HOW == 'lazy' else ''
    if HOW == 'lazy':
        os.mkdir(top)
        mount('-t', 'tmpfs', 'none', top)
        put(top + real, 'mine')
    got = None
    if WHAT in ('cwd', 'root'):
        os.chdir(os.path.dirname(top + real))
    else:
        got = have(top + real)
    if HOW == 'lazy':
        subprocess.check_call(('umount', '-l', top))
    else:
        mount('-t', 'tmpfs', 'none', os.path.dirname(real))
        put(real, 'over')
    if WHAT == 'root':
        os.chroot('.')
    return got


def long():
    os.chdir(DIR)
    for _ in range(20):
        os.mkdir('d' * 250)
        os.chdir('d' * 250)
    got = have(put('./file', 'mine'))
    os.chdir('/')
    return got


check = {'fine': fine, 'long': long}.get(HOW, hidden)()
n = 0
while True:
    n += 1
    os.write(log, b'hidden %d %d\n' % (n, HOW == 'fine' and check()))
    time.sleep(.01)
