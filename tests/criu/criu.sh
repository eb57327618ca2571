# Tests with a real criu, for bash: sourced by tests/criu/*.t instead of
# tests/tap.sh, which it sources.
#
# Such a test runs in a pid namespace of its own, and mount and IPC namespaces:
# the process ids of what was dumped stay free for what is restored, and
# nothing that a test starts or mounts outlives it, whatever ends it.
#
#	start PROGRAM ARG ...	a target: $program, $pid, and its log in $log
#	may_dump		whether criu dumps anything on this kernel; why
#				not is $undumped
#	dump PID DIR [ARG ...]	checkpoint a process and those below it
#	restore DIR [ARG ...]	$pid goes on
#	images DIR SNAP		snapload, images to snapshot
#	load SNAP DIR [ARG ...]	snapload, from a pipe to images
#	counts_on WHAT N	what is in $log grew to more than N lines, and
#				nobody was wrong in it or lost count
#
# And of a target that runs on, for the checkpoint is snap's:
#
#	take DIR [ARG ...]	snap of $pid with these options, to images by
#				snapload with those in $loads; restore does
#				what the command says then
#	rest			have $pid, if it is made for that, do nothing
#				until $log.rest is removed
#	take_resting ...	take, while it rests
#	end_taken		end $pid and those below it, begin a new log
#	end_init PID		end the init $pid, and PID, likewise
#	goes_on WHAT		all that counted before count on in the new log,
#				from where they were when it was taken
#
# With $criu a test runs criu itself; criu_from VERSION tells whether it is of
# that one or later.
# shellcheck shell=bash

[ "$(id -u)" -eq 0 ] || {
	echo '1..0 # SKIP criu needs root'
	exit 0
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -n "${TAP_BOUNDED-}" ] && [ -z "${CRIU_APART-}" ]; then
	export CRIU_APART=1
	exec unshare --fork --pid --mount --ipc --mount-proc --kill-child \
	    bash "$0"
fi
# shellcheck source=tests/tap.sh
. "$here/../tap.sh"
unset CRIU_APART

criu=$BUILD/criu/criu
mkdir -p "$BUILD/criu"
why=$(flock "$BUILD/criu" timeout 120 "$here/get" "$BUILD/criu" 2>&1) ||
    skip_all "${why:-no criu}"
criu_from() {
	"$criu" --version | sed -n 's/^Version: //p' | {
		read -r version
		printf '%s\n' "$1" "$version" | sort -C -V
	}
}

# where addresses are signed, one of 4.1 as Debian builds it hangs when it restores
# the keys: REQUIREMENTS OF CRIU in snap-restore(7)
if grep -qw paca /proc/cpuinfo && criu_from 4.1 && ! criu_from 4.2; then
	criu=$(command -v criu) || skip_all 'criu 4.1 and pointer authentication'
	! criu_from 4.1 || criu_from 4.2 ||
	    skip_all 'criu 4.1 and pointer authentication'
fi
# snapfs of another test, which may end at any time: criu fails at a mount
# that nobody serves
umount -a -l -t fuse.snapfs 2>/dev/null
# what criu found out about the kernel is for this test alone
mount -t tmpfs none /run || skip_all 'may not mount'
why=$("$criu" check 2>&1) ||
    skip_all "criu check: $(tail -n 1 <<<"$why" | sed 's/.*: //')"

# what programs and criu are run with: in a network namespace, perhaps
in=(env)
loads=()

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
		ok 1 "$program starts"
		exit 1
	}
}

lines() {
	wc -l <"$log"
}

longer() {
	[ "$(lines)" -gt "$1" ]
}

