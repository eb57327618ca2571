#!/usr/bin/env python3
"""reader.t - check the library's reader against the cases

usage: reader.t [-u]       (in TAP; prove runs it)

Each case of good/ is read from a file and from a pipe, and gives its
listing. Each of odd/ gives the listing of oracle.py, or an error if its Linux
record is malformed. Each of bad/ gives an error. NAME.err has the message of
snapls; -u updates these files.
"""

import glob
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import snapasm

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, '..', '..', os.environ.get('BUILD', 'build'))
DUMP = os.path.join(BUILD, 'tests', 'snap6', 'dump')
SNAPLS = os.path.join(BUILD, 'snapls')
ORACLE = os.path.join(HERE, 'oracle.py')

count = 0


def check(name, got, want):
    global count
    count += 1
    if got == want:
        print(f'ok {count} - {name}')
        return
    print(f'not ok {count} - {name}')
    for what, text in (('got', got), ('want', want)):
        for line in text.decode('latin-1').splitlines():
            print(f'# {what}: {line}')


def run(argv, data=None):
    return subprocess.run(argv, input=data, capture_output=True)


def error(path, stream):
    """Return the message of snapls, which must fail for file and pipe."""
    file = run([SNAPLS, path])
    if file.returncode != 1:
        return b'exit status %d\n' % file.returncode
    pipe = run([SNAPLS], stream)
    if pipe.returncode != 1:
        return b'from a pipe: exit status %d\n' % pipe.returncode
    said = file.stderr.replace(path.encode(), b'FILE')
    return said.replace(b'; snapcat -s saves what precedes it', b'')


def main():
    update = sys.argv[1:] == ['-u']
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'snap')
        for case in sorted(glob.glob(os.path.join(HERE, '*', '*.s'))):
            kind, name = case[len(HERE) + 1:-2].split(os.sep)
            with open(case, encoding='utf-8') as f:
                stream = snapasm.assemble(f.read())
            with open(path, 'wb') as f:
                f.write(stream)
            err = case[:-2] + '.err'
            if kind == 'bad' or os.path.exists(err):
                said = error(path, stream)
                if update:
                    with open(err, 'wb') as f:
                        f.write(said)
                with open(err, 'rb') as f:
                    check(f'{kind}/{name}: the error', said, f.read())
                continue
            want = run([sys.executable, ORACLE, path]).stdout \
                if kind == 'odd' else open(case[:-2] + '.want', 'rb').read()
            want = want.replace(b'\0', b'?')
            check(f'{kind}/{name}: from a file', run([DUMP, path]).stdout,
                  want)
            check(f'{kind}/{name}: from a pipe', run([DUMP], stream).stdout,
                  want)
    print(f'1..{count}')


main()
