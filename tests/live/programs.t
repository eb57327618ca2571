#!/usr/bin/env bash
# Real programs work on after snapshots, which keep the rules of the format.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# program WHAT COMMAND ...: run one that prints "ready" and answers a line
program() {
	local what=$1 i bad=0

	shift
	if ! command -v "$1" >/dev/null; then
		skip "$what" "no $1" 5
		return
	fi
	target "$@"
	for ((i = 0; i < 5; i++)); do
		snap -r -o "$tmp/snap" "$pid"
		bad=$((bad + (rc != 0)))
	done
	is "$bad $err" "0 " "$what: taken"
	try "$what: valid" python3 "$tests/snap6/oracle.py" -c "$tmp/snap"
	"$BUILD/snapls" -lv "$tmp/snap" >"$tmp/list"
	ok $? "$what: snapls lists it"
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: works on"
}

program python python3 -c '
import sys, threading, time
data = list(range(100000))
def work():
    while True:
        sum(data)
        time.sleep(0.01)
threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
print("report changed", int(sum(data) != 4999950000))
'
program node node -e '
let n = 0; setInterval(() => n++, 10);
const m = new Map(); for (let i = 0; i < 1e5; i++) m.set(i, "x" + i);
console.log("ready");
process.stdin.once("data", () => {
	console.log("report halted", n > 0 && m.get(5) === "x5" ? 0 : 1);
	process.exit(0);
});
'
# shellcheck disable=SC2016 # Perl's variables
program perl perl -e '
$| = 1; $SIG{ALRM} = sub { $n++; alarm 1 }; alarm 1;
print "ready\n"; until (defined($x = <STDIN>)) {}
print "report error ", ($x eq "q\n" ? 0 : 1), "\n";
'
cat >"$tmp/pipeline" <<'EOF'
exec 3<&0
seq 1 1000000000 | sed 's/1/one/' | (trap 'exit 0' TERM; cat >/dev/null) &
echo ready
read -r x <&3
kill -0 $! && echo report dead 0
kill $(ps -o pid= --ppid $$ | grep -v "^ *$BASHPID$") 2>/dev/null
exit 0
EOF
program "a pipeline" bash "$tmp/pipeline"

sleep 1000 &
pid=$!
snap -v -o "$tmp/snap" "$pid"
is "$rc" 0 "sleep: taken"
grep -q "^snap: processes: 1, threads: 1, files: [1-9][0-9]*; memory raw: [1-9]" "$tmp/err"
ok $? "-v prints what was captured"
let_go "$pid" "sleep: released"

# A huge environment.
BIG=$(head -c 100000 /dev/zero | tr '\0' x) target "$targets/fds"
snap -o "$tmp/snap" "$pid"
is "$rc" 0 "a huge environment: taken"
grep -aq 'BIG=xxxxxxxxxx' "$tmp/snap"
ok $? "a huge environment: in the snapshot"
unnoticed "$pid" "many descriptors: not noticed"
finish 26
