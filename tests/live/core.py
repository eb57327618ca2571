#!/usr/bin/env python3
"""core - compare a snapshot with an ELF core of the same process

usage: core.py SNAPSHOT PID CORE

Pages that both have must be equal.  Pages that only the core has must be listed
as missing, or be zero because they were never touched.  Prints errors and exits
1, or prints the number of equal pages.
"""

import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))

import check        # noqa: E402

PAGE = 4096
PT_LOAD = 1


def loads(core):
    """Address and bytes of each segment that the core holds."""
    phoff, = struct.unpack_from('<Q', core, 32)
    phnum, = struct.unpack_from('<H', core, 56)
    for i in range(phnum):
        kind, _, off, addr, _, size = struct.unpack_from(
            '<IIQQQQ', core, phoff + i * 56)
        if kind == PT_LOAD and size > 0:
            yield addr, core[off:off + size]


class Comparison:
    def __init__(self, snap, pid):
        self.snap, self.pid = snap, pid
        self.missing = check.missing(snap, pid)
        self.there = [(seg.base, seg.base + seg.length)
                      for seg in snap.procs[pid].mem]
        self.same = 0

    def span(self, addr, want):
        """Compare a range of pages; if it differs, compare each half."""
        end = addr + len(want)
        if want == bytes(len(want)) and not any(
                first < end and addr < last for first, last in self.there):
            return
        got = self.snap.memory(self.pid, addr, len(want))
        if got == want:
            self.same += len(want) // PAGE
        elif len(want) > PAGE:
            half = len(want) // PAGE // 2 * PAGE or PAGE
            self.span(addr, want[:half])
            self.span(addr + half, want[half:])
        elif got is not None:
            check.fault('%#x differs' % addr)
        elif any(want) and not any(
                start <= addr < end for start, end, _ in self.missing):
            check.fault('%#x is not there' % addr)


def main(snapshot, pid, path):
    compared = Comparison(check.load(snapshot), pid)
    with open(path, 'rb') as file:
        core = file.read()
    for addr, data in loads(core):
        compared.span(addr, data)
    if check.faults:
        sys.exit(1)
    print(compared.same)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
