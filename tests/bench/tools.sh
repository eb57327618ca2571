# What the benches share: sourced by tests/bench/run, pauses and drift.
# $build has the programs, $dir is for files, $ram the same in memory; both go
# at the end, and all that begin has started.  What fails, or takes longer than
# PATIENCE seconds, is told on standard error, and has "-" in its row.
# shellcheck shell=sh disable=SC2034,SC2154 # for those that source it

set -u
# what is started does not outlive this, and criu keeps nothing in /run
if [ "$(id -u)" -eq 0 ] && [ -z "${BENCH_APART-}" ]; then
	BENCH_APART=1 exec unshare --fork --pid --mount --ipc \
	    --mount-proc --kill-child "$0" "$@"
fi
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
snap=$build/snap
dir=$(mktemp -d) || exit 1
ram=$dir/ram
mkdir "$ram"
pids=
finally=:
finish() {
	# shellcheck disable=SC2086 # a list
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
	$finally
	umount "$ram" 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
if [ -n "${BENCH_APART-}" ]; then
	[ "$BENCH_APART" = 2 ] || mount -t tmpfs none /run
	export BENCH_APART=2
	mount -t tmpfs none "$ram"
fi

# bound CMD...: with an end; CMD is a program
bound() {
	timeout -k 5 "${PATIENCE:-120}" "$@"
}

# bound_of CMD: what runs CMD with an end; functions bound what they run
bound_of() {
	case $(command -v "$1") in
	*/*) echo bound ;;
	esac
}

# failed STATUS CMD...: tell so, with the last that it said to $dir/out
failed() {
	why="exit status $1"
	case $1 in
	124 | 137) why='given up, or killed' ;;
	esac
	shift
	echo "bench: $*: $why: $(tail -n 1 "$dir/out" | tr -cd '[:print:]')" |
	    cut -c 1-200 >&2
}

# best N CMD...: the shortest of N runs, in milliseconds; "-" if it fails.
# What is in $before is run before each.
before=
best() {
	n=$1
	least=-
	shift
	with=$(bound_of "$1")
	while [ "$n" -gt 0 ]; do
		${before:-:}
		start=$(date +%s%N)
		$with "$@" >"$dir/out" 2>&1 ||
		    { failed $? "$@"; least=-; break; }
		t=$((($(date +%s%N) - start) / 1000000))
		if [ "$least" = - ] || [ $t -lt "$least" ]; then least=$t; fi
		n=$((n - 1))
	done
	echo "$least"
}

# least N CMD...: the least of the numbers that N runs print; "-" if one fails
least() {
	n=$1
	least=-
	shift
	with=$(bound_of "$1")
	while [ "$n" -gt 0 ]; do
		t=$($with "$@" 2>"$dir/out") || { failed $? "$@"; t=; }
		case $t in
		'' | *[!0-9]*) least=-; break ;;
		esac
		if [ "$least" = - ] || [ "$t" -lt "$least" ]; then least=$t; fi
		n=$((n - 1))
	done
	echo "$least"
}

ratio() {
	case "$1$2" in
	*-*) echo - ;;
	*) awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / (b ? b : 1) }' ;;
	esac
}

# row WHAT NUMBER NUMBER [REMARK]: a line; a remark that is long is below it
row() {
	set -- "$1" "${2:--}" "${3:--}" "${4-}"
	if [ "${#4}" -le 32 ]; then
		printf '%-44s %9s %12s  %s\n' "$@" | sed 's/ *$//'
	else
		printf '%-44s %9s %12s\n' "$1" "$2" "$3"
		echo "$4" | fold -s -w 76 | sed 's/^/    /;s/ *$//'
	fi
}

# heap ARG...: start one; its process ids are in $ids
heap() {
	begin heap "$@" || exit 1
}

# alive: what began last has not ended
alive() {
	grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$heap/status"
}

# begin PROGRAM ARG...: likewise; false if it does not start in a minute
begin() {
	program=$1
	shift
	: >"$dir/pids"
	setsid "$build/tests/bench/$program" "$@" >>"$dir/pids" \
	    2>"$dir/out" &
	pids="$pids $!"
	heap=$!
	i=0
	# a line is whole when it ends
	while [ "$(wc -l <"$dir/pids")" -eq 0 ]; do
		i=$((i + 1))
		if [ $i -gt 300 ] || ! alive; then
			failed 'none, but no process' "$program" "$@"
			kill -9 "$heap" 2>/dev/null
			return 1
		fi
		sleep 0.2
	done
	ids=$(sed 's/^0 //' "$dir/pids")
	sleep 0.5
}

# asked SIGNAL FILE: the line that what began last adds to FILE for it
asked() {
	told=$(wc -l <"$2")
	kill -"$1" "$heap" || return 1
	i=0
	while [ "$(wc -l <"$2")" -eq "$told" ]; do
		i=$((i + 1))
		if [ $i -gt 600 ] || ! alive; then
			echo "$program does not answer to SIG$1" >"$dir/out"
			return 1
		fi
		sleep 0.05
	done
	tail -n 1 "$2"
}

# gap CMD...: for how long it did not run meanwhile
gap() {
	asked USR1 "$dir/gaps" >/dev/null || return 1
	case $(command -v "$1") in
	*/*) bound "$@" >"$dir/out" 2>&1 || return ;;
	*) "$@" >"$dir/out" 2>&1 || return ;;
	esac
	asked USR1 "$dir/gaps"
}

# end what began last
end() {
	kill -9 "$heap" 2>/dev/null
	wait "$heap" 2>/dev/null
}

size() {
	du -sb "$1" 2>/dev/null | cut -f1
}

# peak CMD...: the most memory that it has, in KB
peak() {
	python3 -c '
import resource, subprocess, sys
rc = subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode
print("-" if rc else resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
	    timeout -k 5 "${PATIENCE:-120}" "$@"
}

# backtrace FILE: of that snapshot, by snapstack; what the kernel tells of its
# reads is left in $dir/io
backtrace() {
	# a shell, as what it waited for is counted as its own
	# shellcheck disable=SC2016 # for that shell
	bound sh -c '"$1" "$2" >"$3"; cat /proc/$$/io >"$4"' sh \
	    "$build/snapstack" "$1" "$dir/told" "$dir/io" &&
	    grep -q '#0 ' "$dir/told"
}

# was_read: how many bytes, as $dir/io tells
was_read() {
	awk '$1 == "rchar:" { print $2 }' "$dir/io"
}

# dump DIR: the images of what heap started last, which goes on
dump() {
	mkdir "$1" && bound "$criu" dump -t "$heap" -D "$1" -o "$dir/log" \
	    --leave-running
}

# The times of a stats-dump of criu: freezing_time and frozen_time
frozen() {
	python3 -c '
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "tests/criu")
import imgread
stats = dict(imgread.wire(open(sys.argv[1], "rb").read()[12:]))
times = dict(imgread.wire(stats[1]))
print(times[1] + times[2])' "$1" 2>"$dir/out" || echo -
}

# how criu is had is told by tests/criu/get
criu=$build/criu/criu
[ "$(id -u)" -eq 0 ] && why=$(tests/criu/get "$build/criu" 2>&1) &&
    why=$(bound "$criu" check 2>&1) || criu=