# a program whose C library has rseq(2), as all of today have, is dumped from
# Linux 5.13 on, which tells of that
may_dump() {
	"$criu" check --feature get_rseq_conf >/dev/null 2>&1
}
# without that, criu 3.17.1 unmaps what its own rseq(2) writes to, and the kernel
# kills it if another process gets the processor then
may_dump || export GLIBC_TUNABLES=glibc.pthread.rseq=0
# shellcheck disable=SC2034 # for the tests
undumped='criu: the kernel does not tell it of rseq(2)'

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
	local dir=$1 said

	shift
	mkdir -p "$tmp/work"
	# as snapload said, which may have quoted some of it
	eval "said=($(sed -n "s,^criu restore -d -D $dir,,p" \
	    "$tmp/command" 2>/dev/null))"
	timeout 60 "${in[@]}" "$criu" restore -d -D "$dir" -W "$tmp/work" \
	    "${said[@]}" -o "$tmp/criu.log" "$@" >"$tmp/criu.out" 2>&1
	ok $? "restore from ${dir##*/}" || {
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

take() {
	local dir=$1 status

	shift
	cp "$log" "$tmp/log.before"
	timeout 60 "${in[@]}" "$BUILD/snap" "$@" "$pid" 2>"$tmp/snap.err" |
	    timeout 60 "$BUILD/snapload" "${loads[@]}" -D "$dir" \
	    >"$tmp/command" 2>"$tmp/try"
	status=("${PIPESTATUS[@]}")
	# of a zombie there is less, and that is told
	! grep -q 'is a zombie' "$tmp/snap.err" ||
	    status[0]=$((status[0] - 1))
	is "${status[*]} $(grep -hvE 'is a zombie|is closed when|never complete|keyring of its session|deleted name becomes|another mount covers|: needs criu ' \
	    "$tmp/snap.err" "$tmp/try")" "0 0 " "snap $* | snapload"
}

rest() {
	rm -f "$log.rests"
	: >"$log.rest"
	until_true test -e "$log.rests"
}

take_resting() {
	rest
	take "$@"
	rm "$log.rest"
}

end_taken() {
	end
	# their numbers are needed: wait until they are reaped, too
	until_true reaped "$pid"
	cp "$log" "$tmp/log.was"
	# the file is the same, for its mode is
	: >"$log"
}

# an init $pid, for which process $1 waits in the namespace above
end_init() {
	kill -KILL "$1" "$pid"
	until_true gone "$pid"
	cp "$log" "$tmp/log.was"
	: >"$log"
}

reaped() {
	! pgrep -s "$1" >/dev/null
}

# Has each of those that told $1 numbers told as many in the new log?
all_grew() {
	awk -v n="$1" 'NR == FNR { then[$1]++; next }
	    { now[$1]++ }
	    END { for (i in then) if (then[i] >= n && now[i] < n) exit 1 }' \
	    "$tmp/log.before" "$log"
}

# A target goes on after it was taken, so the old log is ahead of what is
# restored: of that it is only known that it is not behind what was there
# before.
goes_on() {
	until_true all_grew 5
	ok $? "$1: all go on" || {
		cut -d' ' -f1 "$tmp/log.before" | sort | uniq -c
		echo "now:"
		cut -d' ' -f1 "$log" | sort | uniq -c
	} | diag
	awk 'FILENAME == ARGV[1] { before[$1] = $2; next }
	    FILENAME == ARGV[2] { was[$1] = $2; next }
	    { from = $1 in last ? last[$1] + 1 : before[$1] + 1
		to = $1 in last ? last[$1] + 1 : was[$1] + 1
		last[$1] = $2 }
	    $3 != 0 { print "wrong: " $0; bad = 1 }
	    $2 < from || $2 > to {
		print "lost count: " $0 ", from " from " to " to; bad = 1 }
	    END { exit bad }' "$tmp/log.before" "$tmp/log.was" "$log" \
	    >"$tmp/wrong"
	ok $? "$1: each from where it was, nothing is wrong" ||
	    head -n 5 "$tmp/wrong" | diag
}

# moves WHAT DIR OPTION ...: what was started is taken by snap with the options,
# ended, restored from DIR, and goes on
moves() {
	take "${@:2}"
	end_taken
	restore "$2"
	goes_on "$1"
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

# only_child PID: of a process, as that of unshare(1)
only_child() {
	tr -d ' ' <"/proc/$1/task/$1/children"
}

# two_networks: the network namespaces here and there, linked; where they cannot
# be made, all of the test is skipped
two_networks() {
	command -v ip >/dev/null || skip_all 'no ip'
	# the names are in /run, which is the test's own
	{
		ip netns add here && ip netns add there &&
		    ip -n here link add veth type veth peer name veth netns there
	} 2>"$tmp/err" ||
	    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
	ip -n here addr add 192.0.2.1/24 dev veth
	ip -n there addr add 192.0.2.2/24 dev veth
	ip -n here link set veth up
	ip -n there link set veth up
}

# tables NS: what nft(8) has in a network namespace
tables() {
	nsenter --net="/run/netns/$1" nft list tables
}

# served LOG WHAT: the client of stream.py that writes there has had many lines
# more, and none of them is wrong
served() {
	local n

	n=$(wc -l <"$1")
	until_true grown "$1" $((n + 300))
	ok $? "$2: the client is served"
	is "$(awk '$3 != 0 || $2 != NR' "$1" | head -n 3)" '' "$2: without a gap"
}

grown() {
	[ "$(wc -l <"$1")" -gt "$2" ]
}

# End what was restored or left running, and those below it.
end() {
	pkill -KILL -s "$pid"
	until_true gone_session "$pid"
}

gone_session() {
	! pgrep -s "$1" -r R,S,D,T >/dev/null
}
