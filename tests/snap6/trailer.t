#!/usr/bin/env python3
"""trailer.t - check the trailers that are written

usage: trailer.t [-u]       (in TAP; prove runs it)

When snapcat copies a clean case of good/ (-c: in its first line), it writes
the same trailer as trailer.py. trailer.hex has the trailer of a snapshot
that is long enough for an index; -u updates it with trailer.py. Then the
output of snapls -c and snapcat for damaged snapshots, and for several ones.
"""

import glob
import gzip
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import plan9
import trailer
import xxh3
from reader import Reader
from rules import Checker
from snapasm import assemble

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, '..', '..', os.environ.get('BUILD', 'build'))
GOLDEN = os.path.join(HERE, 'trailer.hex')
MB = 1 << 20
OTHERWISE = 'first-line-nul', 'top-again', 'pid-0'    # not copied as they are

count = 0


def ok(good, name, *notes):
    global count
    count += 1
    print('%sok %d - %s' % ('' if good else 'not ', count, name))
    for note in () if good else notes:
        print('# %.300r' % (note,))


def run(program, *args, data=None):
    done = subprocess.run([os.path.join(BUILD, program), *args], input=data,
                          capture_output=True, timeout=60)
    return done.stdout, done.stderr.decode('latin-1'), done.returncode


def hexdump(data):
    lines = []
    for at in range(0, len(data), 16):
        part = data[at:at + 16]
        text = ''.join(chr(c) if 32 < c < 127 else '.' for c in part)
        lines.append('%04x: %-47s  %s\n' % (at, part.hex(' '), text))
    return ''.join(lines)


def clean_cases():
    """A stream that we could have written is copied, with a trailer."""
    for path in sorted(glob.glob(os.path.join(HERE, 'good', '*.s'))):
        with open(path, encoding='utf-8') as file:
            text = file.read()
        snap = assemble(text, path)
        procs = Reader(snap).read().procs
        name = os.path.basename(path)[:-2]
        if not text.startswith('# -c: ') or not procs or name in OTHERWISE:
            continue
        out, err, _ = run('snapcat', '-', data=snap)
        ok(out == snap + trailer.write(snap),
           'good/%s: the trailer is right' % name,
           out[len(snap):], trailer.write(snap), err)


def big(odd):
    """Make a snapshot of more than a megabyte with text, zeros, references,
    short pages and a thread. If ODD, add a record unknown to Plan 9."""
    lines = ['"process snapshot 1 a@b amd64 2 \\"c\\"\\n"']
    add = lines.append

    def raw(seed, n):
        lines.extend('r %s%d' % (seed, i) for i in range(n))

    add('record 10 noteid\ndata "         10 "')
    add('record 10 proc\ndata "linux amd64 1\\n"')
    if odd:
        add('record 10 args\ndata "cat notes"')
    add('record 10 text\nsegment 0 20485')
    raw('t', 20)
    add('r "short"')
    add('record 10 mem\nnumber 2\nsegment 0x100000 %d' % (700 * 1024))
    raw('a', 600)
    add('z 60')
    lines.extend('t 10 %d' % (i * 1024) for i in range(3, 19))
    lines.extend('m 10 %d' % (0x100000 + i * 1024) for i in range(23))
    add('r last')
    add('segment 0x7ffe00000000 3000\nm 10 1048576\nz 1\nr short 952')
    add('record 11 proc\ndata {\n"linux amd64 1\\n"\n"thread\\n"')
    add('data "10\\n"\n}')
    add('record 12 mem\nnumber 1\nsegment 0x7fff00000000 %d' % (713 * 1024))
    raw('b', 600)
    lines.extend('m 10 %d' % (0x100000 + i * 1024) for i in range(500, 600))
    lines.extend('m 12 %d' % (0x7fff00000000 + i * 1024) for i in range(12))
    add('z')
    return assemble('\n'.join(lines), 'big')


