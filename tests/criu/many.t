#!/usr/bin/env bash
# snapload needs more files, but hardly more memory, for more processes: a file
# of each stays open.  The images are made by hand.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# few CMD ...: run with a soft limit of 40 descriptors
few() {
	(
		ulimit -Sn 40
		timeout 60 "$@" >"$tmp/out"
	) 2>"$tmp/err"
	rc=$?
	err=$(cat "$tmp/err")
}

# peak CMD ...: print the peak memory in KB, at least that of python3
peak() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], timeout=60, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

# small A B: the peaks differ by at most 64 KB for each of 70 processes
small() {
	[ $(($2 - $1)) -le $((70 * 64)) ] && return
	echo "# $1 KB, $2 KB"
	false
}

python3 "$tests/criu/many.py" "$tmp/few" 10 384 &&
    python3 "$tests/criu/many.py" "$tmp/many" 80 384 || exit 1
few "$BUILD/snapload" -u -D "$tmp/many" -o "$tmp/snap"
is "$rc $err" "0 " "images of more processes than descriptors: a snapshot"
few "$BUILD/snapload" -D "$tmp/new" "$tmp/snap"
is "$rc $err" "0 " "images from the snapshot"
try "the images are the same" \
    python3 "$tests/criu/criuasm.py" same "$tmp/many" "$tmp/new"
few "$BUILD/snapload" -D "$tmp/piped" < <(cat "$tmp/snap")
is "$rc $err" "0 " "images from a pipe"
try "the images from a pipe are the same" \
    python3 "$tests/criu/criuasm.py" same "$tmp/many" "$tmp/piped"
few "$BUILD/snapls" -l "$tmp/many"
is "$rc $err $(grep -c '^process ' "$tmp/out")" "0  80" "snapls lists them"
few "$BUILD/snapgrep" -q . "$tmp/many"
is "$rc $err" "0 " "snapgrep searches them"
few "$BUILD/snapdiff" "$tmp/many" "$tmp/new"
is "$rc $err" "0 " "snapdiff compares them"

if nm -D "$BUILD/snapload" 2>/dev/null | grep -q __asan_init; then
	skip "memory" "sanitizers need much memory" 2
else
	"$BUILD/snapload" -u -D "$tmp/few" -o "$tmp/fewsnap"
	a=$(peak "$BUILD/snapload" -D "$tmp/a" "$tmp/fewsnap")
	b=$(peak "$BUILD/snapload" -D "$tmp/b" "$tmp/snap")
	small "$a" "$b"
	ok $? "memory: at most 64 KB more for a process"
	a=$(peak "$BUILD/snapload" -D "$tmp/c" < <(cat "$tmp/fewsnap"))
	b=$(peak "$BUILD/snapload" -D "$tmp/d" < <(cat "$tmp/snap"))
	small "$a" "$b"
	ok $? "memory: the same from a pipe"
fi
finish 10
