"""contents - a process with known contents, and its children

Some pages are zero, and some are partly copies of others.  Strings cross
borders of 1 and 4 KB.  Each child has changed some pages.  Prints the ids of
all processes, and the range of the memory.
"""

import ctypes
import mmap
import os
import random
import signal
import struct
import sys

SIZE = 2 << 20
CHILDREN = 2

random.seed(1)


def put(m, at, text):
    m[at:at + len(text)] = text


m = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
start = ctypes.addressof(ctypes.c_char.from_buffer(m))
for at in range(0, SIZE, 4096):
    kind = random.random()
    if kind < 0.2:
        continue
    put(m, at, random.randbytes(4096))
    if kind < 0.4:
        other = random.randrange(0, at + 1) // 1024 * 1024
        put(m, at, m[other:other + 2048])
for i in range(500):
    put(m, random.randrange(SIZE - 64), b'secret=%05d; tokenaaaa\n' % (i % 7))
for at in range(4096 - 9, SIZE - 64, 4096 * 5):
    put(m, at, b'borderXXcrossing')
for at in range(5 * 1024 - 2, SIZE - 64, 4096 * 7):
    put(m, at, b'kilobyte')
# a long run of one letter, and a shorter one elsewhere
put(m, SIZE // 2, b'a' * 20000)
put(m, SIZE // 4, b'a' * 5000)
put(m, 4096 * 3, 'Grüße🙂'.encode('utf-16-le') + b'\0\0')
put(m, 4096 * 5 + 8, struct.pack('<QIH', start + 64, 0xdeadbeef, 4711))
put(m, 4096 * 5 + 32, struct.pack('>IQ', 0x12345678, start))
put(m, 4096 * 5 + 80, b'\033[2J\nred\033[31m\0ESCAPE\x9b1m')
put(m, 4096 * 400, b''.join(b'%06d ' % i for i in range(5000)))
# the byte before decides whether each is a word, and is in another page
for at in range(4096 * 40, SIZE // 4, 4096 * 30):
    put(m, at - 1, b' anchor')
print('pids', os.getpid(), end='')
sys.stdout.flush()
done, wrote = os.pipe()
for child in range(CHILDREN):
    pid = os.fork()
    if pid == 0:
        # each child has its own seed
        random.seed(child)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        for i in range(5):
            put(m, random.randrange(SIZE - 64) + child, b'child=%d' % i)
        if child == 0:
            put(m, 4096 * 400 + 5, b'b')
            for at in range(4096 * 40, SIZE // 4, 4096 * 30):
                put(m, at - 1, b'x')
        else:
            put(m, 4096 * 404 + 5, b'b')
        os.write(wrote, b'.')
        signal.pause()
    print('', pid, end='')
    sys.stdout.flush()
for child in range(CHILDREN):
    os.read(done, 1)
print('\nregion %x %x' % (start, start + SIZE))
print('ready', flush=True)
sys.stdin.read()
