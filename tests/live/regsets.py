#!/usr/bin/env python3
"""regsets - compare the register sets of a record with those of ptrace(2)

usage: regsets.py SNAPSHOT PID

PID is stopped by a signal, and was when the snapshot was taken, so that its
threads have the same registers.  Prints sets that differ or that one of the two
lacks, and exits 1; else prints the number of sets, and the notes that ptrace(2)
has (NT_ of <elf.h>).
"""

import ctypes
import os
import platform
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))

import check        # noqa: E402

SEIZE, INTERRUPT, DETACH, GETREGSET = 0x4206, 0x4207, 17, 0x4204
WALL = 0x40000000
# the notes that a record has, by machine, as in snap(6)
NOTES = {
    'aarch64': [0x401] + list(range(0x405, 0x411)),
    'x86_64': [0x202],
}
# sets that begin with their length: the kernel writes nothing after that
SIZED = [0x405, 0x40b, 0x40c]
NAMES = {1: 'regset/prstatus', 2: 'regset/fpregs', 0x202: 'regset/xstate'}


class Iovec(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                        ctypes.c_void_p]


def regset(tid, note):
    """Return a register set of a thread from the kernel, or None."""
    room = ctypes.create_string_buffer(1 << 20)
    iov = Iovec(ctypes.cast(room, ctypes.c_void_p), len(room))
    if libc.ptrace(GETREGSET, tid, note, ctypes.byref(iov)) == -1:
        return None
    if note in SIZED and platform.machine() == 'aarch64':
        return room.raw[:int.from_bytes(room.raw[:4], 'little')]
    return room.raw[:iov.len]


def as_read(note, data):
    """Return a set without bytes that change when another set is read: before
    Linux 5.14, NT_X86_XSTATE changes bytes reserved for software on x86-64."""
    release = tuple(int(x) for x in platform.release().split('.')[:2])
    if data is None or note != 2 or release >= (5, 14) or \
            platform.machine() != 'x86_64':
        return data
    return data[:464]


def where(got, want):
    """Describe the first bytes that differ in sets of one length."""
    if got is None or want is None or len(got) != len(want):
        return ''
    at = next(i for i in range(len(got)) if got[i] != want[i])
    return ' from byte %d on: %s, not %s' % (at, got[at:at + 8].hex(),
                                             want[at:at + 8].hex())


def main():
    snap = check.load(sys.argv[1])
    pid = int(sys.argv[2])
    sets, has = 0, []
    for tid in sorted(int(t) for t in os.listdir('/proc/%d/task' % pid)):
        if libc.ptrace(SEIZE, tid, None, None) == -1 or \
                libc.ptrace(INTERRUPT, tid, None, None) == -1:
            sys.exit('%d: cannot be traced' % tid)
        os.waitpid(tid, WALL)
        names = check.record(snap, tid)
        for note in [1, 2] + NOTES.get(platform.machine(), []):
            name = NAMES.get(note, 'regset/%x' % note)
            want = as_read(note, regset(tid, note))
            if want:
                sets += 1
                has.append(note)
            got = as_read(note, names.pop(name, None))
            if got != (want or None):
                check.fault('%d: %s differs%s' % (tid, name,
                                                  where(got, want)))
        for name in names:
            if name.startswith('regset/'):
                check.fault('%d: %s is not what ptrace tells' % (tid, name))
        libc.ptrace(DETACH, tid, None, None)
    print(sets, ' '.join('%x' % note for note in sorted(set(has))))
    sys.exit(check.faults > 0 or sets == 0)


if __name__ == '__main__':
    main()
