#!/usr/bin/env bash
# Families of processes: shared memory is in the snapshot once, and families
# that fork all the time are captured.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# raw FILE: print the raw kilobytes of a snapshot
raw() {
	"$BUILD/snapls" -j "$1" | sed -n \
	    's/^{"type":"snapshot".*"raw":\([0-9]*\),.*/\1/p' |
	    awk '{ print $1 / 1024 }'
}

# private PID: print the kilobytes of a process's private memory
private() {
	awk '/^Private/ { n += $2 } END { print n + 0 }' \
	    "/proc/$1/smaps_rollup"
}

target "$targets/cow"
child=$(sed -n 's/^of //p' "$lines" | head -1)
before=$(private "$child")
snap -nr -o "$tmp/all" "$pid"
check "$tmp/all" "$pid" "copy-on-write: memory of all matches with -n"
# to read a shared page must not give anyone a copy of it
is "$(private "$child")" "$before" "copy-on-write: shared memory stays shared"
snap -o "$tmp/one" "$pid"
check_one=$(raw "$tmp/one")
snap -r -o "$tmp/all" "$pid"
is "$rc $err" "0 " "copy-on-write: taken"
check "$tmp/all" "$pid" "copy-on-write: memory of all matches"
snap -r -o "$tmp/all" "$pid"
# an injected call must not either, except for a stack page on which it is
# prepared
more=$(($(private "$child") - before))
ok $((more < 0 || more > 4)) "copy-on-write: at most one page more" ||
    echo "# $more KB more"
is "$("$BUILD/snapls" "$tmp/all" | awk '$1 == "total" { print $2 }')" 5 \
    "copy-on-write: all are found"
# four children: 16 KB each changed, and a little of their own
more=$(($(raw "$tmp/all") - check_one))
ok $((more < 16 || more > 4 * 256)) "copy-on-write: pages are stored once" ||
    echo "# $check_one, $more more"
while read -r p; do
	let_go "$p" "copy-on-write: child released"
done < <(sed -n 's/^of //p' "$lines")
unnoticed "$pid" "copy-on-write: not noticed"

n=$(often 20)
# A thread in vfork(2) stops only when its child has called execve(2).
for arg in "" execve vfork; do
	what="forks all the time${arg:+, with $arg}"
	target "$targets/forks" $arg
	bad=0
	for ((i = 0; i < n; i++)); do
		snap -r -o "$tmp/snap" "$pid"
		# only zombies and processes without a C library may be reported
		if grep -vE 'is a zombie|no instructions for' "$tmp/err" >"$tmp/other" ||
		    [ ! -e "$tmp/snap" ]; then
			bad=$((bad + 1))
			diag <"$tmp/other"
		fi
	done
	is "$bad" 0 "$what: taken"
	check "$tmp/snap" "$pid" "$what: memory matches"
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: not noticed"
done

# Descendants of descendants, by a shell.
cat >"$tmp/leaf.sh" <<'EOF'
sleep 1000 &
echo $! >"$1"
wait
EOF
cat >"$tmp/tree.sh" <<'EOF'
sh -c 'sh "$0/leaf.sh" "$0/leaf"; :' "$1" &
until [ -s "$1/leaf" ]; do sleep 0.05; done
echo ready
read -r x
kill "$(cat "$1/leaf")"
wait
echo report none 0
EOF
target sh "$tmp/tree.sh" "$tmp"
snap -r -o "$tmp/snap" "$pid"
"$BUILD/snapls" "$tmp/snap" >"$tmp/list"
ok $(($(awk '$1 == "total" { print $2 }' "$tmp/list") < 4)) \
    "descendants of descendants are found" || diag <"$tmp/list"
awk -v p="$(cat "$tmp/leaf")" '$1 == p' "$tmp/list" | grep -q sleep
ok $? "the last descendant is found"
unnoticed "$pid" "a shell's family: not noticed"
finish 27
