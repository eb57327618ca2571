#!/usr/bin/env bash
# maps and smaps in a record are of one instant and have the same mappings,
# although mappings change until the stop; smaps has their flags.
# beside: live unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# grows MAPPINGS COUNT: with MAPPINGS other mappings, take COUNT snapshots
grows() {
	target "$targets/growing" "$1"
	stack=$(awk '/^stack/ { print $2 }' "$lines")
	joins=$(awk '/^joins/ { print $2 }' "$lines")
	for how in -l -s; do
		what="snap $how, $1 mappings more"
		for ((i = 1; i <= $2; i++)); do
			snap $how -o "$tmp/snap.$i" "$pid"
			[ "$rc $err" = '0 ' ] || echo "not taken: $err"
		done >"$tmp/said"
		is "$(cat "$tmp/said")" '' "$what: taken $2 times"
		try "$what: smaps has the mappings and flags" \
		    python3 - "$tests/live" "$tmp" "$pid" "$stack" "$joins" "$2" <<'EOF'
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import check

tmp, pid = sys.argv[2], int(sys.argv[3])
stack, joins = (int(w, 16) for w in sys.argv[4:6])
HEAD = re.compile(rb'^[0-9a-f]+-[0-9a-f]+ .*\n', re.M)
sizes = set()
for i in range(1, int(sys.argv[6]) + 1):
    record = check.record(check.load('%s/snap.%d' % (tmp, i)), pid)
    heads = HEAD.findall(record['smaps'])
    assert b''.join(heads) == record['maps'], heads
    for head, body in zip(heads, HEAD.split(record['smaps'])[1:]):
        start, end = (int(w, 16) for w in head.split()[0].split(b'-'))
        assert int(body.split()[1]) * 1024 == end - start, body
        flags = body.split(b'VmFlags:')[1].split()
        assert (b'gd' in flags) == (end == stack or b'[stack]' in head), head
        if start == joins:
            assert (b'dd' in flags) == (end == joins + 4096), (head, flags)
        if end == stack:
            sizes.add(end - start)
assert len(sizes) > 1, 'it did not grow'
EOF
	done
}
grows 0 8
# smaps of 20,000 mappings is too long to be kept in memory
grows 20000 2

# Memory is under userfaultfd(2) at times.  Then snap makes no clone: the
# monitor, which is stopped, would have to agree.
target "$targets/monitored"
if grep -q lacks "$lines"; then
	skip "under userfaultfd at times" "not for this user" 2
else
	for ((i = 0; i < 24; i++)); do
		snap -o "$tmp/snap" "$pid"
		echo "$rc $err"
	done >"$tmp/said"
	is "$(grep -vx '0 ' "$tmp/said" | sort -u)" "0 snap: process N cannot \
be cloned: its memory is managed by userfaultfd(N): all processes stay stopped until \
everything is written" "under userfaultfd at times: no clone then"
	is "$(wc -l <"$tmp/said")" 24 "under userfaultfd at times: all end"
fi
finish 10
