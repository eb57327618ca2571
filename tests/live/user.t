#!/usr/bin/env bash
# Without privilege: one's own processes, and clear words about others.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if is_root; then
	cp "$(type -P sleep)" "$tmp/foreign"
	"$tmp/foreign" 1000 &
	foreign=$!
	as_nobody
else
	foreign=1
fi
cd "$tmp/pub" || exit 1

for what in anon sparse manymaps "shared" cow threads leader fds; do
	target "$targets/$what"
	observe=
	# nothing can be run in one whose first thread has ended
	[ "$what" != leader ] || observe=-n
	snap $observe -r -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "0 " "$what: taken"
	if [ "$what" = fds ]; then
		echo "absent none 0x1000 4096" >>"$lines"
	fi
	check "$tmp/pub/snap" "$pid" "$what" -o
	let_go "$pid" "$what: let go"
	unnoticed "$pid" "$what: not noticed"
done

target "$targets/filemap" "$tmp/pub/data"
snap -o "$tmp/pub/snap" "$pid"
check "$tmp/pub/snap" "$pid" "data file"
snap -a -o "$tmp/pub/snap" "$pid"
check "$tmp/pub/snap" "$pid" "data file with -a" -a
rm "$tmp/pub/data"
snap -a -o "$tmp/pub/snap" "$pid"
check "$tmp/pub/snap" "$pid" "deleted data file"
resident "$pid" >"$tmp/before"
snap -a -o "$tmp/pub/snap" "$pid"
resident "$pid" >"$tmp/after"
try "deleted data file: resident set" diff "$tmp/before" "$tmp/after"

snap -o "$tmp/pub/other" "$foreign"
is "$rc $err" "1 snap: process ${foreign/#[0-9]*/N} belongs to root: run as root, or as that user: left out
snap: nothing to take a snapshot of" \
    "another's process" || diag <"$tmp/err"
snap "$foreign" >"$tmp/out"
snap 2147483647 >>"$tmp/out"
is "$rc $(stat -c %s "$tmp/out")" "1 0" \
    "nothing is written where there is nothing to write"
if "${as[@]}" unshare --user -r true 2>/dev/null; then
	"${as[@]}" unshare --user -r "${snap:-$BUILD/snap}" "$foreign" \
	    2>&1 >"$tmp/out" | head -1 >"$tmp/err"
	is "$(cat "$tmp/err")" "snap: process $foreign is outside of your user \
namespace: run as root outside of that namespace, or as the user of the process: \
left out" "root of a user namespace: another's process"
else
	skip "root of a user namespace" "nobody can make one"
fi
snap -o "$tmp/pub/other" "$pid" "$foreign"
is "$rc" 1 "one's own and another's"
let_go "$pid" "one's own: let go"
check "$tmp/pub/other" "$pid" "one's own: taken"
rm "$tmp/pub/other"
if [ "$foreign" -ne 1 ]; then
	snap -o "$tmp/pub/other" foreign
	is "$rc ${err%% is called*}" "1 snap: no process of yours" \
	    "by name: not another's" || diag <"$tmp/err"
fi

# A process that does not want to be looked at.
cat >"$tmp/pub/hide.pl" <<'EOF'
# prctl(PR_SET_DUMPABLE, 0)
syscall(157, 4, 0, 0, 0, 0);
$| = 1;
print "ready\n";
<STDIN>;
print "report none 0\n";
EOF
target perl "$tmp/pub/hide.pl"
snap -o "$tmp/pub/other" "$pid"
is "$rc $err" "1 snap: process N is not dumpable (set-user-ID, or prctl(N)): run as root: left out
snap: nothing to take a snapshot of" \
    "a process that is not dumpable"
unnoticed "$pid" "a process that is not dumpable: not noticed"

# An IPC namespace that is not ours to enter.
what='what cannot be had of an IPC namespace is told'
if "${as[@]}" unshare --user --ipc true 2>/dev/null; then
	target unshare --user --ipc "$targets/anon"
	snap -r -o "$tmp/pub/snap" "$pid"
	is "$rc $err $(grep -ac 'its IPC namespace: Operation not permitted' \
	    "$tmp/pub/snap")" '0  1' "$what"
else
	skip "$what" 'this user can make no namespaces'
fi

snap -o "$tmp/none" 2147483647
is "$rc $err" "1 snap: TMP/none: Permission denied" "a directory of others"
finish 47
