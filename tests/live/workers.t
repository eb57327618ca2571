#!/usr/bin/env bash
# Workers that have nearly all of their memory in common: one clone does for
# those, and of each is taken what it has.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# How many children each worker has, one after another.
clones() {
	local p

	for p in "$pid" "${worker[@]}"; do
		cat "/proc/$p/task/$p/children"
	done | tr ' ' '\n' | grep -vxF "$(printf '%s\n' "${worker[@]}")" |
	    grep -c .
}

# Begin a snapshot that is written to a pipe which is not read for now.
begin() {
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	"$BUILD/snap" "$@" >"$tmp/fifo" 2>"$tmp/err" &
	snapper=$!
	exec 9<"$tmp/fifo"
	# they run again when it begins with processes
	head -c 20000 <&9 >"$tmp/snap"
}

# Read the rest.
end() {
	cat <&9 >>"$tmp/snap"
	exec 9<&-
	wait "$snapper"
	rc=$?
	err=$(<"$tmp/err")
}

target "$targets/workers"
mapfile -t worker < <(sed -n 's/^of //p' "$lines" | grep -vx "$pid")
is "${#worker[@]}" 8 "there are workers"

begin -r "$pid"
# which pages are the same only root is told, by what finds pages by itself
if is_root && release_from 6.7; then
	is "$(clones)" 3 "one clone for all, but for two that differ too much"
else
	ok 0 "a clone each: what they share is not told"
fi
kill -USR1 "$pid" "${worker[@]}"
until_true eval '[ "$(grep -c "^spoilt" "$lines")" -eq 9 ]'
end
is "$rc $err" "0 " "they are taken while they write to what they have in common"
check "$tmp/snap" "$pid" "the memory of all is that of one instant"
for p in "${worker[@]}"; do
	let_go "$p" "a worker is let go"
done

unnoticed "$pid" "nothing is noticed"
finish 13
