#!/usr/bin/env python3
"""core - compare a snapshot with an ELF core of the same process

usage: core.py SNAPSHOT PID CORE

Wherever both have a page it must be the same; what only the core has must
be listed as missing, or be zero: never touched. Prints what is wrong and
exits 1, or the number of pages that are the same.
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


def main(snapshot, pid, path):
    snap = check.load(snapshot)
    missing = check.missing(snap, pid)
    with open(path, 'rb') as file:
        core = file.read()
    same = 0
    for addr, data in loads(core):
        for at in range(0, len(data), PAGE):
            page, want = addr + at, data[at:at + PAGE]
            got = snap.memory(pid, page, len(want))
            if got == want:
                same += 1
            elif got is not None:
                check.fault('%#x differs' % page)
            elif any(want) and not any(
                    start <= page < end for start, end, _ in missing):
                check.fault('%#x is not there' % page)
    if check.faults:
        sys.exit(1)
    print(same)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
