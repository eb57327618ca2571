#!/usr/bin/env python3
"""altstack - check alternate signal stacks against the target's memory

usage: altstack.py SNAPSHOT PID LINES

LINES is the output of tests/targets/altstack.c.  Prints differences, and exits
1 if there are any.
"""

import struct
import sys

import check


def main():
    snap = check.load(sys.argv[1])
    pid = int(sys.argv[2])
    bad = seen = 0
    with open(sys.argv[3], encoding='ascii') as file:
        for line in file:
            word = line.split()
            if word[0] != 'altstack':
                continue
            tid, addr = int(word[1]), int(word[2], 16)
            upcoming, last = struct.unpack('<QQ', snap.memory(
                pid, addr, 16))
            text = check.record(snap, tid).get('sigaltstack', b'').decode()
            got = int(text.split()[0], 16) if text else 0
            seen += 1
            if got not in (upcoming, last):
                print('%d: %x, want %x or %x' % (tid, got, upcoming, last))
                bad += 1
    sys.exit(bad != 0 or seen == 0)


if __name__ == '__main__':
    main()
