#!/usr/bin/env python3
"""gone.py LOG: count in the log while deleted files are the same: the current
directory, open directories, a file in one of them, a FIFO with unread bytes, a
device, a symbolic link, a file with small holes; and a symbolic link that is
not deleted.  Once LOG.talk exists, read the bytes.
"""
import os
import stat
import sys
import time

BLOCK = 4096


def inode(st):
    return (st.st_mode, st.st_uid, st.st_gid, st.st_rdev, st.st_nlink,
            st.st_mtime_ns // 1000)


def holes(fd):
    found = []
    at = 0
    while at < os.fstat(fd).st_size:
        at = os.lseek(fd, at, os.SEEK_HOLE)
        found.append(at)
        try:
            at = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            break
        found.append(at)
    return found


os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
base = sys.argv[1] + '.'

file = os.open(base + 'file', os.O_RDWR | os.O_CREAT, 0o640)
for block in (0, 2, 4, 5, 9):
    os.pwrite(file, b'x' * BLOCK, block * BLOCK)
os.ftruncate(file, 12 * BLOCK + 5)
os.utime(file, (1000, 2000.5))
os.unlink(base + 'file')

os.mkfifo(base + 'fifo')
os.chmod(base + 'fifo', 0o620)
os.chown(base + 'fifo', 5, 6)
fifo = os.open(base + 'fifo', os.O_RDWR)
os.write(fifo, b'wait')
os.unlink(base + 'fifo')

os.mknod(base + 'null', stat.S_IFCHR | 0o604, os.makedev(1, 3))
null = os.open(base + 'null', os.O_RDWR)
os.unlink(base + 'null')

os.symlink('to where', base + 'link')
link = os.open(base + 'link', os.O_PATH | os.O_NOFOLLOW)
os.unlink(base + 'link')
os.symlink('there', base + 'kept')
kept = os.open(base + 'kept', os.O_PATH | os.O_NOFOLLOW)

os.mkdir(base + 'open', 0o710)
where = os.open(base + 'open', os.O_RDONLY)
os.utime(where, (3000, 4000.25))
os.rmdir(base + 'open')
# the directories are opened before what is in them
os.makedirs(base + 'nest/in')
nest = [os.open(base + name, os.O_RDONLY) for name in ('nest', 'nest/in')]
nest.append(os.open(base + 'nest/in/file', os.O_RDWR | os.O_CREAT))
os.write(nest[2], b'deep')
os.unlink(base + 'nest/in/file')
os.rmdir(base + 'nest/in')
os.rmdir(base + 'nest')
os.mkdir(base + 'cwd')
os.chown(base + 'cwd', 7, 8)
os.chdir(base + 'cwd')
os.rmdir(base + 'cwd')


def state():
    return ([inode(os.fstat(fd)) for fd in (file, fifo, null, where, link)],
            [inode(os.fstat(fd))[:5] for fd in nest],
            os.readlink('', dir_fd=link), os.readlink('', dir_fd=kept),
            inode(os.stat('.')), holes(file), os.readlink('/proc/self/cwd'),
            os.pread(nest[2], 9, 0),
            os.pread(file, 13 * BLOCK, 0).count(b'x'))


was = state()
n = 0
while not os.path.exists(base + 'talk'):
    n += 1
    log.write('gone %d %d\n' % (n, state() != was))
    time.sleep(.01)
log.write('read %s\n' % os.read(fifo, 100).decode())
time.sleep(1000)
