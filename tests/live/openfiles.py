#!/usr/bin/env python3
"""openfiles - compare a record with the output of tests/targets/openfiles.c

usage: openfiles.py SNAPSHOT PID LINES

Prints errors, and exits 1 if there are any.
"""

import mmap
import sys

import check

PAGE = mmap.PAGESIZE

faults = 0


def fault(text):
    global faults
    faults += 1
    print(text)


class Record:
    """The Linux record of a process."""

    def __init__(self, snap, pid):
        self.names = check.record(snap, pid)
        self.ids = dict(line.split() for line in self.text('files'))

    def text(self, name):
        return self.names.get(name, b'').decode().splitlines()

    def runs(self):
        return [[int(n, 16) for n in line.split()]
            for line in self.text('pages')]


def lines_of(records, ident):
    """Return the lines about an open file in the first record that has it."""
    for record in records.values():
        if 'file/' + ident in record.names:
            return record.text('file/' + ident)
    return []


def carried(snap, dev, ino):
    for pid in snap.procs:
        names = check.record(snap, pid)
        if names.get('carried', b'').decode().startswith(dev + ' ' + ino +
                ' '):
            return pid, names
    return None, {}


def check_carried(snap, dev, ino, size, seed, at):
    pid, names = carried(snap, dev, ino)
    if names.get('size') != b'%s\n' % size.encode():
        fault('%s %s: size %r' % (dev, ino, names.get('size')))
    size, at = int(size), int(at)
    for page in range(0, (size + PAGE - 1) // PAGE * PAGE, PAGE):
        got = pid and snap.memory(pid, page, PAGE) or bytes(PAGE)
        want = check.pattern(int(seed), PAGE) if page == at else bytes(PAGE)
        if got != want:
            fault('%s %s: page %#x' % (dev, ino, page))


def check_pages(record, kind, addr, length):
    addr, length = int(addr, 16), int(length)
    for page in range(addr, addr + length, 4096):
        own = any(start <= page < end for start, end in record.runs())
        if own != (kind == 'own'):
            fault('page %#x is %sits own' % (page, '' if own else 'not '))


def check_line(snap, records, pid, kind, rest):
    record = records[pid]
    if kind in ('fd', 'whole', 'why'):
        lines = lines_of(records, record.ids.get(rest[0], 'none'))
        why = [line for line in lines if line.startswith('why ')]
        if kind == 'fd' and ' '.join(rest[1:]) not in lines:
            fault('%d: %s: not among %r' % (pid, ' '.join(rest), lines))
        if kind != 'fd' and (kind == 'why') != (why != []):
            fault('%d: descriptor %s: %r' % (pid, rest[0], why))
    elif kind == 'same':
        if record.ids[rest[0]] != records[int(rest[2])].ids[rest[1]]:
            fault('%d: %s: not the same' % (pid, ' '.join(rest)))
    elif kind == 'differ':
        if record.ids[rest[0]] == record.ids[rest[1]]:
            fault('%d: %s: the same' % (pid, ' '.join(rest)))
    elif kind == 'target':
        ident = records[int(rest[5])].ids[rest[4]]
        line = ' '.join(['target'] + rest[1:4] + [ident])
        lines = lines_of(records, record.ids[rest[0]])
        if line not in lines:
            fault('%d: %s: not among %r' % (pid, line, lines))
    elif kind == 'bytes':
        if record.names.get(rest[0]) != bytes.fromhex(rest[1]):
            fault('%d: %s: %r' % (pid, rest[0], record.names.get(rest[0])))
    elif kind == 'none':
        if rest[0] in record.names:
            fault('%d: %s is there' % (pid, rest[0]))
    elif kind == 'count':
        if len(record.ids) != int(rest[0]):
            fault('%d: %d descriptors' % (pid, len(record.ids)))
    elif kind == 'shares':
        if ' '.join(rest) not in record.text('shares'):
            fault('%d: %s: %r' % (pid, ' '.join(rest),
                record.text('shares')))
    elif kind == 'carried':
        check_carried(snap, *rest)
    elif kind in ('own', 'foreign'):
        check_pages(record, kind, *rest)
    else:
        return 0
    return 1


def check_order(records):
    """Each open file is described once; runs of pages ascend."""
    told = [name for record in records.values() for name in record.names
        if name.startswith(('file/', 'pipe/'))]
    if len(told) != len(set(told)):
        fault('told twice')
    for pid, record in records.items():
        for ident in record.ids.values():
            if not lines_of(records, ident):
                fault('%d: nothing of file %s' % (pid, ident))
        flat = [n for run in record.runs() for n in run]
        if flat != sorted(set(flat)):
            fault('%d: pages do not ascend' % pid)


def main():
    snap = check.load(sys.argv[1], check.rules.Checker)
    for at, text in sorted(snap.breaches):
        fault('byte %d: %s' % (at, text))
    records = {pid: Record(snap, pid) for pid in snap.procs
        if 'maps' in check.record(snap, pid)}
    pid = int(sys.argv[2])
    lines = 0
    with open(sys.argv[3]) as file:
        for line in file:
            kind, _, rest = line.partition(' ')
            if kind == 'of':
                pid = int(rest)
            else:
                lines += check_line(snap, records, pid, kind, rest.split())
    check_order(records)
    if lines < 100:
        fault('only %d lines to compare' % lines)
    sys.exit(faults > 0)


if __name__ == '__main__':
    main()
