#!/usr/bin/env python3
"""instant - check that a snapshot is of one instant

usage: instant.py SNAPSHOT PID LINES

LINES is the output of the target sweep, token or resize, PID its process.
Prints errors and exits 1, or prints where the boundary is.
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'snap6'))
sys.dont_write_bytecode = True

from check import pattern   # noqa: E402
from reader import Reader    # noqa: E402

PAGE = 4096


def word(snap, pid, addr):
    memory = snap.memory(pid, addr, 8)
    if memory is None:
        sys.exit('%d: no memory at %#x' % (pid, addr))
    return struct.unpack('<Q', memory)[0]


def sweep(snap, pid, addr, length):
    memory = snap.memory(pid, addr, length)
    if memory is None:
        sys.exit('%d: no memory at %#x' % (pid, addr))
    passes = [struct.unpack_from('<2Q', memory, at)
              for at in range(0, length, PAGE)]
    wrong = [i for i, page in enumerate(passes) if page[1] != i]
    if wrong:
        sys.exit('page %d is another one' % wrong[0])
    runs = [i for i in range(1, len(passes))
            if passes[i][0] != passes[i - 1][0]]
    if len(runs) > 1 or runs and passes[0][0] != passes[-1][0] + 1:
        sys.exit('not one boundary: %s' % [
            (i, passes[i - 1][0], passes[i][0]) for i in runs[:8]])
    print('pass %d, boundary at %s of %d' % (
        passes[0][0], runs[0] if runs else 'none', len(passes)))


def resize(snap, pid, addr, length, flag):
    if word(snap, pid, flag) == 0:
        print('emptied')
        return
    memory = snap.memory(pid, addr, length)
    if memory != pattern(1, length):
        sys.exit('it is not whole: %s' % (memory and [
            at // PAGE for at in range(0, length, PAGE)
            if not any(memory[at:at + PAGE])][:8]))
    print('whole')


def token(snap, at, members):
    holder = None
    for pid, _ in members:
        words = [word(snap, pid, at + 8 * i) for i in range(len(members) + 1)]
        if holder is None:
            holder, count = words[0], words[1:]
        elif words != [holder] + count:
            sys.exit('process %d sees another shared memory' % pid)
    if not 0 <= holder < len(members):
        sys.exit('nobody has the token: %d' % holder)
    own = [word(snap, pid, addr) for pid, addr in members]
    base = count[-1] if holder < len(members) - 1 else count[0] - 1
    for i in range(len(members)):
        want = {base + (i < holder)} if i != holder else {base, base + 1}
        if count[i] not in want:
            sys.exit('counts of another time: %s, holder %d' % (
                count, holder))
        if own[i] != count[i] and (i != holder or own[i] != count[i] + 1):
            sys.exit('member %d has %d, and shares %d; holder %d' % (
                i, own[i], count[i], holder))
    print('holder %d, counts %s' % (holder, count))


def main(snapshot, pid, lines):
    with open(snapshot, 'rb') as file:
        snap = Reader(file.read()).read()
    members = []
    shared = None
    with open(lines) as file:
        for line in file:
            f = line.split()
            if f[0] == 'sweep':
                sweep(snap, int(pid), int(f[1], 0), int(f[2]))
            elif f[0] == 'resize':
                resize(snap, int(pid), int(f[1], 0), int(f[2]),
                    int(f[3], 0))
            elif f[0] == 'shared':
                shared = int(f[1], 0)
            elif f[0] == 'member':
                members.append((int(f[2]), int(f[3], 0)))
    if members:
        token(snap, shared, members)


if __name__ == '__main__':
    main(*sys.argv[1:])
