#!/usr/bin/env python3
"""stale.py [ADDRESS] - write the stream of a move whose second copy refers to
pages of the first; ADDRESS is that of one reference"""
import struct
import sys

EARLY, BASE = 1 << 24, 0x10000


def frame(letter, data=b''):
    sys.stdout.buffer.write(letter + struct.pack('>I', len(data)) + data)


def mem(copy, pages):
    return b'%11d mem\n%11d %11d %11d ' % (77 + copy * EARLY, 1, BASE,
        len(pages) * 1024) + b''.join(pages)


frame(b'q', b'memory 16\n')
frame(b'q')
raw = [b'r' + bytes([65 + i]) * 1024 for i in range(8)]
same = [b'm%11d %11d ' % (77 + EARLY, BASE + i * 1024) for i in range(8)]
if len(sys.argv) > 1:
    same[4] = b'm%11d %11d ' % (77 + EARLY, int(sys.argv[1]))
frame(b'd', b'process snapshot 1\n' + mem(1, raw) + mem(2, same))
frame(b'e')
