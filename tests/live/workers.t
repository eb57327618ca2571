#!/usr/bin/env bash
# Workers share nearly all of their memory: one clone suffices for them, and the
# memory of each is captured.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# clones: print how many clones the workers have in all
clones() {
	local p

	for p in "$pid" "${worker[@]}"; do
		cat "/proc/$p/task/$p/children"
	done | tr ' ' '\n' | grep -vxF "$(printf '%s\n' "${worker[@]}")" |
	    grep -c .
}

# begin ARG ...: start a snapshot to a pipe that is not read yet
begin() {
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	"$BUILD/snap" "$@" >"$tmp/fifo" 2>"$tmp/err" &
	snapper=$!
	exec 9<"$tmp/fifo"
	# the processes run again when their records are written
	head -c 20000 <&9 >"$tmp/snap"
}

# end: read the rest
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
# only root may see which pages are shared, and only with PAGEMAP_SCAN
if is_root && release_from 6.7; then
	is "$(clones)" 3 "three clones: two workers differ too much"
else
	ok 0 "a clone each: shared pages are not known"
fi
kill -USR1 "$pid" "${worker[@]}"
until_true eval '[ "$(grep -c "^spoilt" "$lines")" -eq 9 ]'
end
is "$rc $err" "0 " "they are captured while they write to shared pages"
check "$tmp/snap" "$pid" "the memory of all is that of one instant"
for p in "${worker[@]}"; do
	let_go "$p" "a worker is released"
done

unnoticed "$pid" "not noticed"
finish 13
