#!/usr/bin/env bash
# A process under a filter of seccomp(2) that the freezer of cgroups(7) freezes
# while snap makes it run system calls goes on as before when it is thawed.
# beside: live unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by trap
. "$(dirname "$0")/../tap.sh"

is_root || skip_all 'needs root'
"$BUILD/snap" -r -o "$tmp/snap" $$ 2>&1 | grep -q 'not supported on this arch' &&
    skip_all 'no system call is injected here'

leave() {
	if [ "$BASHPID" -eq $$ ] && [ -d "$group" ]; then
		echo "$thaw" >"$group/$file"
		end_jobs
		until_true rmdir "$group"
	fi
	cleanup
}
group=''
thaw=''
file=''
trap leave EXIT

# frozen HOW TYPE FILE FREEZE THAW: test with the freezer in a mount of TYPE
frozen() {
	local how=$1 at what

	file=$3 thaw=$5
	group=$(awk -v t="$2" -v how="$how" '$3 == t && (how == "version 2" ||
	    $4 ~ /(^|,)freezer(,|$)/) { print $2; exit }' /proc/mounts)/snap.frozen.$$
	if ! mkdir "$group" 2>/dev/null || [ ! -e "$group/$3" ]; then
		skip "$how" "no such freezer here" 8
		return
	fi
	# freeze it before the first and the second call, and when the entry of
	# the first call is examined (PTRACE_GET_SYSCALL_INFO)
	for what in '-lr 1' '-lr 3' '-l 1' '-lr 1 0x420e'; do
		read -r flags at request <<<"$what"
		target "$targets/sandboxed"
		echo "$pid" >"$group/cgroup.procs"
		LATE_AT=$at LATE_REQUEST=${request:-24} LATE_FILE=$group/$3 \
		    LATE_TEXT=$4 LD_PRELOAD=$BUILD/tests/live/late.so \
		    "$BUILD/snap" "$flags" -o "$tmp/snap" "$pid" 2>"$tmp/err"
		ok "$((! $(grep -c ^snap: "$tmp/err")))" "$how, $what: a message"
		echo "$5" >"$group/$3"
		unnoticed "$pid" "$how, $what: runs on"
	done
	until_true rmdir "$group"
}

frozen 'version 1' cgroup freezer.state FROZEN THAWED
frozen 'version 2' cgroup2 cgroup.freeze 1 0
finish 16
