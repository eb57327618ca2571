#!/usr/bin/env bash
# A record has the packets queued in UNIX sockets, or says why not; all stay.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	skip "queues" "only root may queue thousands of packets"
	finish 1
fi

# told.py prints for each socket its name, its queue, why that is missing, the
# types of passed files, and the senders.
cat >"$tmp/told.py" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import check
record = check.record(check.load(sys.argv[2]), int(sys.argv[3]))
why = {}
passed = {}
held = {}
kind = {}
for name, data in record.items():
    lines = [line.split(' ', 1) for line in data.decode(errors='replace')
        .splitlines() if ' ' in line] if name.startswith('file/') else []
    keys = dict(lines)
    if not keys:
        continue
    kind[name[5:]] = keys['type']
    passed[name[5:]] = [line[1].split() for line in lines
        if line[0] == 'passed']
    if keys['type'] == 'unix':
        why[keys['ino']] = keys.get('why', '')
        held[keys['ino']] = (name[5:], [line[1] for line in lines
            if line[0] == 'sender'])

def types(file):
    return ['%s:%s%s' % (n, kind[to], types(to) or '')
        for n, to in passed[file]]
for line in open(sys.argv[4]):
    if line.startswith('socket '):
        name, ino = line.split()[1:]
        data = record.get('socket/' + ino, b'').decode()
        file, senders = held[ino]
        print(name, repr(data[:64]), why[ino] + ' '.join(types(file) +
            [s.replace(sys.argv[3], 'PID') for s in senders]))
EOF

told() {
	is "$rc $err" "0 " "$1: taken"
	is "$(python3 "$tmp/told.py" "$tests/live" "$tmp/snap" "$pid" \
	    "$lines")" "ended '3\none0\n3\ntwo' 
over '' 
first '0\n3\ntwo' 
long '' cannot read its queue: limit reached after 1024 packets with 1024 bytes
broken '' cannot read its queue: an error is pending, and reading would clear it
rights '5\nplain1\nr3\nend' 1:chr 1:dir
nested '1\nr' 0:unix 0:unix['0:pipe', '0:pipe']
sent '6\nbefore3\none3\ntwo' 0 65534 65534 0 1 0 0 PID
lone '' 
listener '' " "$1: the queues, or why they are missing"
}

target "$targets/queues"
snap -r -o "$tmp/snap" "$pid"
told "queues"
"$BUILD/snapload" -D "$tmp/images" "$tmp/snap" 2>&1 |
    sed -n "s/.*, descriptor [0-9]*: \(.*\): cannot be restored (-f unix leaves it out)/\1/p" |
    grep -v '^a pipe' | sort >"$tmp/refused"
is "$(cat "$tmp/refused")" \
    "a socket whose other end cannot be restored
cannot read its queue: an error is pending, and reading would clear it
cannot read its queue: limit reached after 1024 packets with 1024 bytes" \
    "each socket that cannot be restored is refused, and no other"
unnoticed "$pid" "all packets are still queued"

target "$targets/queues"
snap -l -o "$tmp/snap" "$pid"
told "with clones"
unnoticed "$pid" "with clones: all packets are still queued"
finish 7
