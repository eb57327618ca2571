#!/usr/bin/env bash
# The capabilities named in snap-security(7) suffice for processes of another
# user, and none of them can be omitted.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	echo "1..0 # skip: only root may give and take capabilities"
	exit 0
fi
as_nobody
cd "$tmp/pub" || exit 1

# with CAPABILITIES ARG ...: run snap as nobody with only these capabilities.
# The bounding set is limited as well, so that snap cannot regain others.
with() {
	local set=-all c flag

	for c in $1; do
		set=$set,+$c
	done
	shift
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups
	    --inh-caps="$set" --ambient-caps="$set" --bounding-set="$set")
	rm -f snap
	patience=20 snap -o "$tmp/pub/snap" "$@"
}
daemon() {
	as=(setpriv --reuid=1 --regid=1 --clear-groups)
	target "$@"
	as=(env)
}

cp "$targets/pair" "$tmp/bin/hidden"
chmod 711 "$tmp/bin/hidden"
smallest="sys_ptrace dac_read_search"
for what in pair hidden; do
	daemon "$targets/$what"
	for flag in -n -a -l; do
		with "$smallest" $flag "$pid"
		is "$rc $err" "0 " "$what, snap $flag: complete"
		check snap "$pid" "$what, snap $flag: memory matches"
	done
	is "$(cat "/proc/$pid/task/$pid/children")" "" "$what: no clone is left"

	with sys_ptrace -l "$pid"
	is "$rc $err" "1 snap: process N belongs to another user, or is not dumpable: CAP_DAC_READ_SEARCH is needed in addition to CAP_SYS_PTRACE: left out
snap: nothing to take a snapshot of" "$what: needs CAP_DAC_READ_SEARCH"
	with dac_read_search -l "$pid"
	is "$rc $(tail -n 1 <<<"$err")" \
	    "1 snap: nothing to take a snapshot of" \
	    "$what: needs CAP_SYS_PTRACE"
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: not noticed"
done

# under a filter, where injected calls need CAP_SYS_ADMIN
daemon "$targets/jailed"
with "$smallest sys_admin" -l "$pid"
is "$rc $err" "0 " "seccomp, with CAP_SYS_ADMIN: complete"
with "$smallest" -l "$pid"
is "$rc $err" "0 snap: process N cannot be cloned: its seccomp(N) filters cannot be suspended: all processes stay stopped until everything is written" \
    "seccomp, without CAP_SYS_ADMIN: a message"
check snap "$pid" "seccomp, without CAP_SYS_ADMIN: memory matches"
unnoticed "$pid" "seccomp: not noticed"
finish 26
