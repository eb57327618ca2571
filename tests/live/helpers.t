#!/usr/bin/env bash
# snap does not capture itself or a guard, its own or that of another snap, with
# the processes that started it.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

# a copy for this test alone, so that its processes can be found
cp "$BUILD/snap" "$tmp/snap"
mine() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$tmp/snap*" 2>/dev/null |
	    cut -d / -f 3
}
nothing_left() {
	[ -z "$(mine)" ]
}

# Capture the shell that started snap.
# shellcheck disable=SC2016 # its own variables
ancestor='"$0" -lr -o "$1/out" $$ 2>"$1/err"
echo $? $(sed "s/[1-9][0-9]*/N/" "$1/err")
for i in 1 2 3 4 5; do
	grep -ls "^State:.Z" /proc/[0-9]*/status | while IFS=/ read -r _ _ p _; do
		grep -qs "^PPid:.$$\$" "/proc/$p/status" && echo zombie
	done
	sleep 0.1
done | sort -u'
is "$(bash -c "$ancestor" "$tmp/snap" "$tmp")" \
    "1 snap: process N is this program itself: left out" "ancestor: taken"
until_true nothing_left
ok $? "ancestor: no guard is left"
is "$("$BUILD/snapls" "$tmp/out" | grep -c snap-guard)" 0 \
    "ancestor: the guard is not in the snapshot"

# Capture the first process of a PID namespace, which would inherit the guard.
if is_root && unshare -pf --mount-proc true 2>/dev/null; then
	is "$(timeout 60 unshare -pf --mount-proc --kill-child bash -c \
	    "$ancestor" "$tmp/snap" "$tmp")" \
	    "1 snap: process N is this program itself: left out" "init: taken"
	until_true nothing_left
	ok $? "init: no guard is left"
else
	skip "init" "needs root" 2
fi

# The guard of another snap, which waits because nobody reads its output.
target "$targets/compute" wait
mkfifo "$tmp/full"
sleep 100 <>"$tmp/full" &
bash -c '"$0" -l "$1" >"$2"; :' "$tmp/snap" "$pid" "$tmp/full" 2>/dev/null &
shell=$!
guard() {
	local p

	for p in $(mine); do
		if [ "$(cat "/proc/$p/comm")" = snap-guard ]; then
			echo "$p"
			return
		fi
	done
	return 1
}
has_clone() {
	[ -n "$(cat "/proc/$pid/task/$pid/children")" ]
}
until_true guard
until_true has_clone
other=$(guard)
snap=$tmp/snap
snap -lr -o "$tmp/out" "$shell"
is "$rc $err" "0 snap: process N is a guard process of snap: left out" \
    "another's guard: left out"
is "$("$BUILD/snapls" "$tmp/out" | grep -c snap-guard)" 0 \
    "another's guard: not in the snapshot"
snap -l -o "$tmp/out" "$other"
is "$rc $err" "1 snap: process N is a guard process of snap: left out
snap: nothing to take a snapshot of" "another's guard: refused by ID"
kill -KILL "$(tr -d ' ' <"/proc/$shell/task/$shell/children")"
until_true nothing_left
ok $? "another's guard: ends with its snap"
! has_clone
ok $? "another's guard: removes the clone"
unnoticed "$pid" "another's guard: not noticed by its process"
for p in $(mine); do
	kill -KILL "$p"
done
finish 11
