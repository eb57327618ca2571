#!/usr/bin/env python3
"""selftest - check the oracle against its cases

usage: selftest.t       (in TAP; prove runs it)

A case is a text for snapasm.py. Its first line describes it.

good/   Valid streams; NAME.want is the listing. oracle.py -c accepts it if
	and only if the first line begins with "-c:". The first line of
	NAME.mem, if that exists, has the arguments of -x. Assembled, it is
	the output of -x.
odd/    Valid streams that our writer must not write: "byte N:" is the place
	of the only breach that oracle.py -c finds.
bad/    Malformed streams: "byte N:" is the place of the fault.

NAME.plan9 has the result of the readers of Plan 9 if it differs: a
listing, or the word "refused". If the two differ from each other, there are
NAME.bell and NAME.9front.
"""

import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import plan9
import rules
from reader import Fault, Reader
from snapasm import assemble

HERE = os.path.dirname(os.path.abspath(__file__))


def contents(path):
    with open(path, 'rb') as file:
        return file.read()


class Case:
    def __init__(self, path):
        self.path = path[:-len('.s')]
        self.kind, self.name = self.path.split(os.sep)[-2:]
        self.text = contents(path).decode()
        self.snap = assemble(self.text, path)

    def file(self, *suffixes):
        """Return the contents of the first file that exists, or None."""
        for suffix in suffixes:
            if os.path.exists(self.path + suffix):
                return contents(self.path + suffix)

    def byte(self):
        return int(re.match(r'# byte (\d+): ', self.text).group(1))


def listing(reader, snap):
    try:
        return b''.join(line + b'\n' for line in reader(snap).read().dump())
    except Fault:
        return b'refused\n'


def good(case):
    if listing(Reader, case.snap) != case.file('.want'):
        yield 'its listing is another'
    clean = not rules.Checker(case.snap).read().breaches
    if clean != case.text.startswith('# -c: '):
        yield '-c is of another opinion'
    mem = case.file('.mem')
    if mem:
        args = [int(n, 0) for n in mem.split(b'\n')[0][1:].decode().split()]
        if Reader(case.snap).read().memory(*args) != assemble(mem.decode()):
            yield 'its memory is another'


def odd(case):
    at = [at for at, what in rules.Checker(case.snap).read().breaches]
    if at != [case.byte()]:
        yield '-c finds breaches at %s' % at


def bad(case):
    try:
        Reader(case.snap).read()
        yield 'no fault was found'
    except Fault as fault:
        if fault.at != case.byte():
            yield str(fault)


def theirs(case):
    """Check the results of the readers of Plan 9."""
    for reader, suffix in (plan9.Bell, '.bell'), (plan9.Nine, '.9front'):
        want = case.file(suffix, '.plan9', '.want') or b'refused\n'
        if listing(reader, case.snap) != want:
            yield 'to the reader of %s it is another' % suffix[1:]


def cuts(case):
    """A stream that is cut is malformed, unless between two records."""
    ends = []

    class Marker(Reader):
        def record(self):
            ends.append(self.pos)
            super().record()

    Marker(case.snap).read()
    for n in range(len(case.snap)):
        if (listing(Reader, case.snap[:n]) == b'refused\n') == (n in ends):
            yield 'the first %d bytes' % n


def run(program, *args, stdin=b''):
    """What a program wrote, and its exit status."""
    command = [sys.executable, os.path.join(HERE, program), *args]
    done = subprocess.run(command, input=stdin, capture_output=True)
    return done.stdout, done.stderr, done.returncode


def programs():
    """The programs, as one types them: arguments, output, exit status."""
    short = os.path.join(HERE, 'good', 'short.s')
    snap, err, status = run('snapasm.py', short)
    want = contents(short.replace('.s', '.want'))
    within = os.path.join(HERE, 'good', 'overlap-within.s')
    first = run('oracle.py', '-m', 'bell', '-x', '10', '0x1400', '16',
        stdin=run('snapasm.py', within)[0])
    left = run('snapasm.py', stdin=b'justify left\nnumber 7\n')
    page = assemble('bytes c 1024\n"d"')
    for what, got, expected in (
            ('snapasm of a file', (snap, err, status),
                (assemble(contents(short).decode()), b'', 0)),
            ('snapasm of stdin', left, (b'7           ', b'', 0)),
            ('snapasm of nonsense', run('snapasm.py', stdin=b'x 1\n')[2], 1),
            ('oracle', run('oracle.py', stdin=snap), (want, b'', 0)),
            ('oracle -m bell', run('oracle.py', '-m', 'bell', stdin=snap),
                (want, b'', 0)),
            ('oracle -x', run('oracle.py', '-x', '10', '0x1000', '1025',
                stdin=snap), (page, b'', 0)),
            ('oracle -x of a hole', run('oracle.py', '-x', '10', '0x1000',
                '1026', stdin=snap), (b'', b'oracle: not mapped\n', 1)),
            ('oracle -m bell -x', first, (assemble('bytes a1 16'), b'', 0)),
            ('oracle -c', run('oracle.py', '-c', stdin=snap)[::2], (want, 1)),
            ('oracle of a file', run('oracle.py', short)[::2], (b'', 1)),
            ('oracle -m c', run('oracle.py', '-m', 'c', stdin=snap)[2], 2)):
        if got != expected:
            yield '%s gives %r' % (what, got)


def tests():
    """Yield the name of a test, its function, and the argument."""
    for check in good, odd, bad:
        paths = glob.glob(os.path.join(HERE, check.__name__, '*.s'))
        for case in map(Case, sorted(paths)):
            name = '%s/%s' % (case.kind, case.name)
            yield name, check, case
            if check != odd:
                yield name + ' on Plan 9', theirs, case
            if check == good and len(case.snap) < 4000:
                yield name + ' cut short', cuts, case
    yield 'programs', lambda _: programs(), None


def main():
    count = 0
    for count, (name, check, case) in enumerate(tests(), 1):
        problems = list(check(case))
        print('%sok %d - %s' % ('not ' * bool(problems), count, name))
        for problem in problems:
            print('# ' + problem)
    print('1..%d' % count)


if __name__ == '__main__':
    main()
