#!/usr/bin/env bash
# Neither snap itself nor a guard, its own or another's, is taken along with
# those that started it.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

# a program of this test alone, so that its processes are known
cp "$BUILD/snap" "$tmp/snap"
mine() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$tmp/snap*" 2>/dev/null |
	    cut -d / -f 3
}
nothing_left() {
	[ -z "$(mine)" ]
}

# Of who started it.
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
    "ancestor: the guard is not taken"

# Of the first process of a namespace, which its guard would be left to.
if is_root && unshare -pf --mount-proc true 2>/dev/null; then
	is "$(timeout 60 unshare -pf --mount-proc --kill-child bash -c \
	    "$ancestor" "$tmp/snap" "$tmp")" \
	    "1 snap: process N is this program itself: left out" "init: taken"
	until_true nothing_left
	ok $? "init: no guard is left"
else
	skip "init" "needs root" 2
fi

# Another's, which waits while nobody reads what that writes.
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
    "another's guard: left out of all"
is "$("$BUILD/snapls" "$tmp/out" | grep -c snap-guard)" 0 \
    "another's guard: is not taken"
snap -l -o "$tmp/out" "$other"
is "$rc $err" "1 snap: process N is a guard process of snap: left out
snap: nothing to take a snapshot of" "another's guard: said when it is named"
kill -KILL "$(tr -d ' ' <"/proc/$shell/task/$shell/children")"
until_true nothing_left
ok $? "another's guard: ends when it is to"
! has_clone
ok $? "another's guard: did its work"
unnoticed "$pid" "another's guard: its process did not notice"
for p in $(mine); do
	kill -KILL "$p"
done
finish 11
