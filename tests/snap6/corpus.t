#!/usr/bin/env python3
"""corpus.t - the second reader finds in each stream of "make corpus" what the
library found there, and the library refuses the malformed ones
"""
# beside: others unsanitized

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import corpus


def unsnap(path):
    """From the program for one, and from its module for the others."""
    if not path.endswith('indexed.snap'):
        return corpus.by_reader(corpus.unpacked(path))
    out = subprocess.run([sys.executable, corpus.HERE + '/unsnap.py', '-j',
                          path], capture_output=True).stdout
    return json.loads(out or '{}')


def refusal(found):
    """All but why: that is in words."""
    wrong = found.get('refused')
    return wrong and {k: v for k, v in wrong.items() if k != 'why'}


def check(kind, path):
    with open(path, encoding='utf-8') as file:
        want = json.load(file)
    path = path[:-5] + '.snap'
    if kind != 'good':
        said = subprocess.run([corpus.BUILD + '/snapls', path],
                              capture_output=True)
        wrong, byte = want['refused'], re.search(rb'byte (\d+)', said.stderr)
        if said.returncode != 1 or not wrong['why']:
            return 'the library accepts it'
        if byte and int(byte[1]) < wrong.get('record', wrong['at']):
            return f'the library refuses byte {byte[1]}'
    if 'bytes' not in want:     # compressed, and cut
        return None
    got = unsnap(path)
    if refusal(got) != refusal(want):
        return f'refused: {refusal(got)}, want {refusal(want)}'
    for key in want.keys() - {'about', 'refused'}:
        if got.get(key) != want[key]:
            return f'{key}: {str(got.get(key))[:300]}'
    return None


def main():
    count = 0
    with tempfile.TemporaryDirectory() as tmp:
        corpus.main(tmp)
        for path in sorted(glob.glob(tmp + '/*/*.json')):
            kind, name = path[len(tmp) + 1:-5].split(os.sep)
            wrong = check(kind, path)
            count += 1
            print(f'{"not " * bool(wrong)}ok {count} - {kind}/{name}')
            if wrong:
                print(f'# {wrong}')
    print(f'1..{count}')


main()
