#!/usr/bin/env python3
"""saved - test what snapcat -s saves of a damaged compressed snapshot

usage: saved.py SNAPCAT COMPRESSED PLAIN

Damages one member at a time, in its header, its contents and its end, and then
several at once.  All but the pages in these members must be saved.
"""

import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'snap6'))
sys.dont_write_bytecode = True

from reader import Reader    # noqa: E402

snapcat, packed, plain = sys.argv[1:]
MB = 1 << 20


def members(data):
    at = [0]
    while at[-1] < len(data):
        at.append(at[-1] + struct.unpack_from('<I', data, at[-1] + 16)[0])
    return at


with open(packed, 'rb') as file:
    whole = file.read()
with open(plain, 'rb') as file:
    size = len(file.read())
at = members(whole)
full = len(at) - 2
rng = random.Random(605)
print('%d members' % full)
bad = 0
for k in range(8):
    # not the last: it has the trailer
    hit = rng.sample(range(1, full - 1), 1 if k < 6 else 3)
    data = bytearray(whole)
    for m in hit:
        where = [(at[m], 24), (at[m] + 24, at[m + 1] - at[m] - 32),
                 (at[m + 1] - 8, 8)][k % 3]
        data[where[0] + rng.randrange(where[1])] ^= 1 << rng.randrange(8)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'damaged')
        with open(path, 'wb') as file:
            file.write(data)
        done = subprocess.run([snapcat, '-vs', path], capture_output=True)
    told = done.stderr.decode()
    named = [int(n) for n in re.findall(r'megabyte (\d+) \(from', told)]
    # a flipped bit without a meaning is not damage
    if done.returncode not in (0, 1) or not set(named) <= set(hit) or \
            (done.returncode == 1 and not named) or \
            len(done.stdout) < size - 4 * MB * len(hit) or \
            (named and 'damaged' not in
             done.stdout.decode('latin-1')):
        bad += 1
        print('members %s: status %d, %d of %d bytes:\n%s' %
              (hit, done.returncode, len(done.stdout), size, told))
    try:
        Reader(done.stdout).read()
    except Exception as fault:      # whatever it is
        bad += 1
        print('members %s: %s' % (hit, fault))
sys.exit(bad != 0)
