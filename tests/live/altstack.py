#!/usr/bin/env python3
"""altstack - check alternate signal stacks against the target's memory

usage: altstack.py PID LINES SNAPSHOT ...

LINES is the output of tests/targets/altstack.c.  Prints differences, and exits
1 if there are any.
"""

import struct
import sys

import check


def wrong(name, pid, places):
    """Return how many stacks of a snapshot differ."""
    snap = check.load(name)
    bad = 0
    for tid, addr in places:
        upcoming, last = struct.unpack('<QQ', snap.memory(pid, addr, 16))
        text = check.record(snap, tid).get('sigaltstack', b'').decode()
        got = int(text.split()[0], 16) if text else 0
        if got not in (upcoming, last):
            print('%s, %d: %x, want %x or %x' % (name, tid, got, upcoming,
                last))
            bad += 1
    return bad


def main():
    pid = int(sys.argv[1])
    with open(sys.argv[2], encoding='ascii') as file:
        places = [(int(word[1]), int(word[2], 16)) for word in
                  map(str.split, file) if word[0] == 'altstack']
    bad = sum(wrong(name, pid, places) for name in sys.argv[3:])
    sys.exit(bad != 0 or not places or not sys.argv[3:])


if __name__ == '__main__':
    main()
