#!/usr/bin/env python3
"""terminals.py LOG [outside]: count in the log while terminals are the same

It has the master of a pseudo terminal, whose slave is the controlling terminal
of a child; once LOG.talk exists, they talk.  outside: it has only the terminal
that it was started on.
"""
import fcntl
import os
import signal
import struct
import sys
import termios
import time

PACKET = 0x5420             # TIOCPKT
GET_PACKET = 0x80045438     # TIOCGPKT
GET_EXCLUSIVE = 0x80045440  # TIOCGEXCL
GET_NUMBER = 0x80045430    # TIOCGPTN
GET_LOCKED = 0x5456         # TIOCGLCKTRMIOS
SHUT = 0x40045431           # TIOCSPTLCK


def number(fd, request):
    return struct.unpack('i', fcntl.ioctl(fd, request, bytes(4)))[0]


def ptsname(master):
    return '/dev/pts/%d' % number(master, GET_NUMBER)


def modes(fd):
    """Return all settings of a terminal."""
    return (termios.tcgetattr(fd),
            fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)),
            fcntl.ioctl(fd, GET_LOCKED, bytes(36)),
            number(fd, GET_EXCLUSIVE))


def change(fd):
    mode = termios.tcgetattr(fd)
    mode[0] &= ~termios.IXON
    mode[3] &= ~termios.ECHO
    mode[6][termios.VEOF] = b'\x05'
    termios.tcsetattr(fd, termios.TCSANOW, mode)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 33, 101, 7, 9))


def count(name, state):
    was = state()
    n = 0
    while not os.path.exists(sys.argv[1] + '.talk'):
        n += 1
        now = state()
        log.write('%s %d %d\n' % (name, n, now != was))
        time.sleep(.01)


def child(slave):
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    own = os.open('/dev/tty', os.O_RDWR)
    below = os.fork()
    if below == 0:
        os.setpgid(0, 0)
        time.sleep(1000)
    os.setpgid(below, below)
    os.tcsetpgrp(slave, below)
    count('child', lambda: modes(slave) + modes(own) + (
        os.tcgetpgrp(slave), os.tcgetpgrp(own), termios.tcgetwinsize(own)))
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(slave, os.getpgrp())
    line = os.read(slave, 100)
    log.write('heard %s\n' % line.decode().strip())
    os.write(own, b'answer\n')
    time.sleep(1000)


os.closerange(3, 1024)
log = open(sys.argv[1], 'a', buffering=1)
if len(sys.argv) > 2:
    os.dup2(os.open('/dev/tty', os.O_RDWR), 9)
    change(0)
    count('outside', lambda: modes(0) + modes(9) + (os.isatty(1),))
    os.write(1, b'answer\n')
    time.sleep(1000)
os.setsid()
master = os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
fcntl.ioctl(master, SHUT, bytes(4))
slave = os.open(ptsname(master), os.O_RDWR | os.O_NOCTTY)
fcntl.ioctl(master, PACKET, struct.pack('i', 1))
os.set_blocking(slave, True)
change(slave)
pid = os.fork()
if pid == 0:
    os.close(master)
    child(slave)
os.close(slave)
# a slave that is hung up
other = os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
fcntl.ioctl(other, SHUT, bytes(4))
gone = os.open(ptsname(other), os.O_RDWR | os.O_NOCTTY)
os.close(other)


def hungup():
    try:
        termios.tcgetattr(gone)
    except termios.error:
        return True
    return False


count('parent', lambda: modes(master) + (
    number(master, GET_PACKET), ptsname(master), hungup()))
os.write(master, b'question\n')
said = b''
while b'answer' not in said:
    said += os.read(master, 100)
log.write('told %r\n' % said.replace(b'\0', b'').strip())
time.sleep(1000)
