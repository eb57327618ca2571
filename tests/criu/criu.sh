# Functions for tests that use criu, for bash: tests/criu/*.t source this file,
# which sources tests/tap.sh.
#
# Each test runs in its own pid, mount and IPC namespaces, so that the process
# IDs stay free for the restore, and that no process or mount outlives the test.
#
#	start PROGRAM ARG ...	start a target: sets $program, $pid and $log
#	may_dump		whether criu can dump on this kernel; $undumped
#				says why not
#	dump PID DIR [ARG ...]	criu dumps a process and its descendants
#	restore DIR [ARG ...]	criu restores them
#	images DIR SNAP		snapload -u: images to snapshot
#	load SNAP DIR [ARG ...]	snapload: snapshot, from a pipe, to images
#	counts_on WHAT N	$log grows by 20 lines from N on; no line is
#				wrong, and no number is missing
#
# For targets that run on while snap takes them:
#
#	take DIR [ARG ...]	snap $pid with options ARG, and snapload with
#				$loads; restore uses the command that it printed
#	rest			have $pid do nothing until $log.rest is removed,
#				if the target can do that
#	take_resting ...	take while it rests
#	end_taken		end $pid and its descendants, begin a new log
#	end_init PID		end the init $pid and PID, begin a new log
#	goes_on WHAT		all counters of the old log go on in the new
#				log, from the numbers that they had
#
# $criu is criu itself.  criu_from VERSION: it is this version or newer.
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

# with pointer authentication, Debian's criu 4.1 hangs when it restores the
# keys: REQUIREMENTS OF CRIU in snap-restore(7)
if grep -qw paca /proc/cpuinfo && criu_from 4.1 && ! criu_from 4.2; then
	criu=$(command -v criu) || skip_all 'criu 4.1 and pointer authentication'
	! criu_from 4.1 || criu_from 4.2 ||
	    skip_all 'criu 4.1 and pointer authentication'
fi
# unmount what other tests mounted: criu fails if the server of a mount ends, or
# if a mount has gone because its directory was removed
awk '$3 == "fuse.snapfs" || $2 ~ /\/live\.[^\/]*\// { print $2 }' /proc/mounts |
    xargs -r umount -l 2>/dev/null
# keep the cache of criu's kernel features within this test
mount -t tmpfs none /run || skip_all 'may not mount'
why=$("$criu" check 2>&1) ||
    skip_all "criu check: $(tail -n 1 <<<"$why" | sed 's/.*: //')"

# prefix of programs and criu, such as nsenter for a network namespace
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

# criu dumps programs that registered rseq(2), as today's C libraries do, only
# if the kernel reports the registration: Linux 5.13 and newer
may_dump() {
	"$criu" check --feature get_rseq_conf >/dev/null 2>&1
}
# without that, criu 3.17.1 unmaps the area of its own rseq(2), and the kernel
# kills it at the next preemption
may_dump || export GLIBC_TUNABLES=glibc.pthread.rseq=0
# shellcheck disable=SC2034 # for the tests
undumped='the kernel does not report rseq(2) to criu'

dump() {
	local of=$1 dir=$2

	shift 2
	mkdir -p "$dir"
	timeout 60 "${in[@]}" "$criu" dump -t "$of" -D "$dir" \
	    -o "$tmp/criu.log" "$@" >"$tmp/criu.out" 2>&1
	ok $? "dump to ${dir##*/}" || tail -n 5 "$tmp/criu.log" | diag
	[[ " $* " == *" --leave-running "* ]] || until_true gone "$of"
}

# The ID of a thread may be in use for a moment after its process was reaped:
# the kernel frees it last, and may be preempted before that.  Then criu fails.
id_in_use() {
	grep -q 'Unable to create a thread: -17' "$tmp/criu.log"
}

