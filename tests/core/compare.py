#!/usr/bin/env python3
"""compare - compare our core of a snapshot with another of the same process

usage: compare.py kernel|gcore SNAPSHOT PID OURS THEIRS

Both have the same mappings with the same permissions, and the same bytes where
both have bytes.  Pages that only theirs has are zero or listed as missing in
the snapshot.  The notes are the same, except for what the signal that ended the
process changed.  gcore leaves out some mappings and writes its own notes: only
registers are compared.  Prints differences and exits 1.
"""

import os
import platform
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'live'))

import check        # noqa: E402

PAGE = 4096
PT_LOAD, PT_NOTE = 1, 4
PRSTATUS, FPREGSET, PRPSINFO, AUXV = 1, 2, 3, 6
SIGINFO, FILE, XSTATE = 0x53494749, 0x46494c45, 0x202
PF_R = 4
bad = 0


def by_type(order):
    """Return the notes in their order, with register sets of arm64 sorted."""
    out = []
    sets = []
    for kind in order:
        if 0x400 <= kind < 0x500:
            sets.append(kind)
            continue
        out += sorted(sets) + [kind]
        sets = []
    return out + sorted(sets)


def fault(what):
    global bad
    bad += 1
    if bad < 20:
        print(what)


class Core:
    """Notes by (thread, type), segments and bytes of an ELF core."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = file.read()
        phoff, = struct.unpack_from('<Q', self.data, 32)
        phnum, = struct.unpack_from('<H', self.data, 56)
        self.loads, self.notes, self.order = [], {}, []
        for i in range(phnum):
            kind, flags, off, addr, _, size, mem = struct.unpack_from(
                '<IIQQQQQ', self.data, phoff + i * 56)
            if kind == PT_LOAD:
                self.loads.append((addr, addr + mem, flags, off, size))
            elif kind == PT_NOTE:
                self.read_notes(off, off + size)

    def read_notes(self, at, end):
        tid = None
        while at < end:
            name, size, kind = struct.unpack_from('<III', self.data, at)
            at += 12 + (name + 3 & ~3)
            desc = self.data[at:at + size]
            at += size + 3 & ~3
            if kind == PRSTATUS:
                tid, = struct.unpack_from('<I', desc, 32)
            self.notes[tid if kind in (PRSTATUS, FPREGSET, XSTATE) else 0,
                       kind] = desc
            self.order.append(kind)

    def pages(self):
        """Yield each page that the core has bytes of."""
        for addr, _, _, off, size in self.loads:
            for i in range(0, size, PAGE):
                yield addr + i, self.data[off + i:off + i + PAGE]

    def leave_out(self, missing, ours):
        """Remove read-only file mappings that are missing in the snapshot, if
        only NT_FILE has them in ours."""
        note = self.notes[0, FILE]
        count, = struct.unpack_from('<Q', note)
        files = [struct.unpack_from('<QQ', note, 16 + i * 24)
                 for i in range(count)]
        have = set(x[:3] for x in ours.loads)
        self.loads = [x for x in self.loads if x[:3] in have or
                      x[2] != PF_R or not (
            any(s <= x[0] and x[1] <= e for s, e in files) and
            any(s <= x[0] and x[1] <= e for s, e, _ in missing))]

    def merged(self):
        """Return ranges of equal permissions, joined."""
        out = []
        for start, end, flags, _, _ in self.loads:
            if out and out[-1][1] == start and out[-1][2] == flags:
                out[-1][1] = end
            else:
                out.append([start, end, flags])
        return out


def without_tiles(x):
    """Return an XSAVE area as in ours: without unused tiles."""
    tiles = 3 << 17
    features, used = struct.unpack_from('<Q40xQ', x, 464)
    if not features & tiles or used & tiles:
        return x
    return x[:464] + struct.pack('<Q', features & ~tiles) + x[472:2696]


def as_exiting(got, want):
    """Return general registers of x86-64 as in the kernel's core: before Linux
    5.16 the fs_base of a thread that did not crash is zero there."""
    at = 4 + 21 * 8
    if want[at:at + 8] == bytes(8) and release() < (5, 16):
        got = got[:at] + bytes(8) + got[at + 8:]
    return got


def release():
    return tuple(int(x) for x in platform.release().split('.')[:2])


def compare_notes(ours, theirs, kernel):
    for (tid, kind), want in theirs.notes.items():
        got = ours.notes.get((tid, kind))
        if kind == PRSTATUS and got is not None:
            # the pid and the registers; not the signal and the times
            got, want = (x[32:36] + x[112:336 if kernel else 328]
                         for x in (got, want))
            if kernel and ours.notes[tid, kind][36:48] != \
                    theirs.notes[tid, kind][36:48]:
                fault('thread %d: ppid, pgrp or sid' % tid)
            if kernel and platform.machine() == 'x86_64':
                got = as_exiting(got, want)
        elif kind == PRPSINFO and kernel:
            # not the state and the flags
            got, want = (x[3:8] + x[16:] for x in (got, want))
        elif kind == FPREGSET and not kernel:
            # not the mask of MXCSR, which gdb makes up
            got, want = (x[:28] + x[32:] for x in (got, want))
        elif kind == FPREGSET and release() < (5, 14) and \
                platform.machine() == 'x86_64' and got is not None:
            # bytes for software change when the extended state is read
            got, want = got[:464], want[:464]
        elif kind not in (AUXV, FILE, FPREGSET, XSTATE):
            continue
        elif kind in (FILE, XSTATE) and not kernel:
            continue
        elif kind == XSTATE:
            want = without_tiles(want)
        if got != want:
            fault('thread %d: note %#x differs' % (tid, kind))
            if got is not None and len(got) == len(want):
                fault('  at %s' % [i for i in range(len(got))
                                   if got[i] != want[i]][:20])
    known = by_type(k for k in theirs.order
                    if any(k == x for _, x in ours.notes))
    if kernel and ours.order != known:
        fault('order of notes: %s, not %s' % (
            list(map(hex, ours.order)), list(map(hex, known))))


def main(kind, snapshot, pid, mine, other):
    kernel = kind == 'kernel'
    ours, theirs = Core(mine), Core(other)
    snap = check.load(snapshot)
    missing = list(check.missing(snap, pid))
    if kernel:
        theirs.leave_out(missing, ours)
    mapped = ours.merged()
    for load in theirs.merged():
        if not (load in mapped if kernel else
                any(s <= load[0] and load[1] <= e for s, e, _ in mapped)):
            fault('%x-%x %d is not mapped so' % tuple(load))
    if kernel and len(mapped) != len(theirs.merged()):
        fault('%d ranges, not %d' % (len(mapped), len(theirs.merged())))
    have, same = dict(ours.pages()), 0
    for addr, want in theirs.pages():
        got = have.get(addr)
        if got == want:
            same += 1
        elif got is not None:
            fault('%#x differs' % addr)
        elif any(want) and not any(
                start <= addr < end for start, end, _ in missing):
            fault('%#x is not in our core' % addr)
    compare_notes(ours, theirs, kernel)
    if same == 0:
        fault('no page is the same')
    print('%d pages are the same' % same)
    return 1 if bad else 0


sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
