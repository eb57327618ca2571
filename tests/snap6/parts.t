#!/usr/bin/env python3
"""parts.t - snapls --records on each valid stream, from a file and a pipe

The parts are contiguous, each begins with the right bytes, and references lead
to raw pages.
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
SNAPLS = os.path.join(BUILD, 'snapls')
LETTER = {'raw': b'r', 'zero': b'z', 'memory': b'm', 'text': b't'}


def parts(argv, data=None):
    out = subprocess.run([SNAPLS, '--records', '-n'] + argv, input=data,
                         capture_output=True).stdout.decode('latin-1')
    rows = [line.split(None, 3) for line in out.splitlines()]
    return [(int(r[0]), int(r[1]), r[2], r[3]) for r in rows
            if len(r) == 4 and r[2] in ('line', 'record', 'data', 'file',
                                        'count', 'segment', *LETTER)]


def fault(rows, stream):
    """Return the first error in rows, or None."""
    end = 0
    for at, n, kind, text in rows:
        part = stream[at:at + n]
        if kind == 'file':
            if not part.startswith(text.encode('latin-1') + b'\n'):
                return f'file at {at}'
            continue
        if at != end or len(part) != n:
            return f'gap at {end}'
        end += n
        if kind == 'zero' and part.strip(b'z') or \
           kind in LETTER and part[:1] != LETTER[kind]:
            return f'{kind} at {at}'
        if ', byte ' in text:
            raw = int(text.split(', byte ')[1].split(',')[0])
            if stream[raw:raw + 1] != b'r' or raw >= at:
                return f'byte {raw}'
    return None if end == len(stream) else f'end at {end}'


def main():
    count = 0
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'snap')
        for case in sorted(glob.glob(os.path.join(HERE, 'good', '*.s'))):
            with open(case, encoding='utf-8') as f:
                stream = snapasm.assemble(f.read())
            with open(path, 'wb') as f:
                f.write(stream)
            rows = parts([path])
            wrong = fault(rows, stream)
            if parts([], stream) != rows:
                wrong = 'another result from a pipe'
            # the damaged page has no row
            raw = [r for r in rows if r[2] == 'raw' and r[1] > 1025]
            for at, n, *_ in raw:
                end = at + (n - 1) // 1025 * 1025
                cut = parts([], stream[:end] + b'?' + stream[end + 1:])
                if cut[-1][:3] != (at, end - at, 'raw'):
                    wrong = f'damage at {end}'
            count += 1
            name = os.path.basename(case)[:-2]
            print(f'{"not " * (wrong is not None)}ok {count} - {name}')
            if wrong is not None:
                print(f'# {wrong}')
    print(f'1..{count}')


main()
