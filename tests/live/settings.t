#!/usr/bin/env bash
# If a system's settings forbid something, a message says what helps, and what
# they allow works: Yama, perf_event_paranoid, hugetlbfs, user namespaces,
# /dev/fuse for everybody.  They are changed only on a machine of our own.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	skip "settings" "needs root"
	finish 1
fi
programs=$BUILD
as_nobody
cd "$tmp/pub" || exit 1
sys=/proc/sys
declare -A was

# have PATH NUMBER: succeed if a setting has this value, or can be given it
have() {
	local path=$sys/$1

	[ -e "$path" ] || return 1
	if [ "$(cat "$path")" != "$2" ]; then
		[ -n "${VM-}" ] || return 1
		was[$path]=${was[$path]-$(cat "$path")}
		echo "$2" >"$path" && [ "$(cat "$path")" = "$2" ]
	fi 2>/dev/null
}
leave() {
	local path

	if [ "$BASHPID" -eq $$ ]; then
		for path in "${!was[@]}"; do
			echo "${was[$path]}" >"$path"
		done
	fi
	cleanup
}
trap leave EXIT

# A process of the user that snap has not started.
for scope in 1 2; do
	if ! have kernel/yama/ptrace_scope "$scope"; then
		skip "Yama, scope $scope" "this machine has another" 3
		continue
	fi
	target "$targets/anon"
	snap -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "1 snap: process N: kernel.yama.ptrace_scope is N: \
run as root, or set it to 0: left out
snap: nothing to take a snapshot of" "Yama, scope $scope: says what helps" ||
	    diag <"$tmp/err"
	user=("${as[@]}")
	as=(env)
	snap -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "0 " "Yama, scope $scope: root takes it"
	as=("${user[@]}")
	unnoticed "$pid" "Yama, scope $scope: not noticed"
done
have kernel/yama/ptrace_scope 0

cp "$programs/vmtrace" "$programs/snapfs" "$tmp/bin"
if have kernel/perf_event_paranoid 3; then
	timeout 20 "${as[@]}" "$tmp/bin/vmtrace" -n 1 true >"$tmp/out" 2>&1
	is "$? $(cat "$tmp/out")" "1 vmtrace: perf_event_open: Permission \
denied: perf_event_paranoid is 3: CAP_PERFMON or a value of 2 is needed" \
	    "perf_event_paranoid 3: says what helps"
else
	skip "perf_event_paranoid 3" "this machine has another"
fi

# As many pages as the target needs: none is left for a copy.
have vm/nr_hugepages 4
target "$targets/hugepages"
if grep -q '^lacks' "$lines"; then
	skip "hugetlbfs" "vm.nr_hugepages is too small" 4
	unnoticed "$pid" "hugetlbfs: a target without"
else
	for mode in -l -s; do
		snap "$mode" -o "$tmp/pub/snap" "$pid"
		is "$rc $err" "0 " "hugetlbfs, $mode: taken"
		check "$tmp/pub/snap" "$pid" "hugetlbfs, $mode: memory matches"
	done
	unnoticed "$pid" "hugetlbfs: not noticed"
fi

# A process in a user namespace of its own, captured by its user and by root.
if "${as[@]}" unshare -Ur true 2>/dev/null; then
	target unshare -Ur "$targets/anon"
	for who in user root; do
		user=("${as[@]}")
		[ "$who" = user ] || as=(env)
		rm -f "$tmp/pub/snap"
		snap -o "$tmp/pub/snap" "$pid"
		is "$rc $err" "0 " "user namespace, by $who: taken"
		check "$tmp/pub/snap" "$pid" "user namespace, by $who: memory"
		as=("${user[@]}")
	done
	unnoticed "$pid" "user namespace: not noticed"
else
	skip "user namespace" "users may not make any" 5
fi

# Only the user who mounts a snapshot can see it.
target "$targets/anon"
snap -o "$tmp/pub/mine" "$pid"
mnt=$tmp/mnt
mkdir "$mnt"
chown 65534 "$mnt"
if "${as[@]}" test -w /dev/fuse && [ -u "$(command -v fusermount3)" ]; then
	timeout 20 "${as[@]}" "$tmp/bin/snapfs" "$tmp/pub/mine" "$mnt" \
	    >"$tmp/out" 2>&1
	is "$? $(cat "$tmp/out")" "0 " "/dev/fuse, as a user: mounted"
	is "$("${as[@]}" ls "$mnt" 2>&1)" "$pid" "/dev/fuse, as a user: listed"
	"${as[@]}" cat "$mnt/$pid/text" 2>&1 | cmp - "$targets/anon" 2>&1
	is "${PIPESTATUS[*]}" "0 0" "/dev/fuse, as a user: read"
	ls "$mnt" >/dev/null 2>&1
	is $? 2 "/dev/fuse, as a user: not listed for root"
	try "/dev/fuse, as a user: unmounted" "${as[@]}" fusermount3 -u "$mnt"
else
	skip "/dev/fuse, as a user" "/dev/fuse may not be used" 5
fi
unnoticed "$pid" "/dev/fuse, as a user: not noticed"
finish 23
