#!/usr/bin/env python3
"""salvage.t - check what snapcat -s saves of damaged snapshots

usage: salvage.t            (in TAP; prove runs it)

Plain and compressed, from files and pipes, with fixed seeds. The output is a
snapshot. Each of its pages equals that of the original or is listed as
missing, unless a warning says that checksums are missing.
"""

import gzip
import os
import random
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from reader import KB, Reader
from snapasm import assemble

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, '..', '..', os.environ.get('BUILD', 'build'))
ROUNDS = 14


def run(program, *args, data=None):
    return subprocess.run([os.path.join(BUILD, program), *args], input=data,
                          capture_output=True, timeout=60)


def original():
    """More than two megabytes: two processes that share pages."""
    lines = ['"process snapshot 1 a@b amd64 2 \\"c\\"\\n"']
    for pid in 10, 11:
        lines.append('record %d proc\ndata "linux amd64 1\\n"' % pid)
        lines.append('record %d text\nsegment 0 102400' % pid)
        lines.extend('r %s%d' % ('tu'[pid - 10], i) for i in range(100))
        lines.append('record %d mem\nnumber 2\nsegment 0x100000 %d' %
                     (pid, 950 * KB))
        lines.extend('r %s%d' % ('mn'[pid - 10], i) for i in range(850))
        lines.extend('t 10 %d' % (i * KB) for i in range(50))
        lines.extend('m 10 %d' % (0x100000 + i * KB) for i in range(20))
        lines.append('z 30')
        lines.append('segment 0x800000 1500\nr e%d\nr short 476' % pid)
    return run('snapcat', '-', data=assemble('\n'.join(lines), 'x')).stdout


def pages(read):
    return {(pid, kind, seg.base + i * KB): read.content(seg, i)
            for pid, p in read.procs.items()
            for kind, image in ((b'text', p.text), (b'mem', p.mem))
            for seg in image for i in range(seg.pages)}


def missing(read, data, pid):
    """Addresses that a Linux record lists: pages (kind, address)."""
    at, size = read.procs[pid].files.get(b'proc', (0, 0))
    rest = bytes(data[at:at + size]).partition(b'\n')[2]
    found = set()
    while rest:
        name, _, rest = rest.partition(b'\n')
        body, rest = rest[12:12 + int(rest[:12])], rest[12 + int(rest[:12]):]
        kind = {b'missing': b'mem', b'missing-text': b'text'}.get(name)
        for line in body.splitlines() if kind else ():
            start, end = (int(n, 16) for n in line.split()[0].split(b'-'))
            found |= {(pid, kind, a) for a in range(start, end, KB)}
    return found


def damage(data, rng, what):
    data = bytearray(data)
    if what == 'cut':
        return data[:rng.randrange(200, len(data))]
    at = rng.randrange(len(data))
    if what == 'zeros':
        data[at:at + 9000] = bytes(len(data[at:at + 9000]))
    elif what == 'gone':
        del data[at:at + 700]
    else:
        data[at] ^= 1 << rng.randrange(8)
    return data


def fault(done, whole, want):
    """Return the error in the saved snapshot, or None."""
    out, err = done.stdout, done.stderr
    if done.returncode not in (0, 1) or (done.returncode == 1) == (not err):
        return 'status %d' % done.returncode
    if done.returncode == 0 and out != whole:
        return 'something else, without a word'
    if not out:
        return None
    if run('snapls', '-c', data=out).returncode != 0:
        return 'not a snapshot'
    read = Reader(out).read()
    listed = set().union(*(missing(read, out, pid) for pid in read.procs))
    wrong = [page for page, data in pages(read).items()
             if page not in listed and data != want.get(page)]
    if wrong and b'may also be damaged' not in err:
        return '%d pages are wrong' % len(wrong)
    return None


def proc(files):
    """Return the Linux record of process 7, and the header of its mem."""
    body = b'linux amd64 1\n' + b''.join(
        b'%s\n%11d ' % (name, len(text)) + text for name, text in files)
    return (b'process snapshot 1 a@b amd64 2 "c"\n%11d proc\n%11d ' %
            (7, len(body)) + body + b'%11d mem\n' % 7)


