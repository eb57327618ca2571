# Tests of running programs, for bash: sourced by tests/live/*.t, which
# print TAP and run under prove(1).  Programs are those in $BUILD, targets
# (tests/targets) those in $BUILD/tests/targets.
#
#	ok STATUS WHAT		a test that passed if STATUS is 0
#	is GOT WANT WHAT	a test that passed if the two are the same
#	try WHAT COMMAND ...	a test that passed if the command exits 0
#	skip WHAT WHY [N]	in place of a test, or of N
#	skip_all WHY ...	skip all of the file
#	needs PROGRAM ...	skip all of the file without those of ours that
#				are not built for want of a library
#	page_commands PAGE	the commands in the displays of a manual page, and
#				an empty line after each display
#	finish N		at the end: the test that N tests were run; who is
#				not root may have run fewer
#
# What a test starts is killed at the end, whatever happens.
# shellcheck shell=bash

set -u
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# How many times longer all may take than on a machine that is not emulated.
export TIMEFACTOR=${TIMEFACTOR:-1}
case $PATH in
"$tests/slow":*) ;;
*) PATH=$tests/slow:$PATH ;;
esac
# shellcheck source=tests/slow/busy
. "$tests/slow/busy"
# A test that hangs is a test that fails.
if [ -z "${TAP_BOUNDED-}" ]; then
	exec "$tests/one" "$0"
fi
unset TAP_BOUNDED
BUILD=${BUILD:-build}
case $BUILD in
/*) ;;
*) BUILD=$(dirname "$tests")/$BUILD ;;
esac
export PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/live.XXXXXX") || exit 1
chmod 711 "$tmp"
mkdir "$tmp/pub"
chmod 777 "$tmp/pub"
count=0
failed=0
disk=
declare -A ask_fd lines_of

# end_jobs: what was started in the background is killed, and is gone
end_jobs() {
	local p

	for p in $(jobs -p); do
		kill -KILL "$p"
	done
	wait
} 2>/dev/null

cleanup() {
	local m

	# a child that has not begun yet must not clean up
	if [ "$BASHPID" -ne $$ ]; then
		return
	fi
	exec 2>/dev/null
	end_jobs
	for m in "$tmp"/mnt*; do
		if mountpoint -q "$m"; then
			umount "$m" || umount -l "$m" || fusermount3 -uz "$m"
		fi
	done
	rm -rf "$tmp" ${disk:+"$disk"}
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# Have a folder $disk whose files are no shared memory, as those of tmpfs are;
# /tmp is one on some machines.
on_disk() {
	disk=$tmp/disk
	mkdir "$disk"
	if [ "$(stat -f -c %T "$tmp")" = tmpfs ]; then
		disk=$(mktemp -d /var/tmp/live.XXXXXX) || exit 1
	fi
}

# In a display, a command follows "$ " or "# ", or a name of a machine and "$ ",
# which is kept.  It continues on the next line if it ends in a backslash.
page_commands() {
	awk '/^\.Bd -literal/ { shown = 1; next }
	    /^\.Ed/ { if (shown) print ""; shown = 0; next }
	    !shown { next }
	    more || /^([#$]|near\$|far\$) / {
		if (!more)
			sub(/^[#$] /, "")
		more = /\\e$/
		gsub(/\\e/, "\\")
		print
	    }' "$1"
}

ok() {
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
		return 0
	fi
	failed=$((failed + 1))
	echo "not ok $count - $2"
	return 1
}

diag() {
	sed 's/^/# /'
}

is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf 'got:  %s\nwant: %s\n' "$1" "$2" | diag
	fi
}

try() {
	local what=$1

	shift
	if "$@" >"$tmp/try" 2>&1; then
		ok 0 "$what"
	else
		ok 1 "$what"
		diag <"$tmp/try"
	fi
}

skip() {
	local i

	for ((i = 0; i < ${3:-1}; i++)); do
		count=$((count + 1))
		echo "ok $count - $1 # SKIP $2"
	done
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# A program is left out for want of a library (Makefile), or was built on
# another machine, which has it: left_out PROGRAM
left_out() {
	[ -n "$(pkg_lacks "$1")" ]
}

# The first library that a program lacks: of one that is not built, one that
# pkg-config does not find.
pkg_lacks() {
	local l

	if [ -e "$BUILD/$1" ]; then
		ldd "$BUILD/$1" 2>/dev/null | sed -n 's/ => not found.*//p'
	else
		for l in $(sed -n "s/^$1_PKGS *= *//p" "$tests/../Makefile"); do
			pkg-config --exists "$l" || echo "$l"
		done
	fi | sed -n 's/^[[:blank:]]*//;1p'
}

