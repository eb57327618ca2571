#!/usr/bin/env python3
"""check - compare a snapshot with the memory that a target printed

usage: check.py [-ao] SNAPSHOT PID LINES

LINES is the output of a target (tests/targets/target.h), PID its process.
Every page is read by oracle.py's reader, and the stream must keep the rules of
our writer.  Prints errors, and exits 1 if there are any.

	-a  unmodified pages of data files must be in the snapshot;
	    without -a they may be absent, but not different
	-o  pages of shared memory that the target has not touched may be
	    absent, but not different; without -o they must be there
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'snap6'))
sys.dont_write_bytecode = True

import rules        # noqa: E402
from reader import Fault, Reader    # noqa: E402

MASK = (1 << 64) - 1
GAMMA = 0x9e3779b97f4a7c15
LANES = 128
EACH = sum(1 << 128 * i for i in range(LANES))
WORDS = EACH * MASK
COUNT = sum((GAMMA * (i + 1) & MASK) << 128 * i for i in range(LANES))
faults = 0
flags = []


def fault(text):
    global faults
    faults += 1
    if faults <= 20:
        print(text)


def pattern(seed, length):
    """The pattern of a seed (tests/targets/target.h).  Numbers of 128 * LANES
    bits have a word in each 128 bits, so that products do not overlap."""
    made = bytearray()
    for i in range(0, length // 8, LANES):
        z = COUNT + EACH * ((seed << 32) + i * GAMMA & MASK) & WORDS
        z = ((z ^ z >> 30) & WORDS) * 0xbf58476d1ce4e5b9 & WORDS
        z = ((z ^ z >> 27) & WORDS) * 0x94d049bb133111eb & WORDS
        z = ((z ^ z >> 31) & WORDS).to_bytes(16 * LANES, 'little')
        made += memoryview(z).cast('Q')[::2].tobytes()
    return bytes(made[:length // 8 * 8])


def load(name, reader=Reader):
    with open(name, 'rb') as file:
        return reader(file.read()).read()


def small(snap, pid, name):
    """A file of a process, or None."""
    proc = snap.procs.get(pid)
    if not proc or name not in proc.files:
        return None
    at, length = proc.files[name]
    return snap.input[at:at + length]


def record(snap, pid):
    """The Linux record of a process."""
    data = small(snap, pid, b'proc') or b''
    names = {}
    at = data.find(b'\n') + 1
    while at < len(data):
        end = data.index(b'\n', at)
        size = int(data[end + 1:end + 13])
        names[data[at:end].decode()] = data[end + 13:end + 13 + size]
        at = end + 13 + size
    return names


def missing(snap, pid):
    """Return the ranges that the record lists as missing, and why."""
    ranges = []
    for line in record(snap, pid).get('missing', b'').decode().splitlines():
        span, reason = line.split(' ', 1)
        start, end = (int(n, 16) for n in span.split('-'))
        ranges.append((start, end, reason))
    return ranges


def same(snap, pid, name, addr, want):
    got = snap.memory(pid, addr, len(want))
    if got is None:
        fault('%s: %#x is not all in the snapshot' % (name, addr))
    elif got != want:
        i = next(i for i in range(len(want)) if got[i] != want[i])
        fault('%s: %#x differs' % (name, addr + i))


def maybe(snap, pid, name, addr, want, must):
    """Compare pages, which may be absent unless must is true."""
    for at in range(0, len(want), 4096):
        if must or snap.memory(pid, addr + at, 1) is not None:
            same(snap, pid, name, addr + at, want[at:at + 4096])


def absent(snap, pid, name, addr, length):
    for page in range(addr, addr + length, 4096):
        if snap.memory(pid, page, 1) is not None:
            fault('%s: %#x is in the snapshot' % (name, page))


def untouched(snap, pid, name, addr, length):
    """Pages never touched are absent, or zeros that join two runs."""
    for page in range(addr, addr + length, 4096):
        got = snap.memory(pid, page, 4096)
        if got is not None and any(got):
            fault('%s: %#x has bytes' % (name, page))


def check(snap, pid, kind, rest):
    if kind == 'regs':
        tid, value = int(rest[0]), int(rest[1], 16)
        # r12 to r15 and xmm15, or x19 to x22 and d15
        at, xmm = (152, 240) if os.uname().machine == 'aarch64' else (88, 400)
        regs = small(snap, tid, b'regs')
        got = struct.unpack('<4Q', regs[at:at + 32]) if regs else None
        if got != tuple(value + i for i in range(4)):
            fault('registers of %d: %r' % (tid, got))
        regs = small(snap, tid, b'fpregs')
        if not regs or regs[xmm:xmm + 8] != struct.pack('<Q', value):
            fault('vector register 15 of %d' % tid)
        return
    name, addr, length = rest[0], int(rest[1], 16), int(rest[2])
    if kind == 'region':
        same(snap, pid, name, addr, pattern(int(rest[3]), length))
    elif kind == 'object':
        maybe(snap, pid, name, addr, pattern(int(rest[3]), length),
            '-o' not in flags)
    elif kind == 'file':
        at = int(rest[4])
        maybe(snap, pid, name, addr, pattern(int(rest[3]),
            at + length)[at:], '-a' in flags)
    elif kind == 'words':
        first = int(rest[3], 16)
        same(snap, pid, name, addr, struct.pack('<%dI' % (length // 4),
            *range(first, first + length // 4)))
    elif kind == 'zeros':
        same(snap, pid, name, addr, bytes(length))
    elif kind == 'absent':
        untouched(snap, pid, name, addr, length)
    elif kind == 'missing':
        if rest[3] != 'unreadable':
            absent(snap, pid, name, addr, length)
        if (addr, addr + length, rest[3]) not in missing(snap, pid):
            fault('%s: %#x is not listed as missing: %s' % (name, addr,
                rest[3]))


def main():
    args = [arg for arg in sys.argv[1:] if arg[0] != '-']
    flags.extend(arg for arg in sys.argv[1:] if arg[0] == '-')
    try:
        snap = load(args[0], rules.Checker)
    except Fault as error:
        sys.exit('%s: %s' % (args[0], error))
    for at, text in sorted(snap.breaches):
        fault('byte %d: %s' % (at, text))
    pid = int(args[1])
    lines = 0
    with open(args[2]) as file:
        for line in file:
            kind, _, rest = line.partition(' ')
            if kind == 'of':
                pid = int(rest)
            elif kind in ('region', 'zeros', 'absent', 'missing', 'file',
                    'object', 'words', 'regs'):
                check(snap, pid, kind, rest.split())
                lines += 1
    if lines == 0:
        fault('nothing to compare')
    sys.exit(faults > 0)


if __name__ == '__main__':
    main()