def mapped():
    """Make a process with memory for its first and last mapping."""
    maps = ''.join('0000%x000-0000%x000 rw-p 00000000 00:00 0 \\n' % m
                   for m in ((2, 3), (3, 5), (6, 7), (8, 9)))
    return assemble('\n'.join([
        '"process snapshot 1 a@b amd64 2 \\"c\\"\\n"',
        'record 10 proc\ndata {\n"linux amd64 1\\n"',
        '"maps\\n"\ndata "%s"' % maps,
        '"missing\\n"\ndata "3000-4000 file\\n"\n}',
        'record 10 mem\nnumber 2\nsegment 0x2000 2048\nr a\nr b',
        'segment 0x8000 4096\nr c\nr d\nr e\nr f']), 'mapped')


def golden(update):
    snap = big(True)
    data = random.Random(605).randbytes(99999)
    ok(xxh3.slow(data) == xxh3.xxh3(data), 'xxh3.py agrees with libxxhash')
    want = hexdump(trailer.write(snap))
    if update:
        with open(GOLDEN, 'w', encoding='ascii') as file:
            file.write(want)
    with open(GOLDEN, encoding='ascii') as file:
        ok(file.read() == want, 'trailer.py writes trailer.hex')
    out, err, _ = run('snapcat', '-', data=snap)
    ok(out[:len(snap)] == snap, 'snapcat copies what precedes it', err)
    ok(hexdump(out[len(snap):]) == want, 'snapcat writes trailer.hex',
       hexdump(out[len(snap):]))
    out, _, _ = run('snapcat', '-', data=big(False))
    ok(not Checker(out).read().breaches, 'oracle.py accepts the output',
       Checker(out).read().breaches)
    for reader in plan9.Bell, plan9.Nine:
        proc = reader(out).read().procs[0]
        ok(not proc.text and not proc.mem and list(proc.files) == [b'proc'],
           'Plan 9 reads the trailer as a process without memory')
    return out


def nottrailers(snap, file, out):
    """An invalid trailer: the rest is read, and -c reports it in one line."""
    at = Reader(snap).read().trailer
    other = big(False)
    bad = bytearray(snap)
    bad[-12] ^= 1
    for data, why, want, name in (
            (snap + other[other.index(b'\n') + 1:], 'records follow it', 0,
                'records after the trailer'),
            (snap[:at] + snap[at:].replace(b'          0 proc\n',
                b'0           proc\n'), 'another program has rewritten it',
                0, 'a rewritten trailer'),
            (bytes(bad), 'its checksum does not match its bytes', 1,
                'a damaged trailer')):
        with open(file, 'wb') as f:
            f.write(data)
        done = run('snapls', '-c', file)
        ok(done[1:] == ('snapls: %s: byte %d: no trailer: %s; no usable '
           'checksums (use snapcat to add new '
           'ones)\n' % (file, at, why), want),
           'snapls -c: ' + name, done[1:])
        ok(run('snapls', file)[1:] == ('', 0), 'snapls reads it')
        ok(run('snapcat', '-o', out, file)[1:] == ('', 0) and
           run('snapls', '-c', out)[1:] == ('', 0), 'snapcat repairs it')
        ok(run('snapcat', '-s', '-o', out, file)[2] == want and
           run('snapls', '-c', out)[1:] == ('', 0), 'snapcat -s repairs it')


def ninefront(out):
    """Check the warning of more than 16 segments, 9front's limit."""
    for name, want in ('sixteen', []), ('seventeen', [
            "snapcat: 9front's snapfs cannot read the snapshot: it accepts at "
            "most 16 memory segments per process, and 1 process has more, up "
            "to 17; Bell Labs' snapfs can"]):
        path = os.path.join(HERE, 'good', name + '.s')
        with open(path, encoding='utf-8') as file:
            snap = assemble(file.read(), path)
        _, err, status = run('snapcat', '-v', '-o', out, '-', data=snap)
        ok(status == 0 and err.splitlines()[1:] == want,
           'snapcat -v: %s segments' % name, err)
        _, err, status = run('snapcat', '-o', out, '-', data=snap)
        ok(not err, 'without -v there is no warning', err)