def top():
    """Salvage a segment that ends at 2^64, cut in its third kilobyte."""
    data = proc([(b'maps', b'400000-401000 r-xp 00000000 00:00 0 \n'
                  b'fffffffffffff000-ffffffffffffffff rw-p 00000000 00:00 0 \n'
                  )]) + b'%11d ' % 2
    for base in 0x400000, 2 ** 64 - 4096:
        data += b'%11d %11d ' % (base, 4096)
        data += b''.join(b'r' + bytes([65 + i]) * KB for i in range(4))
    done = run('snapcat', '-s', '-', data=data[:-1500])
    return b'\nfffffffffffff800-ffffffffffffffff damaged\n' in \
        b'\n' + done.stdout.partition(b'missing\n')[2][12:] and \
        b'all mapped memory' not in done.stderr


def invalid():
    """Salvage three processes, two of them with an invalid Linux record."""
    data = b'process snapshot 1 a@b amd64 2 "c"\n'
    for pid, rest in ((5, b'thread\n%11d x\n' % 2), (6, b'comm\n%11d c\n' % 2),
                      (7, b'comm\n%11d c\n' % 9)):
        rest = b'linux amd64 1\n' + rest
        data += b'%11d proc\n%11d %sfd\n%11d f' % (
            pid, len(rest), rest + b'%11d ' % pid, 1)
    done = run('snapcat', '-s', '-', data=data)
    read = Reader(done.stdout).read()
    return done.returncode == 1 and \
        done.stderr.count(b'the Linux record is lost') == 2 and \
        run('snapls', '-c', data=done.stdout).returncode == 0 and \
        [b'proc' in p.files for p in read.procs.values()] == [0, 1, 0] and \
        all(b'fd' in p.files for p in read.procs.values())


def claims(n):
    """Return the seconds to salvage n mappings and n missing ranges."""
    each = range(0, n * 8192, 8192)
    data = proc([
        (b'maps', b''.join(b'%x-%x rw-p 00000000 00:00 0 \n' %
                           (0x10000 + i, 0x12000 + i) for i in each)),
        (b'missing', b''.join(b'%x-%x guard\n' % (0x11000 + i, 0x12000 + i)
                              for i in each))]) + b'%11d ' % 1
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run('snapcat', '-s', '-', data=data)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def main():
    whole = original()
    want = pages(Reader(whole).read())
    forms = [('plain', whole), ("another's gzip", gzip.compress(whole, 1)),
             ('compressed', run('snapcat', '-z', '-', data=whole).stdout)]
    count = 0
    with tempfile.TemporaryDirectory() as tmp:
        file = os.path.join(tmp, 'snap')
        for name, data in forms:
            for pipe in False, True:
                rng = random.Random(606)
                bad = []
                for k in range(ROUNDS):
                    what = ('flip', 'cut', 'zeros', 'flip', 'gone')[k % 5]
                    hurt = bytes(damage(data, rng, what))
                    with open(file, 'wb') as f:
                        f.write(hurt)
                    done = run('snapcat', '-s', '-', data=hurt) if pipe \
                        else run('snapcat', '-s', file)
                    why = fault(done, whole, want)
                    if why:
                        bad.append('%d, %s: %s: %.200r' %
                                   (k, what, why, done.stderr))
                count += 1
                print('%sok %d - %s, %s' % ('not ' if bad else '', count,
                                            name, 'pipe' if pipe else 'file'))
                for line in bad:
                    print('# ' + line)
    # a few ticks of the kernel's clock cannot be measured
    few, many = max(claims(12000), 0.02), claims(96000)
    for good, name in ((top(), 'a cut segment that ends at 2^64 is salvaged'),
                       (invalid(), 'only invalid Linux records are lost'),
                       (many < 24 * few, 'the time is linear in the number '
                        'of missing ranges: %.3f, %.3f' % (few, many))):
        count += 1
        print('%sok %d - %s' % ('' if good else 'not ', count, name))
    print('1..%d' % count)


main()
