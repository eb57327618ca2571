# Tests with a real criu, for bash: sourced by tests/criu/*.t instead of
# tests/tap.sh, which it sources.
#
# Such a test runs in a pid namespace of its own, and a mount namespace:
# the process ids of what was dumped stay free for what is restored, and
# nothing that a test starts or mounts outlives it, whatever ends it.
#
#	start PROGRAM ARG ...	a target: $program, $pid, and its log in $log
#	dump PID DIR [ARG ...]	checkpoint a process and those below it
#	restore DIR		$pid goes on
#	images DIR SNAP		snapload, images to snapshot
#	load SNAP DIR [ARG ...]	snapload, from a pipe to images
#	counts_on WHAT N	what is in $log grew to more than N lines, and
#				nobody was wrong in it or lost count
#
# With $criu a test runs criu itself.
# shellcheck shell=bash

[ "$(id -u)" -eq 0 ] || {
	echo '1..0 # SKIP criu needs root'
	exit 0
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -n "${TAP_BOUNDED-}" ] && [ -z "${CRIU_APART-}" ]; then
	export CRIU_APART=1
	exec unshare --fork --pid --mount --mount-proc --kill-child bash "$0"
fi
# shellcheck source=tests/tap.sh
. "$here/../tap.sh"
unset CRIU_APART

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

criu=$BUILD/criu/criu
mkdir -p "$BUILD/criu"
why=$(flock "$BUILD/criu" timeout 120 "$here/get" "$BUILD/criu" 2>&1) ||
    skip_all "${why:-no criu}"
# what criu found out about the kernel is for this test alone
mount -t tmpfs none /run || skip_all 'may not mount'
why=$("$criu" check 2>&1) ||
    skip_all "criu check: $(tail -n 1 <<<"$why" | sed 's/.*: //')"

# what programs and criu are run with: in a network namespace, perhaps
in=(env)

start() {
	serial=$((serial + 1))
	log=$tmp/log.$serial
	case $1 in
	/*) program=$1 ;;
	*) program=$targets/$1 ;;
	esac
	shift
	"${in[@]}" "$program" "$log" "$@" </dev/null >/dev/null 2>&1 &
	pid=$!
	disown "$pid"
	until_true longer 10 || {
		echo "Bail out! $program does not start"
		exit 1
	}
}

lines() {
	wc -l <"$log"
}

longer() {
	[ "$(lines)" -gt "$1" ]
}

dump() {
	local of=$1 dir=$2

	shift 2
	mkdir -p "$dir"
	timeout 60 "${in[@]}" "$criu" dump -t "$of" -D "$dir" \
	    -o "$tmp/criu.log" "$@" >"$tmp/criu.out" 2>&1
	ok $? "dump to ${dir##*/}" || tail -n 5 "$tmp/criu.log" | diag
	[[ " $* " == *" --leave-running "* ]] || until_true gone "$of"
}

restore() {
	mkdir -p "$tmp/work"
	timeout 60 "${in[@]}" "$criu" restore -d -D "$1" -W "$tmp/work" \
	    -o "$tmp/criu.log" >"$tmp/criu.out" 2>&1
	ok $? "restore from ${1##*/}" || {
		cat "$tmp/criu.out"
		grep Error "$tmp/criu.log" || tail -n 5 "$tmp/criu.log"
	} | diag
}

images() {
	try "images to snapshot: ${1##*/}" \
	    timeout 60 "$BUILD/snapload" -u -D "$1" -o "$2"
}

# shellcheck disable=SC2002 # a pipe is what we want
load() {
	local from=$1 dir=$2

	shift 2
	cat "$from" | timeout 60 "$BUILD/snapload" "$@" -D "$dir" \
	    >"$tmp/try" 2>&1
	ok $? "snapshot to images: ${dir##*/}" || diag <"$tmp/try"
}

counts_on() {
	until_true longer "$(($2 + 20))"
	ok $? "$1: goes on" || tail -n 3 "$log" | diag
	awk '$3 != 0 { print "wrong: " $0; bad = 1 }
	    $1 != "zombie" && $2 != ++last[$1] { print "lost count: " $0
		last[$1] = $2; bad = 1 }
	    END { exit bad }' "$log" >"$tmp/wrong"
	ok $? "$1: counts on, its memory as it was" || head -n 5 "$tmp/wrong" |
	    diag
}

# same_images DIR DIR: all but pagemap and pages are the same, and there is
# no other.
same_images() {
	diff <(names "$1") <(names "$2") && (cd "$1" &&
	    for f in *.img; do
		case $f in
		pages-* | pagemap-*) ;;
		*) cmp "$f" "$2/$f" || exit 1 ;;
		esac
	done)
}

# All images; the numbers of pages images are the writer's own choice.
names() {
	(cd "$1" && printf '%s\n' *.img | grep -v '^pages-')
}

# End what was restored or left running, and those below it.
end() {
	pkill -KILL -s "$pid"
	until_true gone_session "$pid"
}

gone_session() {
	! pgrep -s "$1" -r R,S,D,T >/dev/null
}
