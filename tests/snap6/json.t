#!/usr/bin/env bash
# snapls -j: JSON with the content of -l, for any names.  States are named as on
# the captured machine.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

cd "$tmp" || exit 1

# A malicious snapshot: names with bytes that break JSON and terminals.
# (The kernel escapes a newline in maps.)
line='a\"b\\c\033[2J\302\233\342\200\256\303\274\377\300\200'
name="$line\\n"
python3 -c 'import sys
print(sys.stdin.read().replace("/usr/bin/prog", "/" + sys.argv[1])
    .replace("(sleeping)", "(\\033]0;x)"), end="")' "$line" \
    <"$tests/procmap/all.s" >odd.s
cat >>odd.s <<-END
	record 20 proc
	data {
	"linux amd64 1\n"
	"status\n"
	data "Name:\tx\nState:\tD (disk sleep)\n"
	"comm\n"
	data "$name\n"
	}
	record 21 status
	data "init                        glenda                      Wakeme     $(
	    printf '%109s' '')"
END
python3 "$tests/snap6/snapasm.py" odd.s >odd.snap
cp odd.snap "$(printf 'x\377\n.snap')"

"$BUILD/snapls" -j odd.snap >odd.json 2>err
is "$? $(cat err)" "0 " "snapls -j succeeds"
is "$(LC_ALL=C grep -c "$(printf '[\001-\037\177-\377]')" <(
    LC_ALL=C sed "s/$(printf '\303\274')/u/g" odd.json))" 0 \
    "the output is UTF-8 without control characters"
"$BUILD/snapls" -lb odd.snap >odd.list
"$BUILD/snapls" -nb -o PID,USER,STATE,THREADS,MEMORY,RAW,ZERO,SHARED \
    odd.snap >odd.table
cat >same.py <<'END'
import json, os, re, sys

objects = [json.loads(line) for line in open(sys.argv[1])]
head = objects.pop(0)
assert head['type'] == 'snapshot', head
procs = [o for o in objects if o['type'] == 'process']
assert head['processes'] == len(procs)
want = []
rows = {}
for line in open(sys.argv[3]):
    w = line.split()
    rows[int(w[0])] = dict(
        pid=int(w[0]), user=w[1] if w[1] != '-' else None,
        state=w[2] if w[2] != '-' else None, threads=int(w[3]),
        memory=int(w[4]), raw=int(w[5]), zero=int(w[6]), shared=int(w[7]),
        mappings=[], missing=[])


def harmless(name):
    """The width that the name has in the list of -l."""
    return len(os.fsencode('(gap)' if name is None else name or '-'))


got = None
for line in open(sys.argv[2], encoding='latin-1'):
    line = line.rstrip('\n')
    m = re.match(r' *(\w+)-(\w+) +(\d+) (-|....) +(missing: (.*)|.*)$', line)
    w = line.split()
    if m and m[6]:
        got['missing'].append((m[1], m[2], int(m[3]), m[6]))
    elif m:
        perms = None if m[4] == '-' else m[4]
        got['mappings'].append((m[1], m[2], int(m[3]), perms, len(m[5])))
    elif w and w[0] == 'process':
        got = rows[int(w[1])]
        want.append(got)
    elif w and w[0] == 'file' and w[1].endswith(':'):
        got = {'mappings': [], 'missing': []}
for p in procs:
    for k in ('type', 'file', 'name'):
        del p[k]
    p['mappings'] = [(r['start'], r['end'], r['size'], r['perms'],
                      harmless(r['name'])) for r in p['mappings']]
    p['missing'] = [(r['start'], r['end'], r['size'], r['reason'])
                    for r in p['missing']]
    for k in list(p):
        if k not in want[0]:
            del p[k]
if procs != want:
    for a, b in zip(procs, want):
        print(a, b, sep='\n')
    sys.exit('not the same')
END
try "JSON and -l agree" python3 same.py odd.json odd.list odd.table
cat >names.py <<'END'
import json, os

want = b'a"b\\c\x1b[2J\xc2\x9b\xe2\x80\xae\xc3\xbc\xff\xc0\x80'
procs = [json.loads(line) for line in open('odd.json')]
assert [os.fsencode(p['name']) for p in procs if p.get('pid') == 20] == [want + b'\n']
assert b'/' + want in [
    os.fsencode(r['name']) for p in procs if p.get('pid') == 7
    for r in p['mappings'] if r['name']]
END
try "all bytes of a name are in the JSON" python3 names.py
"$BUILD/snapls" -j x*.snap "$tests/nothing" >two.json 2>err
is "$? $(wc -l <err)" "1 1" "a missing file is an error"
try "the name of the file is in the JSON" python3 -c '
import json, os
for line in open("two.json"):
    assert os.fsencode(json.loads(line)["file"]) == b"x\xff\n.snap"'
is "$("$BUILD/snapls" -no PID,STATE odd.snap | awk '$1 == 7 ||
    $1 > 19 && $1 < 22 { print $2 }' | tr '\n' ' ')" "sleeping disk-sleep Wakeme " \
    "states are named as on their machines"
is "$("$BUILD/snapls" <odd.snap -j | head -n 1 | cut -c 1-33)" \
    '{"type":"snapshot","file":"-","he' "standard input is read"
for o in -jl -jv; do
	"$BUILD/snapls" $o odd.snap >out 2>err
	is "$? $(wc -c <out)" "2 0" "$o is refused"
done
is "$("$BUILD/snapls" -b odd.snap | sed -n 's/^total .*, //p')" \
    "$(head -n 1 odd.json | grep -o '"memory":[0-9]*' | cut -d : -f 2)" \
    "-b: the totals are in bytes"
"$BUILD/snapls" odd.snap >&- 2>err
is "$? $(cat err)" "1 snapls: standard output: Bad file descriptor" \
    "the standard output is closed"
"$BUILD/snapls" -j odd.snap >/dev/full 2>err
is "$?" 1 "a full disk is an error"
if command -v jq >/dev/null; then
	is "$(jq -r 'select(.type == "process") | .pid' odd.json | tr '\n' ' ')" \
	    "7 8 10 20 21 " "jq reads it"
else
	skip "jq reads it" "no jq"
fi
python3 "$tests/snap6/snapasm.py" >top.snap <<'END'
"process snapshot 1 a@b amd64 2 \"c\"\n"
record 7 mem
number 1
segment 0xfffffffffffff000 4096
r a
r b
r c
r d
END
is "$("$BUILD/snapls" -j top.snap | grep -o '"end":"[^"]*"')" \
    '"end":"10000000000000000"' "a segment may end at 2^64"
finish 15