def commands(snap, tmp):
    """Check the output of snapls and snapcat."""
    file = os.path.join(tmp, 'snap')
    out = os.path.join(tmp, 'out')

    def put(data):
        with open(file, 'wb') as f:
            f.write(data)

    def get():
        with open(out, 'rb') as f:
            return f.read()

    put(snap)
    index, _, _ = run('snapls', '-lv', file)
    scan, _, _ = run('snapls', '-lv', data=snap)
    ok(index == scan, 'snapls: index and scan agree', index, scan)
    ok(b'0 proc\n' in index and b'\n         0 ' not in
       index.split(b'RECORD')[1].split(b'PID')[1],
       'snapls -v: the trailer is a record, not a process', index)
    ok(run('snapls', '-c', file)[1:] == ('', 0), 'snapls -c accepts it')
    body = snap[:Reader(snap).read().trailer]
    put(body)
    ok(run('snapls', '-c', file)[1:] ==
       ('snapls: %s: no checksums\n' % file, 0), 'snapls -c: no trailer')

    bad = bytearray(snap)
    bad[MB + 5000] ^= 1
    put(bad)
    ok(run('snapls', file)[2] == 0, 'snapls does not check pages')
    small = bytearray(snap)
    small[snap.index(b'linux amd64')] ^= 1
    put(small)
    _, err, status = run('snapls', file)
    ok(status == 1 and 'byte 0: megabyte 0 is damaged' in err,
       'snapls checks small files', err)
    put(bad)
    _, err, status = run('snapls', '-c', file)
    ok(status == 1 and 'megabyte 1 (from byte 1048576) is damaged' in err and
       'process 12: lost with megabyte 1: ' in err and ' of mem ' in err,
       'snapls -c names the damaged megabyte and its content', err)
    _, err, status = run('snapls', data=bytes(bad))
    ok(status == 1 and 'byte 1048576: megabyte 1 is damaged' in err,
       'snapls < pipe names the damaged megabyte', err)
    put(body[:900] + b'?' + body[901:700000])
    _, err, status = run('snapls', '-c', file)
    ok(status == 1 and len(set(err.splitlines())) == len(err.splitlines()),
       'snapls -c prints each message once', err)
    put(bad)
    _, err, status = run('snapcat', '-s', '-o', out, file)
    ok(status == 1 and 'megabyte 1 ' in err, 'snapcat -s reports lost data',
       err)
    ok(run('snapls', '-c', out)[1:] == ('', 0), 'it writes a valid snapshot')
    ok(b' damaged\n' in get(), 'it lists the rest as missing')

    whole = get()
    ok(run('snapcat', '-s', '-', data=bytes(bad))[0] == whole,
       'snapcat -s < pipe writes the same')
    packed = gzip.compress(bytes(bad), 1)
    ok(run('snapcat', '-s', '-', data=packed)[0] == whole,
       "snapcat -s writes the same for another program's gzip")
    put(bad[:MB + 20000] + bad[MB + 21000:])
    _, err, status = run('snapcat', '-s', '-o', out, file)
    ok(status == 1 and 'megabyte 1 ' in err and 'megabyte 0' not in err and
       get() == whole, 'snapcat -s writes the same if bytes were removed', err)

    invalid = assemble('\n'.join([
        '"process snapshot 1 a@b amd64 2 \\"c\\"\\n"',
        'record 10 noteid\ndata "         10 "',
        'record 10 proc\ndata "linux amd64 1\\nname"',
        'record 11 noteid\ndata "         10 "']), 'invalid')
    put(invalid)
    index, err, status = run('snapls', file)
    ok(status == 1 and b'\n 11 ' in index and 'process 10: proc: ' in err,
       'snapls lists processes whose Linux record is invalid', index, err)
    scan, _, status = run('snapls', data=invalid)
    ok(scan == index and status == 1, 'snapls < file lists the same', scan)

    put(snap[:600000])
    ok(run('snapls', file)[2] == 1, 'snapls refuses a cut snapshot')
    _, err, status = run('snapcat', '-s', '-o', out, file)
    ok(status == 1 and 'lost: mem from ' in err, 'a cut is reported', err)
    ok(run('snapls', '-c', out)[1:] == ('', 0) and
       not Checker(get()).read().breaches, 'it writes a valid snapshot')
    whole = Reader(body).read().memory(10, 0x100000, 100 * 1024)
    ok(whole is not None and
       Reader(get()).read().memory(10, 0x100000, 100 * 1024) == whole,
       'it has the pages before the cut')

    put(mapped()[:-24 - 4 * 1025 - 500])    # in the first segment
    _, err, status = run('snapcat', '-s', '-o', out, file)
    at, size = Reader(get()).read().procs[10].files[b'proc']
    ok(status == 1 and get()[at:at + size].partition(b'missing\n')[2][12:] ==
       b'2400-2800 damaged\n2800-3000 damaged\n3000-4000 file\n'
       b'4000-5000 damaged\n6000-7000 damaged\n8000-9000 damaged\n',
       'memory mapped after a cut is missing', err,
       get()[at:at + size])
    _, err, status = run('snapls', data=snap + b'y\n' * 50000)
    ok(status == 1 and 'byte %d: record header' % len(snap) in err,
       'other data after the trailer is an error', err)
    _, err, status = run('snapls', data=snap + snap)
    ok(status == 1 and 'byte %d: another snapshot begins here; merge them '
       'with snapcat' % len(snap) in err, 'two snapshots are an error', err)
    empty = bytes(assemble('\n'.join(
        ['"process snapshot 1 a@b amd64 2 \\"c\\"\\n"', 'record 7 mem',
         'number 2', 'segment 0 0', 'segment 0x400000 307200'] +
        ['r e%d' % i for i in range(300)]), 'empty'))
    empty += trailer.write(empty)
    put(empty)
    _, err, status = run('snapls', '-c', file)
    ok(b'index\n' in empty and (err, status) == ('', 0) and
       run('snapls', '-c', '-', data=empty)[1:] == ('', 0),
       'an index may list an empty segment', err)
    nottrailers(snap, file, out)
    ninefront(out)

    put(snap)
    ok(run('snapcat', '-o', out, file)[1:] == ('', 0) and get() == snap,
       'snapcat copies one snapshot unchanged')
    _, err, status = run('snapcat', '-o', out, file, file)
    both = get()
    ok((err, status) == ('', 0), 'snapcat merges two snapshots', err)
    read = Checker(both).read()
    ok(not read.breaches, 'the result keeps the rules', read.breaches)
    ok(list(read.procs) == [10, 11, 12, 13, 14, 15],
       'each process has its own number', list(read.procs))
    ok(len(both) < len(snap) + 200000, 'the processes share pages')
    at, size = read.procs[14].files[b'proc']
    ok(both[at:at + size] == b'linux amd64 1\nthread\n          3 13\n'
       b'origin\n         21 11 1 a@b amd64 2 "c"\npart\n          2 1\n',
       'a thread refers to its process and its origin',
       both[at:at + size])
    ok(run('snapcat', '-x', file)[2] == 2,
       'wrong usage is an error')
    ok(run('snapcat', '-o', out, '/nowhere')[2] == 1, 'no such file')


def main():
    clean_cases()
    snap = golden(sys.argv[1:] == ['-u'])
    with tempfile.TemporaryDirectory() as tmp:
        commands(snap, tmp)
    print('1..%d' % count)


main()
