#!/usr/bin/env python3
"""spaces.py LOG [covered]: the init of its own pid and mount namespaces.  One
child sleeps in the same mount namespace.  Three others have their own, with a
tmpfs on /mnt; that of one also covers /opt, and another one is on "/mnt/a b";
one is an orphan whose session leader has ended.  Each counts in the log while
these are the same: its files, a UNIX socket with a name there, open namespaces,
a file and a directory of a process that has ended, and the ID for the next
message queue.  covered: the init has a tmpfs that a directory of it covers.
"""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

NEWNS = 0x20000
LOG = sys.argv[1]


def sh(line):
    subprocess.check_call(['sh', '-ec', line])


def apart(line):
    if ctypes.CDLL(None).unshare(NEWNS) != 0:
        sys.exit(2)
    sh('mount --make-rprivate /; ' + line)


def end():
    """Open a file and a directory of a process, end it, return its ID."""
    pid = os.fork()
    if pid == 0:
        time.sleep(1000)
    for name in 'status', '.':
        ended.append(os.open('/proc/%d/%s' % (pid, name), os.O_RDONLY))
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return pid


def lost():
    """Return whether the open files are not those of the ended process."""
    names = [os.readlink('/proc/self/fd/%d' % fd) for fd in ended]
    try:
        os.pread(ended[0], 9, 0)
        return True
    except ProcessLookupError:
        return any('/proc/%d' % dead not in name for name in names)


def count(name, text):
    """Count while /mnt/file and the open files are as they were."""
    here = open('/mnt/file')
    gone = open('/mnt/gone', 'w+')
    gone.write(text)
    gone.flush()
    os.unlink('/mnt/gone')
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    bound.bind('/mnt/socket')
    os.chdir('/mnt')
    session = os.getsid(0)
    n = 0
    while True:
        n += 1
        here.seek(0)
        gone.seek(0)
        client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        client.sendto(text.encode(), '/mnt/socket')
        client.close()
        with open('/mnt/file') as f:
            bad = [f.read() != text, here.read() != text, gone.read() != text,
                   bound.recv(99) != text.encode(), os.getcwd() != '/mnt',
                   os.getsid(0) != session, lost(), any(
                       os.readlink('/proc/self/fd/%d' % fd) !=
                       os.readlink('/proc/self/ns/' + kind)
                       for kind, fd in spaces.items()),
                   os.path.exists('/mnt/a b/inside') != (text == 'other'),
                   open('/proc/sys/kernel/msg_next_id').read() != '77\n', os.readlink('/proc/self') !=
                   str(os.getpid()), os.path.exists('/opt/spaces') !=
                   (text == 'other')]
        print(name, n, sum(bad), file=log)
        time.sleep(0.02)


if sys.argv[-1] != 'entered':
    apart('mount -t tmpfs none /mnt; echo -n init >/mnt/file')
    if sys.argv[-1] == 'covered':
        sh('mount -t tmpfs none /opt; mkdir /opt/sub; '
           'mount --bind /opt/sub /opt')
    os.execv(sys.executable, [sys.executable] + sys.argv + ['entered'])
# close all files of the previous mount namespace
null = os.open('/dev/null', os.O_RDWR)
for fd in range(3):
    os.dup2(null, fd)
os.closerange(3, 1024)
os.setsid()
log = open(LOG, 'a', buffering=1)
spaces = {kind: os.open('/proc/self/ns/' + kind, os.O_RDONLY)
          for kind in ('ipc', 'net', 'pid', 'uts')}
with open('/proc/sys/kernel/msg_next_id', 'w') as f:
    f.write('77')
ended = []
dead = end()
if os.fork() == 0:
    signal.pause()
if os.fork() == 0:
    apart('mount -t tmpfs none /mnt; echo -n one >/mnt/file')
    count('one', 'one')
if os.fork() == 0:
    apart('mount -t tmpfs none /mnt; echo -n other >/mnt/file; '
          'mount --bind /mnt /opt; >/opt/spaces; mkdir "/mnt/a b"; '
          'mount -t tmpfs none "/mnt/a b"; >"/mnt/a b/inside"')
    count('other', 'other')
leader = os.fork()
if leader == 0:
    os.setsid()
    if os.fork() == 0:
        apart('mount -t tmpfs none /mnt; echo -n left >/mnt/file')
        count('left', 'left')
    os._exit(0)
os.waitpid(leader, 0)
count('init', 'init')
