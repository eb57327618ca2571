# Functions of the benches, which source this file.  $build has the programs,
# $dir is for files, $ram for files in memory; both are removed at the end, and
# all that begin() started is killed.  A command that fails, or takes longer
# than PATIENCE seconds, is reported on standard error, and has "-" in its row.
# shellcheck shell=sh disable=SC2034,SC2154 # for those that source it

set -u
# started processes do not outlive this, and criu leaves nothing in /run
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

# bound CMD...: run a program, with a time limit
bound() {
	timeout -k 5 "${PATIENCE:-120}" "$@"
}

# bound_of CMD: print "bound" if CMD is a program; functions bound what they run
bound_of() {
	case $(command -v "$1") in
	*/*) echo bound ;;
	esac
}

# failed STATUS CMD...: report it, with the last line in $dir/out
failed() {
	why="exit status $1"
	case $1 in
	124 | 137) why='given up, or killed' ;;
	esac
	shift
	echo "bench: $*: $why: $(tail -n 1 "$dir/out" | tr -cd '[:print:]')" |
	    cut -c 1-200 >&2
}

# best N CMD...: print the shortest of N runs, in milliseconds; "-" if it fails.
# $before is run before each.
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

# least N CMD...: print the least number that N runs print; "-" if one fails
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

# row WHAT NUMBER NUMBER [REMARK]: print a line; a long remark is below it
row() {
	set -- "$1" "${2:--}" "${3:--}" "${4-}"
	if [ "${#4}" -le 32 ]; then
		printf '%-44s %9s %12s  %s\n' "$@" | sed 's/ *$//'
	else
		printf '%-44s %9s %12s\n' "$1" "$2" "$3"
		echo "$4" | fold -s -w 76 | sed 's/^/    /;s/ *$//'
	fi
}

# heap ARG...: start a heap; its process IDs are in $ids
heap() {
	begin heap "$@" || exit 1
}

# alive: the process that began last has not ended
alive() {
	grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$heap/status"
}

# begin PROGRAM ARG...: start it; false if it does not start in a minute
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

# asked SIGNAL FILE: print the line that the last process adds to FILE for it
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

# gap CMD...: run CMD; print how long the last process did not run meanwhile
gap() {
	asked USR1 "$dir/gaps" >/dev/null || return 1
	case $(command -v "$1") in
	*/*) bound "$@" >"$dir/out" 2>&1 || return ;;
	*) "$@" >"$dir/out" 2>&1 || return ;;
	esac
	asked USR1 "$dir/gaps"
}

# end: kill the last process
end() {
	kill -9 "$heap" 2>/dev/null
	wait "$heap" 2>/dev/null
}

size() {
	du -sb "$1" 2>/dev/null | cut -f1
}

# peak CMD...: print its peak memory, in KB
peak() {
	python3 -c '
import resource, subprocess, sys
rc = subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode
print("-" if rc else resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
	    timeout -k 5 "${PATIENCE:-120}" "$@"
}

# backtrace FILE: run snapstack on FILE; $dir/io has the counts of its reads
backtrace() {
	# a shell: its counts include those of its children
	# shellcheck disable=SC2016 # for that shell
	bound sh -c '"$1" "$2" >"$3"; cat /proc/$$/io >"$4"' sh \
	    "$build/snapstack" "$1" "$dir/told" "$dir/io" &&
	    grep -q '#0 ' "$dir/told"
}

# was_read: print how many bytes were read, from $dir/io
was_read() {
	awk '$1 == "rchar:" { print $2 }' "$dir/io"
}

# dump DIR: have criu dump the last process, which runs on
dump() {
	mkdir "$1" && bound "$criu" dump -t "$heap" -D "$1" -o "$dir/log" \
	    --leave-running
}

# frozen FILE: print freezing_time and frozen_time of a stats-dump of criu
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

# tests/criu/get gets criu
criu=$build/criu/criu
[ "$(id -u)" -eq 0 ] && why=$(tests/criu/get "$build/criu" 2>&1) &&
    why=$(bound "$criu" check 2>&1) || criu=
