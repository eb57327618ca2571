#!/usr/bin/env bash
# A process does not notice snapshots: no system call is interrupted, no timeout
# is delayed, no memory is added, and a stopped process stays stopped.
# beside: apart long unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/blocked"
sed -n 's/^lacks/# lacks/p' "$lines"
bad=0
n=$(often 12)
for ((i = 0; i < n; i++)); do
	snap -r -o "$tmp/snap" "$pid"
	bad=$((bad + (rc != 0)))
done
is "$bad" 0 "blocked: $n snapshots taken"
let_go "$pid" "blocked: released"
unnoticed "$pid" "blocked: no call was interrupted"

# If another process cannot be captured, the others do not notice either.
target "$targets/blocked"
for ((i = 0; i < n; i++)); do
	snap -o "$tmp/snap2" "$pid" 2147483647
done
is "$rc $err" "1 snap: no such process: N" "blocked: another is missing"
if is_root; then
	held=$pid
	sleep 1000 &
	foreign=$!
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	cp "$BUILD/snap" "$tmp/pub/snap"
	target "$targets/blocked"
	for ((i = 0; i < n; i++)); do
		snap=$tmp/pub/snap snap -o "$tmp/pub/snap2" "$pid" "$foreign"
	done
	as=(env)
	is "$rc $err" "1 snap: process N belongs to root: run as root, or as that user: left out" \
	    "blocked: another is refused"
	let_go "$pid" "blocked: let go after that"
	unnoticed "$pid" "blocked: no call was interrupted by a refusal"
	pid=$held
else
	skip "blocked: another is refused" "needs root" 3
fi
unnoticed "$pid" "blocked: no call was interrupted by a missing one"

# Timeouts end although snapshots are taken more often.
target "$targets/expire"
reported() {
	[ "$(grep -c '^report' "$lines")" -ge "$1" ]
}
counts() {
	local n

	n=$(grep -c '^report' "$lines")
	printf c >&"${ask_fd[$pid]}"
	until_true reported $((n + 6))
	sed -n 's/^report //p' "$lines" | tail -6
}
counts >"$tmp/before"
n=$(often 50)
for ((i = 0; i < n; i++)); do
	"$BUILD/snap" -r -o /dev/null "$pid"
done
counts >"$tmp/after"
while read -r name n; do
	was=$(sed -n "s/^$name //p" "$tmp/before")
	# the sleeps of counts() explain at most seven
	case $name in
	nanosleep | poll)
		ok $((n - was < 9)) "time-outs run on: $name" ||
		    echo "# $was, then $n" ;;
	esac
done <"$tmp/after"
echo q >&"${ask_fd[$pid]}"

# Children that end while threads of their parent are seized and released wake
# none of these threads: SIGCHLD is ignored.
for how in "" -l; do
	target "$targets/children"
	bad=0
	n=$(often 16)
	for ((i = 0; i < n; i++)); do
		"$BUILD/snap" ${how:+"$how"} -o /dev/null "$pid" 2>"$tmp/err" ||
		    bad=$((bad + 1))
	done
	is "$bad" 0 "children end${how:+ ($how)}: $n snapshots" ||
	    diag <"$tmp/err"
	unnoticed "$pid" "children end${how:+ ($how)}: no wait fails"
	sed -n 's/^waits/# waits/p' "$lines"
done

for what in anon shared fds leader bits32; do
	if [ ! -x "$targets/$what" ]; then
		skip "$what" "not built" 3
		continue
	fi
	target "$targets/$what"
	# the first snapshot may still change the counts
	snap -r -o "$tmp/snap" "$pid"
	resident "$pid" >"$tmp/before"
	for ((i = 0; i < 8; i++)); do
		snap -o "$tmp/snap" "$pid"
	done
	resident "$pid" >"$tmp/after"
	try "$what: resident set is unchanged" diff "$tmp/before" "$tmp/after"
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: not noticed after 8 snapshots"
done

# The very first snapshot adds nothing either.
target "$targets/filemap" "$tmp/data"
sync "$tmp/data"	# or the kernel writes dirty pages at any time
resident "$pid" >"$tmp/before"
snap -ar -o "$tmp/snap" "$pid"
resident "$pid" >"$tmp/after"
try "data file: resident set is unchanged" diff "$tmp/before" "$tmp/after"

target "$targets/watch"
child=$(sed -n 's/^child //p' "$lines")
for ((i = 0; i < 8; i++)); do
	snap -r -o "$tmp/snap" "$child" "$pid"
done
is "$rc $err" "0 " "stopped: taken"
is "$(states "$child")" " 0 T " "stopped: stays stopped"
"$BUILD/snapls" -no STATE -p "$child" "$tmp/snap" \
    >"$tmp/state"
is "$(cat "$tmp/state")" stopped "stopped: listed as stopped"
unnoticed "$pid" "stopped: not noticed by its parent, and it runs on"

# A signal that arrives while the process is stopped is delivered afterwards.
cat >"$tmp/sig.sh" <<'EOF'
n=0
trap 'n=$((n + 1))' USR1
echo ready
until read -r x; do :; done
echo "report lost $((n != 20))"
EOF
target bash "$tmp/sig.sh"
for ((i = 0; i < 20; i++)); do
	"$BUILD/snap" -r -o "$tmp/snap" "$pid" &
	kill -USR1 "$pid"
	wait $!
done
unnoticed "$pid" "signals: each is delivered once"
finish 35
