#!/usr/bin/env bash
# What waits in UNIX sockets is in the record, or it is said why it is not;
# all of it still waits afterwards.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	skip "queues" "only root may have thousands of packets wait"
	finish 1
fi

# A line for each socket: its name, what waits, and why not.
cat >"$tmp/told.py" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import check
record = check.record(check.load(sys.argv[2]), int(sys.argv[3]))
why = {}
for name, data in record.items():
    lines = [line.split(' ', 1) for line in data.decode(errors='replace')
        .splitlines() if ' ' in line] if name.startswith('file/') else []
    keys = dict(lines)
    if keys.get('type') == 'unix':
        why[keys['ino']] = keys.get('why', '')
for line in open(sys.argv[4]):
    if line.startswith('socket '):
        name, ino = line.split()[1:]
        data = record.get('socket/' + ino, b'').decode()
        print(name, repr(data[:64]), why[ino])
EOF

told() {
	is "$rc $err" "0 " "$1: taken"
	is "$(python3 "$tmp/told.py" "$tests/live" "$tmp/snap" "$pid" \
	    "$lines")" "ended '3\none0\n3\ntwo' 
over '' 
first '0\n3\ntwo' 
long '' what waits in it cannot be had: more than 1024 packets, 1024 bytes
broken '' what waits in it cannot be had: an error comes first, which is told but once
rights '' 2 descriptors wait in it (SCM_RIGHTS)
lone '' 
listener '' " "$1: what waits, or why it is not told"
}

target "$targets/queues"
snap -o "$tmp/snap" "$pid"
told "queues"
"$BUILD/snapload" -D "$tmp/images" "$tmp/snap" 2>&1 |
    sed -n "s/.*, descriptor [0-9]*: \(.*\): cannot be restored (-f unix leaves it out)/\1/p" |
    grep -v '^a pipe' | sort >"$tmp/refused"
is "$(cat "$tmp/refused")" \
    "2 descriptors wait in it (SCM_RIGHTS)
a socket whose other end cannot be restored
a socket whose other end cannot be restored
what waits in it cannot be had: an error comes first, which is told but once
what waits in it cannot be had: more than 1024 packets, 1024 bytes" \
    "each that cannot be restored is refused, and no other"
unnoticed "$pid" "all that waited still waits"

target "$targets/queues"
snap -l -o "$tmp/snap" "$pid"
told "with clones"
unnoticed "$pid" "with clones, all that waited still waits"
finish 7
