#!/usr/bin/env bash
# snapgrep ends with a status of its own on truncated, damaged and hostile
# snapshots.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

needs snapgrep
sleep 1000 &
pid=$!
until_true grep -qx sleep "/proc/$pid/comm"
snap -o "$tmp/whole" "$pid"
"$BUILD/snapcat" -z -o "$tmp/gz" "$tmp/whole"
"$BUILD/snapcore" -o "$tmp/core" "$tmp/whole"

# twelve damaged versions of each file; the seed is always the same
cat >"$tmp/harm.py" <<'END'
import random
import subprocess
import sys

program, what, into = sys.argv[1:]
whole = open(what, 'rb').read()
random.seed(20)
bad = []
for i in range(12):
    data = bytearray(whole)
    if i % 3 == 0:
        del data[random.randrange(len(data)):]
    else:
        for _ in range(1 << i):
            # the headers are at the beginning, the index at the end
            at = random.choice((random.randrange(len(data)),
                                random.randrange(min(len(data), 20000)),
                                -1 - random.randrange(2000)))
            data[at] = random.randrange(256)
    with open(into, 'wb') as f:
        f.write(data)
    for how in (['-c', '[a-z]+b'], ['-C', '9', '-m', '9', '-x', '00'],
                ['-m', '9', '-P', '0-ffffffffffff']):
        done = subprocess.run([program, *how, into], timeout=60, check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        if done.returncode not in (0, 1, 2) or (
                done.returncode != 2) != (done.stderr == b''):
            bad.append((i, how, done.returncode, done.stderr[-300:]))
print(*bad, sep='\n', end='')
END
for f in whole gz core; do
	is "$(python3 "$tmp/harm.py" "$BUILD/snapgrep" "$tmp/$f" "$tmp/x")" "" \
	    "$f: damaged: status 0 or 1, or 2 and a message"
done

# one process with invalid mappings, and one that is valid
PYTHONPATH=$tests/snap6 python3 - >"$tmp/x" <<'END'
import sys
from snapasm import assemble

sys.stdout.buffer.write(assemble('\n'.join((
    r'"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"',
    'record 7 segment', r'data "nonsense\n"',
    'record 7 mem', 'number 1', 'segment 0x10000 1024', 'r "B"*1024',
    'record 9 mem', 'number 1', 'segment 0x10000 1024', 'r "A"*1024'))))
END
"$BUILD/snapgrep" -lF AAA "$tmp/x" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" \
    '2 9
snapgrep: process 7: segment: cannot parse "nonsense"' \
    "the mappings of a process are invalid: the other one is searched"

# an expression that would take almost forever
PYTHONPATH=$tests/snap6 python3 - >"$tmp/x" <<'END'
import sys
from snapasm import assemble

sys.stdout.buffer.write(assemble('\n'.join((
    r'"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"',
    'record 9 mem', 'number 1', 'segment 0x10000 1024',
    r'r "A"*400 "\n" "B"*300 "\n" "C"*319 "\nqq"'))))
END
"$BUILD/snapgrep" -c '^(([^\n]*)*)*\nq!q$' "$tmp/x" >"$tmp/out" 2>"$tmp/err"
rc=$?
is "$rc $(cat "$tmp/err")" "2 snapgrep: matching took too long in some places, which were skipped" \
    "an expression that takes too long is skipped, with a message"

# If there are two processors, two threads search one megabyte each.  The bytes
# that take long are in the first, then in the second megabyte, because either
# thread may search either.
PYTHONPATH=$tests/snap6 python3 - "$tmp" <<'END'
import sys
from snapasm import assemble

for name, at in ('first', 100), ('second', 1500):
    with open('%s/%s' % (sys.argv[1], name), 'wb') as f:
        f.write(assemble('\n'.join((
            r'"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"',
            'record 9 mem', 'number 1', 'segment 0x10000 0x200000',
            *['r "-"*1024'] * at, 'r "x"*1024',
            *['r "-"*1024'] * (2047 - at)))))
END
bad=0
for ((i = 0; i < 6; i++)); do
	for f in first second; do
		"$BUILD/snapgrep" -c '(x+x+)+y' "$tmp/$f" >"$tmp/out" 2>"$tmp/err"
		[ "$? $(grep -c 'too long' "$tmp/err")" = "2 1" ] ||
		    bad=$((bad + 1))
	done
done
is "$bad" 0 "the same whichever thread searches them"
finish 6
