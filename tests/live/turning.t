#!/usr/bin/env bash
# State that snap reads from a clone, when the process runs again, is of the
# stop.  Many processes are cloned and reaped without a message.
# beside: live long
# shellcheck source=tests/tap.sh disable=SC2154 # lines, of tap.sh
. "$(dirname "$0")/../tap.sh"

# Do records have the numbers that memory has?
cat >"$tmp/agree.py" <<'EOF'
import struct, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import check
pid = int(sys.argv[2])
with open(sys.argv[3]) as file:
    at, base = (int(w, 16) for w in file.readline().split()[1:])
for name in sys.argv[4:]:
    snap = check.load(name)
    to, had = struct.unpack('<2Q', snap.memory(pid, at, 16))
    rec = check.record(snap, pid)
    now = [int(l.split()[1], 16) for l in rec['sigaction'].splitlines()
           if l.split()[0] == b'10'][0]
    end = int(rec['brk'], 16) - base
    if now not in (had, to):
        sys.exit('%s: action %d, memory %d and %d' % (name, now, had, to))
    if end not in (had % 256, to % 256):
        sys.exit('%s: break %d, memory %d and %d' % (name, end, had % 256,
            to % 256))
EOF
target "$targets/turning"
for how in "" -s; do
	for ((i = 0; i < 10; i++)); do
		"$BUILD/snap" ${how:+"$how"} -o "$tmp/snap$how.$i" "$pid" \
		    2>"$tmp/err" || break
	done
	is "$i $(<"$tmp/err")" "10 " "taken${how:+ ($how)}"
done
unnoticed "$pid" "turning: not noticed"
try "as in memory" python3 "$tmp/agree.py" "$tests/live" "$pid" "$lines" \
    "$tmp/snap".* "$tmp/snap-s".*
rm "$tmp/snap".* "$tmp/snap-s".*

# Processes of one program, so that they have the same files.
cat >"$tmp/crowd.py" <<'EOF'
import ctypes, os, signal, sys
children = []
for i in range(120):
    children.append(os.fork())
    if children[-1] == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        while True:
            signal.pause()
print('ready', flush=True)
sys.stdin.read(1)
zombies = sum(open('/proc/%s/stat' % p).read().rsplit(')')[1].split()[0] == 'Z'
    for p in open('/proc/self/task/%d/children' % os.getpid()).read().split())
print('report zombies', zombies)
for p in children:
    os.kill(p, signal.SIGKILL)
EOF
target python3 "$tmp/crowd.py"
for i in 1 2 3; do
	snap -r -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "121 processes: taken ($i)"
done
is "$("$BUILD/snapls" -j "$tmp/snap" | grep -c '"type": *"process"')" 121 \
    "121 processes: all are in it"
unnoticed "$pid" "121 processes: no clone is left"
finish 9
