# Functions for tests in bash, which source this file, print TAP and run under
# prove(1).  Programs are in $BUILD, targets in $BUILD/tests/targets.
#
#	ok STATUS NAME		passes if STATUS is 0
#	is GOT WANT NAME	passes if GOT is equal to WANT
#	try NAME COMMAND ...	passes if COMMAND exits 0
#	skip NAME REASON [N]	skip a test, or N tests
#	skip_all REASON ...	skip the whole file
#	needs PROGRAM ...	skip the whole file if a PROGRAM is not built
#				because a library is missing
#	page_commands PAGE	print the commands in the displays of a manual
#				page, and an empty line after each display
#	finish N		end the file; fail unless N tests ran (without
#				root, fewer may run)
#
# A test that sets own_mounts before it sources this file runs in a mount
# namespace of its own, if it may create one; $own_mounts is empty if not.
#
# All processes that a test starts are killed when it ends.
# shellcheck shell=bash

set -u
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# TIMEFACTOR multiplies all timeouts on a slow or emulated machine.
export TIMEFACTOR=${TIMEFACTOR:-1}
case $PATH in
"$tests/slow":*) ;;
*) PATH=$tests/slow:$PATH ;;
esac
# shellcheck source=tests/slow/busy
. "$tests/slow/busy"
# busy would count them each time
export PROCESSORS=${PROCESSORS:-$(nproc)}
# tests/one ends a test that hangs, which then fails.
if [ -z "${TAP_BOUNDED-}" ]; then
	exec "$tests/one" "$0"
fi
if [ -n "${own_mounts-}" ] && [ -z "${OWN_MOUNTS-}" ]; then
	if unshare -m true 2>/dev/null; then
		OWN_MOUNTS=1 exec unshare -m "$0"
	fi
	own_mounts=
fi
unset TAP_BOUNDED OWN_MOUNTS
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

# end_jobs: kill all background jobs, and wait until they have ended
end_jobs() {
	local p

	for p in $(jobs -p); do
		kill -KILL "$p"
	done
	wait
} 2>/dev/null

cleanup() {
	local m

	# a subshell must not clean up
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

# on_disk: create a folder $disk that is not on a tmpfs, whose files would be
# shared memory; /tmp is a tmpfs on some machines
on_disk() {
	disk=$tmp/disk
	mkdir "$disk"
	if [ "$(stat -f -c %T "$tmp")" = tmpfs ]; then
		disk=$(mktemp -d /var/tmp/live.XXXXXX) || exit 1
	fi
}

# In a display, a command follows a prompt: "$ " or "# ", which is removed, or
# the name of a machine and "$ ", which is kept.  A line that ends in a
# backslash continues on the next one.
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
		return 1
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

# left_out PROGRAM: a library is missing, so the program was not built, or was
# built on another machine and cannot run here
left_out() {
	[ -n "$(pkg_lacks "$1")" ]
}

# pkg_lacks PROGRAM: print the first library that is missing, found with ldd if
# the program is built, else with pkg-config
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

# the number of tests also shows that a loop ran over an empty list by mistake
finish() {
	if [ $# -ne 1 ] || [ "$count" -gt "$1" ] ||
	    { [ "$count" -lt "$1" ] && is_root; }; then
		ok 1 "the number of tests: $count ran, not ${1-given}"
	fi
	# with sanitizers, some programs do not do what a test waits for
	[ -n "${SANITIZED-}" ] || [ ! -s "$tmp/vain" ] ||
	    ok 1 "becomes true in time: $(head -n 1 "$tmp/vain")"
	echo "1..$count"
	exit $((failed > 0))
}

# until_true COMMAND ...: repeat it until it succeeds, for up to ten seconds,
# longer on a slow or busy machine.  If it never succeeds, finish reports a
# failed test.
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

# often N: print how often to repeat a step that fails at times: N * REPEAT /
# TIMEFACTOR, but at least 20, or N if N is less than 20
often() {
	local n=$(($1 * ${REPEAT:-1} / TIMEFACTOR))

	[ "$n" -ge 20 ] || n=$(($1 < 20 ? $1 : 20))
	echo "$n"
}

# is_stopped: all threads of $pid are stopped
is_stopped() {
	[ -d "/proc/$pid" ] &&
	    ! grep -L '^State:.T' "/proc/$pid/task"/*/status | grep -q .
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# target COMMAND ...: start a target and wait until it is ready; sets $pid, and
# $lines, the file with its output
serial=0
target() {
	local fd

	serial=$((serial + 1))
	lines=$tmp/lines.$serial
	mkfifo "$tmp/ask.$serial"
	# 3 is a pipe of some tests: a target must not inherit its reading end
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

# unnoticed PID NAME: end a target; passes if the target has printed reports,
# all of them 0, and exits 0
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

# gdb without settings of the user, and without debugging information of
# libraries: to read that of the C library takes three times as long as the rest
# shellcheck disable=SC2034 # for the tests
gdb=(gdb -nx -batch -iex 'set debuginfod enabled off'
    -iex 'set debug-file-directory /nowhere')

# hide_debug: hide debugging information of libraries from here on, for
# snapstack and debuggers: to read that of the C library takes seven times as
# long as the rest.  It needs own_mounts.
hide_debug() {
	[ -z "$own_mounts" ] || [ ! -d /usr/lib/debug ] ||
	    mountpoint -q /usr/lib/debug || mount -t tmpfs none /usr/lib/debug
}

# gdb_faults FILE: print the warnings and errors in FILE, the output of gdb for
# a core.  gdb before 14 knows the size of .reg-xstate on some processors only,
# and warns about the kernel's cores as well.
gdb_faults() {
	local known='system-supplied DSO|auto-load'

	[ "$(gdb --version | sed -n '1s/.* \([0-9]*\)\..*/\1/p')" -ge 14 ] ||
	    known="$known|reg-xstate"
	grep -iE 'warning|error' "$1" | grep -vE "$known"
}

# settled: all threads of the session or process $pid stay in one system call
calls_now() {
	local p

	for p in $(pgrep -s "$pid" || echo "$pid"); do
		cat "/proc/$p/task"/*/syscall
	done
}
settled() {
	local s

	s=$(calls_now)
	[[ $s != *running* ]] && sleep 0.2 && [ "$s" = "$(calls_now)" ]
}

# states PID: print the states of its threads, and the ids of their tracers
states() {
	sed -n 's/^State:[[:space:]]*\(.\).*/\1/p;s/^TracerPid:[[:space:]]*/ /p' \
	    /proc/"$1"/task/*/status | sort -u | tr '\n' ' '
}

# is_traced PID: a tracer has stopped one of its threads
is_traced() {
	[[ $(states "$1") = *t* ]]
}

# free_again PID: none of its threads is stopped or traced
free_again() {
	local s

	s=$(states "$1") && case $s in
	*[tT]*|*" "[1-9]*) return 1 ;;
	*" 0"*) return 0 ;;
	*) return 1 ;;
	esac
}

