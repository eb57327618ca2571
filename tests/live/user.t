#!/usr/bin/env bash
# Without privilege: one's own processes, and clear messages about others.
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
	# no call can be injected when the first thread has ended
	[ "$what" != leader ] || observe=-n
	snap $observe -r -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "0 " "$what: taken"
	if [ "$what" = fds ]; then
		echo "absent none 0x1000 4096" >>"$lines"
	fi
	check "$tmp/pub/snap" "$pid" "$what: memory matches" -o
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: not noticed"
done

target "$targets/filemap" "$tmp/pub/data"
snap -o "$tmp/pub/snap" "$pid"
check "$tmp/pub/snap" "$pid" "data file: memory matches"
snap -a -o "$tmp/pub/snap" "$pid"
check "$tmp/pub/snap" "$pid" "data file with -a: memory matches" -a
rm "$tmp/pub/data"
snap -a -o "$tmp/pub/snap" "$pid"
check "$tmp/pub/snap" "$pid" "deleted data file: memory matches"
resident "$pid" >"$tmp/before"
snap -a -o "$tmp/pub/snap" "$pid"
resident "$pid" >"$tmp/after"
try "deleted data file: same resident set" diff "$tmp/before" "$tmp/after"

snap -o "$tmp/pub/other" "$foreign"
is "$rc $err" "1 snap: process ${foreign/#[0-9]*/N} belongs to root: run as root, or as that user: left out
snap: nothing to take a snapshot of" \
    "another user's process is refused" || diag <"$tmp/err"
snap "$foreign" >"$tmp/out"
snap 2147483647 >>"$tmp/out"
is "$rc $(stat -c %s "$tmp/out")" "1 0" \
    "no process: nothing is written"
if "${as[@]}" unshare --user -r true 2>/dev/null; then
	"${as[@]}" unshare --user -r "${snap:-$BUILD/snap}" "$foreign" \
	    2>&1 >"$tmp/out" | head -1 >"$tmp/err"
	is "$(cat "$tmp/err")" "snap: process $foreign is outside of your user \
namespace: run as root outside of that namespace, or as the user of the process: \
left out" "root of a user namespace: another user's process"
else
	skip "root of a user namespace" "the user cannot create one"
fi
snap -o "$tmp/pub/other" "$pid" "$foreign"
is "$rc" 1 "one's own and another user's: exit status 1"
let_go "$pid" "one's own: released"
check "$tmp/pub/other" "$pid" "one's own: taken"
rm "$tmp/pub/other"
if [ "$foreign" -ne 1 ]; then
	snap -o "$tmp/pub/other" foreign
	is "$rc ${err%% is called*}" "1 snap: no process of yours" \
	    "by name: not another user's" || diag <"$tmp/err"
fi

# A process that is not dumpable.
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
    "a process that is not dumpable is refused"
unnoticed "$pid" "a process that is not dumpable: not noticed"

# An IPC namespace that the user may not enter.
what='an IPC namespace that cannot be entered is recorded'
if "${as[@]}" unshare --user --ipc true 2>/dev/null; then
	target unshare --user --ipc "$targets/anon"
	snap -r -o "$tmp/pub/snap" "$pid"
	is "$rc $err $(grep -ac 'its IPC namespace: Operation not permitted' \
	    "$tmp/pub/snap")" '0  1' "$what"
else
	skip "$what" 'this user cannot create namespaces'
fi

snap -o "$tmp/none" 2147483647
is "$rc $err" "1 snap: TMP/none: Permission denied" \
    "another user's directory is refused"
finish 47
