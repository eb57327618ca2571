#!/usr/bin/env python3
"""mounts.py LOG [own DIR | readonly DIR | alone DIR | chroot DIR | here] [WHAT]

In mount and pid namespaces of its own, mount a tmpfs with files of all kinds,
and bind a directory of it; count in the log while the files, two of them open
and one of these deleted, are the same.

own: the root is DIR, with mounts such as /usr.  readonly: the same, and it is
read-only.  alone: the root is a tmpfs that is mounted nowhere else.  chroot:
DIR is the root directory, but not a mount.  WHAT: large, the tmpfs has more
bytes than snap includes; ramfs, a mount that criu cannot create; outside,
descriptor 9 was opened in another mount namespace.
"""
import ctypes
import os
import shutil
import stat
import subprocess
import sys
import time

LOG, HOW, DIR = (sys.argv[1:] + ['', ''])[:3]
DIR = DIR if HOW in ('own', 'readonly', 'alone', 'chroot') else ''
WHAT = sys.argv[-1]


def sh(line):
    subprocess.check_call(['sh', '-ec', line.replace('DIR', DIR)])


def fds():
    """Close all descriptors; open the standard ones on /dev/null."""
    n = os.open('/dev/null', os.O_RDWR)
    for i in range(3):
        os.dup2(n, i)
    os.closerange(3, 9 if WHAT == 'outside' else 1024)
    if WHAT == 'outside':
        os.closerange(10, 1024)


def root_make():
    """Fill DIR with the files and mounts that a root needs."""
    sh('''cd DIR; mkdir -p usr proc dev log tmp old etc
    for d in bin sbin lib lib64; do
        if [ -L /$d ]; then
            ln -sfn "usr/$d" $d
        elif [ -d /$d ]; then
            mkdir -p $d; mount --bind /$d $d
        fi
    done
    mount --bind /usr usr; mount -o remount,bind,ro,nosuid usr
    mount -t proc proc proc
    mount -t tmpfs -o mode=755,size=64k tmpfs dev
    for d in null zero random urandom; do
        mknod -m 666 dev/$d c 1 "$(echo "null:3 zero:5 random:8 urandom:9" |
            tr ' ' '\\n' | sed -n "s/^$d://p")"
    done
    mkdir dev/pts dev/mqueue
    mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    [ -d sys ] || mkdir sys; mount -t sysfs sysfs sys
    mount -o remount,bind,ro sys
    mount -t tmpfs -o ro none proc/irq
    mount -t tmpfs -o ro none sys/firmware
    mount -t mqueue mqueue dev/mqueue
    >log/log; >>%s; mount --bind %s log/log''' % (LOG, LOG))


def enter():
    """Change the root, and execute this program again."""
    sh('mount --make-rprivate /')
    if HOW == 'alone':
        sh('mount -t tmpfs -o mode=755 none DIR')
    elif HOW != 'chroot' and DIR:
        sh('mount --bind DIR DIR')
    if DIR:
        root_make()
        shutil.copy(sys.argv[0], DIR + '/mounts.py')
        os.chdir(DIR)
    if HOW != 'chroot' and DIR:
        # not every util-linux has pivot_root(8)
        number = {'x86_64': 155, 'aarch64': 41}[os.uname().machine]
        if ctypes.CDLL(None).syscall(number, b'.', b'old') == -1:
            raise OSError('pivot_root')
    if DIR:
        os.chroot('.')
        os.chdir('/')
        sys.argv[0:2] = ['/mounts.py', '/log/log']
    if HOW != 'chroot' and DIR:
        sh('umount -l old; mount -o remount,ro /dev')
    if HOW == 'readonly':
        sh('mount -o remount,bind,ro /')
    os.execv('/usr/bin/python3', ['python3', '-S'] + sys.argv +
             [WHAT, 'entered'])


os.environ['PATH'] = '/usr/sbin:/usr/bin:/sbin:/bin'
if WHAT != 'entered':
    enter()
WHAT = sys.argv[-2]
TMP = '/tmp' if DIR else '/mnt'
sh('''cd %s; mount -t tmpfs -o size=40m,mode=1770 own %s; cd %s
mkdir -p d/e; echo file >file; ln file d/hard; ln -s ../../file d/e/link; mkfifo fifo
mknod dev c 1 3; chmod 4751 d/hard; chown 12:34 fifo
echo long >$(printf '%%0200d' 7); mkdir bind; mount --bind d bind''' %
   (TMP, TMP, TMP))
os.chdir(TMP)
if WHAT == 'large':
    sh('head -c 17000000 /dev/zero >large')
if WHAT == 'ramfs':
    sh('mkdir ram; mount -t ramfs ram ram')
fds()
os.setsid()
log = open(LOG, 'a', buffering=1)
gone = open('gone', 'w+')
gone.write('deleted')
gone.flush()
os.unlink('gone')
kept = open('bind/hard')


def wrong():
    """Return the number of things that are different."""
    gone.seek(0)
    kept.seek(0)
    st = [os.lstat(p) for p in ('file', 'd/hard', 'fifo', 'dev', '.')]
    return sum([
        gone.read() != 'deleted', kept.read() != 'file\n',
        open('d/e/link').read() != 'file\n',
        open('%0200d' % 7).read() != 'long\n',
        st[0].st_ino != st[1].st_ino, st[0].st_mode & 0o7777 != 0o4751,
        not stat.S_ISFIFO(st[2].st_mode), st[2].st_gid != 34,
        st[3].st_rdev != os.makedev(1, 3), st[4].st_mode & 0o7777 != 0o1770,
        os.fstat(kept.fileno()).st_ino != st[1].st_ino,
        os.getcwd() != TMP, os.stat('bind').st_ino != os.stat('d').st_ino,
        os.readlink('/proc/self') != '1', os.path.exists('gone')])


n = 0
while True:
    n += 1
    # check twice: a restore during a check changes the inode numbers
    print('mounts', n, wrong() and wrong(), file=log)
    time.sleep(0.02)
