#!/usr/bin/env python3
"""state - compare a record with the state that a target printed

usage: state.py SNAPSHOT PID LINES

LINES is the output of tests/targets/state.c.  Remaining times may be less than
printed, by the length of a test.  Prints differences, and exits 1 if there are
any.
"""

import sys

import check


def near(got, want, unit):
    """Compare numbers, of which the last one counts down in ticks."""
    return got[:-1] == want[:-1] and \
        -300 * unit <= int(got[-1]) - int(want[-1]) <= unit / 50


def compare(what, got, want):
    if got != want:
        print('%s: got %s, want %s' % (what, got, want))
        return 1
    return 0


def main():
    snap = check.load(sys.argv[1])
    pid = tid = int(sys.argv[2])
    want, timers, itimers = {}, [], []
    with open(sys.argv[3], encoding='ascii') as file:
        for line in file:
            word = line.split()
            if word[0] == 'thread':
                tid = int(word[1])
            elif word[0] == 'record':
                want.setdefault((tid, word[1]), []).append(
                    ' '.join(word[2:]))
            elif word[0] == 'timer':
                timers.append(word[1:])
            elif word[0] == 'itimer':
                itimers.append(word[1:])
    bad = 0
    for (tid, name), lines in want.items():
        got = check.record(snap, tid).get(name, b'').decode().splitlines()
        bad += compare('%d/%s' % (tid, name), got, lines)
    record = check.record(snap, pid)
    for name, lines, unit in (('itimers', itimers, 10**6),
                              ('posix_timers', timers, 10**9)):
        got = [line.split() for line in
               record.get(name, b'').decode().splitlines()]
        got.sort()
        lines.sort()
        if len(got) != len(lines) or \
           not all(near(a, b, unit) for a, b in zip(got, lines)):
            bad += compare(name, got, lines)
    for name in ('observed',):
        bad += compare(name, record.get(name), None)
    sys.exit(bad != 0)


if __name__ == '__main__':
    main()
