#!/usr/bin/env python3
"""spaces.py LOG: the init of a pid namespace, with a mount namespace of its own.
Its children are in further mount namespaces, one with a tmpfs on /mnt, one with
another, which also covers /opt; the last is left to it by the leader of a
session that has ended.  Each counts in the log while it sees its own files, and
a UNIX socket that is bound to a name there.
"""
import ctypes
import os
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
                   os.getsid(0) != session, os.readlink('/proc/self') !=
                   str(os.getpid()), os.path.exists('/opt/spaces') !=
                   (text == 'other')]
        print(name, n, sum(bad), file=log)
        time.sleep(0.02)


if sys.argv[-1] != 'entered':
    apart('mount -t tmpfs none /mnt; echo -n init >/mnt/file')
    os.execv(sys.executable, [sys.executable] + sys.argv + ['entered'])
# nothing that was opened in the namespace before stays open
null = os.open('/dev/null', os.O_RDWR)
for fd in range(3):
    os.dup2(null, fd)
os.closerange(3, 1024)
os.setsid()
log = open(LOG, 'a', buffering=1)
if os.fork() == 0:
    apart('mount -t tmpfs none /mnt; echo -n one >/mnt/file')
    count('one', 'one')
if os.fork() == 0:
    apart('mount -t tmpfs none /mnt; echo -n other >/mnt/file; '
          'mount --bind /mnt /opt; >/opt/spaces')
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
