"""dying.py SNAPSHOT MESSAGES: check processes that ended during a snapshot.

Each one has registers, or is a zombie and reported as one.
"""
import re
import sys

import check

snap = check.load(sys.argv[1])
with open(sys.argv[2]) as f:
    told = {int(n) for n in re.findall(r'process (\d+) is a zombie', f.read())}
zombies = set()
for pid in snap.procs:
    if pid >= 1 << 22:
        continue
    rec = check.record(snap, pid)
    state = rec['stat'].rsplit(b')', 1)[1].split()[0].decode()
    status = re.search(rb'State:\t(.)', rec['status']).group(1).decode()
    if 'regset/prstatus' not in rec:
        zombies.add(pid)
    if (state == 'Z') != (pid in zombies) or status != state and 'Z' in (
            status, state):
        check.fault('%d: stat %s, status %s, %s' % (
            pid, state, status,
            'no registers' if pid in zombies else 'registers'))
if zombies != told:
    check.fault('zombies %s, told %s' % (sorted(zombies), sorted(told)))
print(len(zombies), 'of', len(snap.procs))
sys.exit(check.faults > 0)
