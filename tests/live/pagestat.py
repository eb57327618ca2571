"""pagestat.py [-l] PAGESTAT PID [WORD ...]: compare pagestat and the kernel

Numbers of the process are those of smaps_rollup, and those of mappings those of
smaps.  Mappings of files that pagestat itself maps are left out: it is one of
the processes that share them.  Then all is equal, except that PSS of the
process may be off by a kilobyte for each mapping left out, as smaps rounds
these down.

With -l, PSS of the process is not compared: other processes with the same
libraries come and go.  With WORDs, they run pagestat as nobody.  Then there is
no PSS, and mappings with huge pages are left out.
"""
import os
import subprocess
import sys
import traceback

loose = sys.argv[1] == '-l'
if loose:
    del sys.argv[1]
prog, pid = sys.argv[1:3]
before = sys.argv[3:]
as_nobody = before != []


def run(*args):
    out = subprocess.run([*before, prog, *args, pid], capture_output=True,
                         check=True)
    if not as_nobody:
        assert out.stderr == b'', out.stderr
    return [line.split() for line in out.stdout.decode().splitlines()]


def numbers(text):
    """Return of each mapping: address, RSS, PSS, USS, shared, swap, THP."""
    all = []
    for line in text.splitlines():
        key, *value = line.split()
        if key[-1] != ':':
            all.append([int(key.split('-')[0], 16)] + [0] * 6)
            continue
        for k, i in (('Rss:', 1), ('Pss:', 2), ('Private_Clean:', 3),
                     ('Private_Dirty:', 3), ('Shared_Clean:', 4),
                     ('Shared_Dirty:', 4), ('Swap:', 5),
                     ('AnonHugePages:', 6), ('ShmemPmdMapped:', 6),
                     ('FilePmdMapped:', 6)):
            if key == k:
                all[-1][i] += int(value[0])
    return all


def number(s):
    return 0 if s == '-' else int(s)


def known(n):
    return [n[0], 0, *n[2:]] if as_nobody else n


def ours():
    """Return the base names of the files that pagestat itself maps."""
    out = subprocess.run(['ldd', prog], capture_output=True).stdout.decode()
    paths = [w for w in out.split() if w[0] == '/']
    return {os.path.basename(os.path.realpath(p)) for p in [prog] + paths} | {
        '[vdso]'}


def read(name):
    with open('/proc/%s/%s' % (pid, name)) as f:
        return f.read()


def compare():
    """Compare all numbers.  The caller retries, as others come and go."""
    rollup = read('smaps_rollup')
    smaps = read('smaps')
    head, line, *rest = run('-b')
    line = [w if w == '-' else str(int(w) // 1024) if 0 < i < 7 else w
            for i, w in enumerate(line)]
    each = [[str(int(w) // 1024) if w.isdigit() and i > 0 else w
             for i, w in enumerate(e)] for e in run('-mb')]
    assert head == 'PID RSS PSS USS SHARED SWAP HUGE NAME'.split()
    assert rest == [] and line[0] == pid
    whole = numbers(rollup)[0][1:6]
    shown = [number(s) for s in line[1:6]]
    assert (line[2] == '-') == as_nobody
    assert each.pop(0)[:3] == ['START', 'SIZE', 'RSS']
    total = each.pop()
    assert total[0] == 'total'
    again = [number(s) for s in total[1:6]]
    if loose:
        whole[1] = again[1] = shown[1]
    assert again == shown, (again, shown)
    want = numbers(smaps)
    assert len(each) == len(want), (len(each), len(want))
    out = 0
    for e, w in zip(each, want):
        got = [number(s) for s in e[2:7]] + [int(e[10])]
        assert int(e[0], 16) == w[0], (e, w)
        if not (os.path.basename(' '.join(e[11:])) in left_out or
                as_nobody and w[6] > 0):
            assert got == known(w[1:]), (e, w)
            continue
        assert got[0] == w[1] and got[2] + got[3] == w[1] and got[4] == w[5]
        for i in 1, 2, 3:
            whole[i] -= w[1 + i]
            shown[i] -= got[i]
        out += 1
    if as_nobody:
        whole[1] = 0
    assert shown[0] == whole[0] and shown[2:] == whole[2:], (shown, whole)
    assert loose or abs(shown[1] - whole[1]) <= out, (shown, whole)


left_out = ours()
for i in range(50):
    try:
        compare()
        break
    except AssertionError:
        why = traceback.format_exc()
else:
    sys.exit(why)
