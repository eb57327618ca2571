#!/usr/bin/env bash
# snap has processes clone themselves at the same time if they share no memory.
# No clone is left if snap is killed in between.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

if ! strace -qq -e trace=none true 2>/dev/null; then
	skip_all "no strace, or it may not trace"
fi

# calls ARG...: run snap; write its calls of ptrace(2) to $tmp/calls
calls() {
	strace -qq -o "$tmp/calls" -e trace=ptrace "$BUILD/snap" \
	    -o "$tmp/snap" "$@" 3>&- 2>"$tmp/err"
}

# begun: print how many had begun to clone themselves when the first was cloned
begun() {
	sed '/PTRACE_GETEVENTMSG/,$d' "$tmp/calls" | grep -c TRACECLONE
}

target "$targets/sharer"
calls -r "$pid"
is "$(grep -c PTRACE_GETEVENTMSG "$tmp/calls") $(begun)" "2 1" \
    "shared memory: they clone one after another"
unnoticed "$pid" "shared memory: not noticed"

target "$targets/cow"
all="$pid $(sed -n 's/^of //p' "$lines" | tr '\n' ' ')"
calls -r "$pid"
is "$(grep -c PTRACE_GETEVENTMSG "$tmp/calls")" 5 "each process has a clone"
ok $(($(begun) < 2)) "several clone themselves at once" || diag <"$tmp/calls"
check "$tmp/snap" "$pid" "several at once: memory of all"

# Kill snap when some have a clone, some have begun, and some have not begun.
children() {
	for p in $all; do
		cat "/proc/$p/task/$p/children"
	done | wc -w
}
all_reaped() {
	[ "$(children)" -eq 4 ]
}
at=$(grep -n -m 1 TRACECLONE "$tmp/calls" | cut -d : -f 1)
end=$(grep -n PTRACE_GETEVENTMSG "$tmp/calls" | tail -n 1 | cut -d : -f 1)
n=$(often 12)
bad=
for ((i = 0; i < n; i++)); do
	when=$((at + (end - at) * i / (n - 1)))
	strace -qq -o "$tmp/killed" -e trace=ptrace \
	    -e "inject=ptrace:signal=KILL:when=$when" \
	    "$BUILD/snap" -r -o "$tmp/snap" "$pid" 3>&- 2>/dev/null
	until_true all_reaped || bad="$bad $when"
done 2>/dev/null
is "$bad" "" "snap killed meanwhile: no clone is left"
for p in $all; do
	let_go "$p" "snap killed meanwhile: released"
done
unnoticed "$pid" "snap killed meanwhile: not noticed"
finish 12
