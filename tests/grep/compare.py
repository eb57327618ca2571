"""compare - compare the matches of snapgrep and grep in the same bytes

usage: compare.py SNAPGREP SNAPSHOT REGION GREPOPTIONS OPTIONS PATTERN CORE...

Each CORE is the core of a process, whose id follows the last dot; REGION is
START-END in hexadecimal.  GREPOPTIONS are options of grep besides -obUa.
Prints differences.  Exits 1 if there are differences or no matches.
"""

import os
import re
import struct
import subprocess
import sys


def region_bytes(path, start, end):
    with open(path, 'rb') as f:
        head = f.read(64)
        phoff, = struct.unpack_from('<Q', head, 32)
        phnum, = struct.unpack_from('<H', head, 56)
        f.seek(phoff)
        for ph in struct.iter_unpack('<IIQQQQQQ', f.read(56 * phnum)):
            kind, _, off, addr, _, filesz, _, _ = ph
            if kind == 1 and addr <= start and end <= addr + filesz:
                f.seek(off + start - addr)
                return f.read(end - start)
    sys.exit('%s does not have it' % path)


def run(*cmd):
    done = subprocess.run(cmd, stdout=subprocess.PIPE,
                          env=dict(os.environ, LC_ALL='C'), check=False)
    if done.returncode > 1:
        sys.exit('%s: exit status %d' % (cmd[0], done.returncode))
    return done.stdout.splitlines()


program, snapshot, region, grepopts, opts, pattern = sys.argv[1:7]
first, last = (int(x, 16) for x in region.split('-'))
want = set()
for core in sys.argv[7:]:
    if not os.path.exists(core + '.bytes'):
        with open(core + '.bytes', 'wb') as out:
            out.write(region_bytes(core, first, last))
    for line in run('grep', '-obUa', *grepopts.split(), '--', pattern,
                    core + '.bytes'):
        at = re.match(rb'(\d+):', line)
        if at is not None:
            want.add((int(core.rsplit('.', 1)[1]), first + int(at[1])))
got = []
for line in run(program, '-a', '-r', region, *opts.split(), '-e', pattern,
                snapshot):
    word = line.split(b' ')
    got.append((int(word[0]), int(word[1], 16)))
for what, some in (('only snapgrep', set(got) - want),
                   ('only grep', want - set(got))):
    for pid, addr in sorted(some)[:10]:
        print('%s: process %d at %x' % (what, pid, addr))
if len(got) != len(set(got)) or got != sorted(got):
    print('not in order, or twice')
    sys.exit(1)
sys.exit(set(got) != want or not want)