# let_go PID NAME: passes if snap releases the process
let_go() {
	until_true free_again "$1"
	ok $? "$2" || states "$1" | diag
}

# snap ARG ...: run snap, and kill it if it hangs; sets $rc to its status, and
# $err to its messages, with N for numbers and TMP for $tmp
snap() {
	rc=0
	timeout -s KILL "${patience:-60}" "${as[@]}" "${snap:-$BUILD/snap}" \
	    "$@" 2>"$tmp/err" || rc=$?
	err=
	# shellcheck disable=SC2034 # for the tests
	[ ! -s "$tmp/err" ] ||
	    err=$(sed "$from_criu;s,$tmp,TMP,g;s/\<[1-9][0-9]*\>/N/g" "$tmp/err")
}

# apart_from_criu: print $tmp/err without the messages that a newer criu is
# needed, and that criu is to be started in other namespaces: glibc since 2.42
# has guard pages below stacks, which criu restores since 4.2.  Also leave out
# that the far side of a move takes long, on a slow machine.
from_criu='/: needs criu /d; /(it is not an init)$/d
/stay stopped until the far side/d'
apart_from_criu() {
	sed "$from_criu" "$tmp/err"
}

# check SNAPSHOT PID NAME [FLAG]: compare a snapshot with the output of a target
check() {
	try "$3" python3 "$tests/live/check.py" ${4:+"$4"} "$1" "$2" \
	    "${lines_of[$2]}"
}

# one_instant NAME: passes if $tmp/snap shows one instant of $pid, whose memory
# changes all the time
one_instant() {
	local spinners was

	# it uses a processor, as do its children
	was=$(states "$pid")
	mapfile -t spinners < <(echo "$pid"; pgrep -P "$pid")
	kill -STOP "${spinners[@]}"
	try "$1" python3 "$tests/live/instant.py" "$tmp/snap" "$pid" "$lines"
	[[ $was = *T* ]] || kill -CONT "${spinners[@]}"
	diag <"$tmp/try"
}

# by_thread: sort backtraces of gdb by thread id and remove gdb's own numbers:
# gdb 16 numbers the threads of a process and those of a core differently
by_thread() {
	awk '/^Thread/ {
		match($0, /LWP [0-9]+/)
		t = substr($0, RSTART + 4, RLENGTH - 4)
		sub(/^Thread [0-9]+ /, "Thread ")
	    }
	    { print t "\t" $0 }' | sort -s -n -k1,1 | cut -f2-
}

# no_hierarchy NAME DIR: succeed if there is no cgroup hierarchy of version 1
# with this name.  An unmounted one survives while its removed cgroups are not
# yet freed.  If there is one, mount it on DIR and unmount it again, after which
# it can disappear.
no_hierarchy() {
	! grep -q "name=$1:" /proc/self/cgroup || {
		mount -t cgroup -o "none,name=$1" none "$2" && umount "$2"
		# the kernel removes it in the background; a mount keeps it
		sleep 0.5
		false
	}
}

# executing FILE: print how many processes execute it
executing() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$1" 2>/dev/null | wc -l
}

# first_cpu: print the number of the first processor on which this test may run
first_cpu() {
	sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' \
	    /proc/self/status
}

# release_from RELEASE: the kernel is of RELEASE, such as 6.10, or newer
release_from() {
	printf '%s\n' "$1" "$(uname -r)" | sort -C -V
}

# resident PID: print its resident set, by kind.  Before Linux 6.16 the numbers
# of status lack pages that processors or threads still count separately
# (task_mem of fs/proc/task_mmu.c); those of smaps_rollup are exact.
resident() {
	local exact='VmPTE'

	! release_from 6.16 ||
	    exact='VmRSS|RssAnon|RssFile|RssShmem|VmPTE|VmSwap'
	grep -E "^($exact)" /proc/"$1"/status
	grep -E '^(Rss|Anonymous|Swap|Shared_Dirty|Private_Dirty):' \
	    /proc/"$1"/smaps_rollup 2>/dev/null
}

# as_nobody: run targets and snap as the user nobody from here on.  That user
# can enter the new folder of the programs and write to the new TMPDIR.
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
