#!/usr/bin/env python3
"""tun.py LOG: count in a log, with a tun device of this network namespace
open, and /dev/net/tun open without a device."""
import fcntl
import os
import struct
import sys
import time

from counter import apart

# linux/if_tun.h
TUNSETIFF, TUNGETIFF = 0x400454CA, 0x800454D2
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000

log = apart(sys.argv[1])
tun = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
bare = os.open('/dev/net/tun', os.O_RDWR)
fcntl.ioctl(tun, TUNSETIFF,
            struct.pack('16sH22x', b'snap0', IFF_TUN | IFF_NO_PI))
n = 0
while True:
    n += 1
    name = fcntl.ioctl(tun, TUNGETIFF, bytes(40))[:16].rstrip(b'\0')
    os.write(log, b'tun %d %d\n' % (n, name != b'snap0'))
    time.sleep(0.01)