restore() {
	local dir=$1 said i rc

	shift
	mkdir -p "$tmp/work"
	# the options that snapload printed, some of them quoted
	eval "said=($(sed -n "s,^criu restore -d -D $dir,,p" \
	    "$tmp/command" 2>/dev/null))"
	for ((i = 0; i < 10; i++)); do
		timeout 60 "${in[@]}" "$criu" restore -d -D "$dir" \
		    -W "$tmp/work" "${said[@]}" -o "$tmp/criu.log" "$@" \
		    >"$tmp/criu.out" 2>&1
		rc=$?
		[ $rc -ne 0 ] && id_in_use || break
		sleep 0.1
	done
	ok $rc "restore from ${dir##*/}" || {
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
	ok $? "$1: no number is missing, memory is right" ||
	    head -n 5 "$tmp/wrong" | diag
}

take() {
	local dir=$1 status

	shift
	cp "$log" "$tmp/log.before"
	timeout 60 "${in[@]}" "$BUILD/snap" "$@" "$pid" 2>"$tmp/snap.err" |
	    timeout 60 "$BUILD/snapload" "${loads[@]}" -D "$dir" \
	    >"$tmp/command" 2>"$tmp/try"
	status=("${PIPESTATUS[@]}")
	# snap exits 1 for a zombie, which has less to record
	! grep -q 'is a zombie' "$tmp/snap.err" ||
	    status[0]=$((status[0] - 1))
	is "${status[*]} $(grep -hvE 'is a zombie|is closed when|never complete|keyring of its session|deleted name becomes|another mount covers|senders of unread|not marked for removal|: needs criu |(it is not an init)' \
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
	# wait until they are reaped: the restore needs their process IDs
	until_true reaped "$pid"
	cp "$log" "$tmp/log.was"
	# keep the file, and with it its mode
	: >"$log"
}

# end_init PARENT: end the init $pid, and its parent outside the namespace
end_init() {
	kill -KILL "$1" "$pid"
	until_true gone "$pid"
	cp "$log" "$tmp/log.was"
	: >"$log"
}

reaped() {
	! pgrep -s "$1" >/dev/null
}

# all_grew N: each counter that had N lines in the old log has N in the new one
all_grew() {
	awk -v n="$1" 'NR == FNR { then[$1]++; next }
	    { now[$1]++ }
	    END { for (i in then) if (then[i] >= n && now[i] < n) exit 1 }' \
	    "$tmp/log.before" "$log"
}

# A target goes on after it was taken, so the old log may be ahead of the
# snapshot: the first number in the new log is between that before the snapshot
# and the last one of the old log, plus one.
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
	ok $? "$1: each goes on from its number, nothing is wrong" ||
	    head -n 5 "$tmp/wrong" | diag
}

# moves WHAT DIR OPTION ...: take the target with these options of snap, end it,
# restore it from DIR; it goes on
moves() {
	take "${@:2}"
	end_taken
	restore "$2"
	goes_on "$1"
}

# same_images DIR DIR: the same images; pagemap and pages are not compared
same_images() {
	diff <(names "$1") <(names "$2") && (cd "$1" &&
	    for f in *.img; do
		case $f in
		pages-* | pagemap-*) ;;
		*) cmp "$f" "$2/$f" || exit 1 ;;
		esac
	done)
}

# names DIR: all images but pages, whose numbers the writer chooses
names() {
	(cd "$1" && printf '%s\n' *.img | grep -v '^pages-')
}

# only_child PID: the only child of a process such as unshare(1)
only_child() {
	tr -d ' ' <"/proc/$1/task/$1/children"
}

# two_networks: create the network namespaces here and there, and link them;
# skip the test if that fails
two_networks() {
	command -v ip >/dev/null || skip_all 'no ip'
	# the names are in /run, which only this test sees
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

# tables NS: the tables of nft(8) in a network namespace
tables() {
	nsenter --net="/run/netns/$1" nft list tables
}

# served LOG WHAT: the client of stream.py that writes LOG gets 120 lines more,
# and none of them is wrong
served() {
	local n

	n=$(wc -l <"$1")
	until_true grown "$1" $((n + 120))
	ok $? "$2: the client is served"
	is "$(awk '$3 != 0 || $2 != NR' "$1" | head -n 3)" '' "$2: no gap"
}

grown() {
	[ "$(wc -l <"$1")" -gt "$2" ]
}

# end $pid, restored or not, and its session
end() {
	pkill -KILL -s "$pid"
	until_true gone_session "$pid"
}

# all threads have ended as well: criu needs their IDs
gone_session() {
	! ps -L -s "$1" -o stat= | grep -qv '^Z'
}
