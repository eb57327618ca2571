#!/usr/bin/env python3
"""corpus.t - unsnap.py reads from each stream of "make corpus" the same as the
library, and the library refuses the malformed streams
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
import unsnap


def second(path):
    """Return the output of unsnap.py: of the program for one stream, of its
    module for the others."""
    if not path.endswith('indexed.snap'):
        with open(path, 'rb') as file:
            return unsnap.show(file.read())
    out = subprocess.run([sys.executable, corpus.HERE + '/unsnap.py', path],
                         capture_output=True).stdout
    return json.loads(out or '{}')


def library(path, wrong):
    """Return an error unless the library refuses it at a right place."""
    said = subprocess.run([corpus.BUILD + '/snapls', path],
                          capture_output=True)
    byte = re.search(rb'byte (\d+)', said.stderr)
    if said.returncode != 1:
        return 'the library accepts it'
    if byte and int(byte[1]) < wrong.get('record', 0):
        return f'the library refuses byte {byte[1]}'
    return None


def check(kind, path):
    """Return the error of one stream, or None."""
    with open(path, encoding='utf-8') as file:
        want = json.load(file)
    path = path[:-5] + '.snap'
    wrong, got = want.pop('refused'), second(path)
    new = got.pop('refused', None)
    if bool(wrong) != bool(new) or bool(wrong) != (kind != 'good') or \
            wrong and new['at'] < wrong['at']:
        return f'refused: {new}, want {wrong}'
    if kind == 'bad' and got.keys() != want.keys() - {'about'}:
        return f'it has {list(got)}'
    for key in want.keys() - {'about'}:
        if got.get(key) != want[key]:
            return f'{key}: {str(got.get(key))[:300]}'
    return wrong and library(path, wrong)


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
