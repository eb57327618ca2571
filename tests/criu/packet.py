#!/usr/bin/env python3
"""packet.py LOG [HOW]: use packet sockets on loopback; a line "packet COUNT
WRONG" each time.  HOW: ring, one has mapped rings; twice, one joins
promiscuous mode twice, which criu does not restore.
"""
import mmap
import os
import socket
import struct
import sys
import time

from counter import apart

PACKET, ADD_MEMBERSHIP, RX_RING, AUXDATA, RESERVE, TX_RING, LOSS, FANOUT = \
    263, 1, 5, 8, 12, 13, 14, 18
MULTICAST, PROMISC = 0, 1
KIND = 0x88b5               # an EtherType for experiments
GROUP = bytes.fromhex('0180c2000e01')
FRAME, FRAMES, USER = 2048, 8, 1

how = sys.argv[2] if len(sys.argv) > 2 else ''
log = apart(sys.argv[1])


def make(kind):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
        socket.htons(kind))
    sock.bind(('lo', kind))
    sock.settimeout(5)
    return sock


def join(sock, kind, address=b''):
    sock.setsockopt(PACKET, ADD_MEMBERSHIP, struct.pack('iHH8s', 1, kind,
        len(address), address))


def told(sock):
    """Return all socket options but the packet counters."""
    words = [sock.getsockname(), sock.type]
    for number in range(1, 25):
        try:
            if number != 6:
                words.append(sock.getsockopt(PACKET, number, 64))
        except OSError as error:
            words.append(error.errno)
    return words


hears, says, shares = make(KIND), make(0), make(KIND + 1)
join(hears, MULTICAST, GROUP)
join(hears, PROMISC)
for option, value in (AUXDATA, 1), (RESERVE, 16), (LOSS, 1):
    hears.setsockopt(PACKET, option, value)
shares.setsockopt(PACKET, FANOUT, 7)
if how == 'twice':
    join(hears, PROMISC)
ring = None
if how == 'ring':
    ring = make(KIND)
    for option in RX_RING, TX_RING:
        ring.setsockopt(PACKET, option, struct.pack('4I', FRAME * FRAMES, 1,
            FRAME, FRAMES))
    frames = mmap.mmap(ring.fileno(), 2 * FRAME * FRAMES)


def rung():
    """Return whether a packet came into the ring; free its frames."""
    came = False
    for at in range(0, FRAME * FRAMES, FRAME):
        status, = struct.unpack_from('L', frames, at)
        came |= bool(status & USER)
        struct.pack_into('L', frames, at, 0)
    return came


sockets = [s for s in (hears, says, shares, ring) if s]
first = [told(s) for s in sockets]
n = 0
while True:
    n += 1
    packet = bytes(12) + struct.pack('!H', KIND) + b'%-50d' % n
    says.send(packet)
    wrong = hears.recv(100) != packet
    wrong += ring is not None and not rung()
    now = [told(s) for s in sockets]
    if now != first:
        with open(sys.argv[1] + '.diff', 'w') as diff:
            for pair in zip(first, now):
                print(*pair, sep='\n', file=diff)
    os.write(log, b'packet %d %d\n' % (n, wrong + (now != first)))
    time.sleep(.01)