needs() {
	local p

	for p; do
		if left_out "$p"; then
			skip_all "$p is not built: $(pkg_lacks "$p") is missing"
		fi
	done
}

# a loop over a list that is empty by mistake has no other witness
finish() {
	if [ $# -ne 1 ] || [ "$count" -gt "$1" ] ||
	    { [ "$count" -lt "$1" ] && is_root; }; then
		ok 1 "as many tests as there are: $count, not ${1-told}"
	fi
	# with sanitizers, some programs do not do what a test waits for
	[ -n "${SANITIZED-}" ] || [ ! -s "$tmp/vain" ] ||
	    ok 1 "waited in vain: $(head -n 1 "$tmp/vain")"
	echo "1..$count"
	exit $((failed > 0))
}

# Poll until a command succeeds, for up to ten seconds of a machine that is
# neither slow nor busy.  If it does not succeed, a test of the file fails: finish.
until_true() {
	local i left=$((200 * TIMEFACTOR))

	for ((i = left; left > 0; left--)); do
		if "$@" >/dev/null 2>&1; then
			return 0
		fi
		sleep 0.05
		if ((left == 1)); then
			left=$((i * ($(busy) - 1) + 1)) i=0
		fi
	done
	echo "$*" >>"$tmp/vain"
	return 1
}

# How often to repeat a step that fails at times: N times, multiplied by REPEAT; on
# a slow machine fewer times, but 20 if N is not less: often N
often() {
	local n=$(($1 * ${REPEAT:-1} / TIMEFACTOR))

	[ "$n" -ge 20 ] || n=$(($1 < 20 ? $1 : 20))
	echo "$n"
}

# $pid and all its threads are stopped: what of them runs takes signals
is_stopped() {
	[ -d "/proc/$pid" ] &&
	    ! grep -L '^State:.T' "/proc/$pid/task"/*/status | grep -q .
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# Start a target and wait until it is ready: $pid, and what it printed in
# the file $lines.
serial=0
target() {
	local fd

	serial=$((serial + 1))
	lines=$tmp/lines.$serial
	mkfifo "$tmp/ask.$serial"
	# 3 is a test's own pipe: a target that had it would be a reader
	"${as[@]}" "$@" <"$tmp/ask.$serial" >"$lines" 3>&- &
	pid=$!
	exec {fd}>"$tmp/ask.$serial"
	ask_fd[$pid]=$fd
	lines_of[$pid]=$lines
	if ! until_true grep -q '^ready$' "$lines"; then
		ok 1 "$1 starts"
		exit 1
	fi
}
as=(env)
# shellcheck disable=SC2034 # for the tests
targets=$BUILD/tests/targets

# Ask a target what it noticed: a test that passes if it was nothing and
# the target ended well.
unnoticed() {
	local p=$1 fd=${ask_fd[$1]} rc

	echo q >&"$fd"
	exec {fd}>&-
	if ! until_true gone "$p"; then
		ok 1 "$2: ends"
		kill -KILL "$p"
	fi
	wait "$p"
	rc=$?
	is "exit $rc $(grep '^report' "${lines_of[$p]}" | grep -vc ' 0$') of $(
	    grep -c '^report' "${lines_of[$p]}" | sed 's/^0$/none/;s/.*[0-9].*/some/')" \
	    "exit 0 0 of some" "$2"
	grep '^report' "${lines_of[$p]}" | grep -v ' 0$' | diag
}

# gdb_faults FILE: the complaints in FILE, which gdb printed about a core.  Before
# version 14 it knows the size of .reg-xstate on some processors only, and
# complains about the kernel's cores as well.
gdb_faults() {
	local known='system-supplied DSO|auto-load'

	[ "$(gdb --version | sed -n '1s/.* \([0-9]*\)\..*/\1/p')" -ge 14 ] ||
	    known="$known|reg-xstate"
	grep -iE 'warning|error' "$1" | grep -vE "$known"
}

# The state of each thread of a process, and who traces it.
states() {
	sed -n 's/^State:[[:space:]]*\(.\).*/\1/p;s/^TracerPid:[[:space:]]*/ /p' \
	    /proc/"$1"/task/*/status | sort -u | tr '\n' ' '
}

# Is a thread of a process stopped by who traces it?
is_traced() {
	[[ $(states "$1") = *t* ]]
}

# Is no thread of a process stopped or traced?
free_again() {
	local s

	s=$(states "$1") && case $s in
	*[tT]*|*" "[1-9]*) return 1 ;;
	*" 0"*) return 0 ;;
	*) return 1 ;;
	esac
}

# A test that a process is let go.
let_go() {
	until_true free_again "$1"
	ok $? "$2" || states "$1" | diag
}

# Run snap; the status is in $rc, messages without numbers and paths of
# this run in $err.  It is killed if it hangs.
snap() {
	rc=0
	timeout -s KILL "${patience:-60}" "${as[@]}" "${snap:-$BUILD/snap}" \
	    "$@" 2>"$tmp/err" || rc=$?
	# shellcheck disable=SC2034 # for the tests
	err=$(apart_from_criu | sed "s,$tmp,TMP,g;s/\<[1-9][0-9]*\>/N/g")
}

# What is in $tmp/err, but for which criu is needed: a C library since 2.42 has
# guards below stacks, which criu since 4.2 restores.
apart_from_criu() {
	sed '/: needs criu /d' "$tmp/err"
}

# Compare a snapshot with the lines of a target: check SNAPSHOT PID WHAT
# [flag].
check() {
	try "$3" python3 "$tests/live/check.py" ${4:+"$4"} "$1" "$2" \
	    "${lines_of[$2]}"
}

# The same of what changes all the time: the snapshot $tmp/snap of $pid is of one
# instant: one_instant WHAT
one_instant() {
	try "$1" python3 "$tests/live/instant.py" "$tmp/snap" "$pid" "$lines"
	diag <"$tmp/try"
}

# Backtraces of gdb, in the order of thread ids and without gdb's own numbers:
# gdb 16 counts the threads of a process otherwise than those of a core.
by_thread() {
	awk '/^Thread/ {
		match($0, /LWP [0-9]+/)
		t = substr($0, RSTART + 4, RLENGTH - 4)
		sub(/^Thread [0-9]+ /, "Thread ")
	    }
	    { print t "\t" $0 }' | sort -s -n -k1,1 | cut -f2-
}

# executing FILE: how many processes execute it
executing() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$1" 2>/dev/null | wc -l
}

# first_cpu: the number of a processor on which this test may run
first_cpu() {
	sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' \
	    /proc/self/status
}

# Whether the kernel is of a release or a later one: release_from 6.10
release_from() {
	printf '%s\n' "$1" "$(uname -r)" | sort -C -V
}

# Resident set of a process, all kinds.  Before Linux 6.16 the numbers of status
# are behind by what each processor, or thread, has counted for itself
# (task_mem of fs/proc/task_mmu.c), and those of smaps_rollup are not.
resident() {
	local exact='VmPTE'

	! release_from 6.16 ||
	    exact='VmRSS|RssAnon|RssFile|RssShmem|VmPTE|VmSwap'
	grep -E "^($exact)" /proc/"$1"/status
	grep -E '^(Rss|Anonymous|Swap|Shared_Dirty|Private_Dirty):' \
	    /proc/"$1"/smaps_rollup 2>/dev/null
}

# From here on, run targets and snap as the user nobody, who must be able to
# enter the folder of snap and to write into TMPDIR.
as_nobody() {
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	mkdir "$tmp/bin"
	cp "$BUILD"/snap "$BUILD"/snapls "$targets"/* "$tmp/bin"
	chmod 755 "$tmp/bin"
	BUILD=$tmp/bin
	targets=$tmp/bin
	export TMPDIR=$tmp/pub
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}
