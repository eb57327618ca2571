#!/usr/bin/env bash
# Crashes of unusual processes, such as any user can make, and what users who
# are not root see of them.
# beside: crash unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config "readable-by user"
crash install
is "$rc $err" "0 " "installed"
# falls_as NAME COMMAND ...: crash a program whose snapshots are NAME.*: $id
falls_as() {
	local n

	n=$(find "$store" -name "$1.*.snap.gz" | wc -l)
	target "${@:2}"
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	until_true taken "$1" $((n + 1))
	# shellcheck disable=SC2012 # of names that we made
	id=$(cd "$store" && ls -t "$1."*.gz 2>/dev/null | head -n 1)
}

falls_as fall "$targets/fall" segv 1000
try "1000 threads: whole" whole "$id"
is "$("$BUILD/snapls" -no THREADS "$store/$id" |
    tr -d ' ')" 1001 "1000 threads: all are in the snapshot"

# a name with a newline, a format and a blank
odd=$tmp/$'a\n%P b'
cp "$targets/fall" "$odd"
falls_as "a__P_b" "$odd" segv 0
try "an odd name: taken" whole "$id"
crash list "$id"
is "$(wc -l <"$tmp/out")" 2 "an odd name: list prints it on one line"

# limits of the process do not apply to snapcrash
# shellcheck disable=SC2016 # of the shell that becomes the target
falls_as fall prlimit --fsize=4000:4000 --nofile=64:64 --cpu=99:99 \
    sh -c 'echo 0 >/proc/self/coredump_filter && exec "$@"' - \
    "$targets/fall" segv 3
try "limits of its own: whole" whole "$id"
gunzip -c "$store/$id" >"$tmp/x.snap"
try "limits of its own: memory matches" python3 "$tests/live/check.py" \
    "$tmp/x.snap" "$pid" "${lines_of[$pid]}"

# files are found through the process, not by their names
mkdir -p "$tmp/root/bin"
cp "$targets/fall" "$tmp/root/bin/rooted"
ldd "$targets/fall" | grep -o '/[^ ]*' | while read -r f; do
	mkdir -p "$tmp/root$(dirname "$f")"
	cp "$f" "$tmp/root$f"
done
falls_as rooted chroot "$tmp/root" /bin/rooted segv 0
try "another root: taken" whole "$id"
if [ -x "$BUILD/snapstack" ]; then
	crash stack "$id"
	try "another root: the stack is of its own program" \
	    grep -q '^ *#0 .*main.*fall.c' "$tmp/out"
else
	skip "another root: the stack is of its own program" "no snapstack"
fi

# a container: its files have other names outside
mkdir "$tmp/root/proc"
n=$("$BUILD/snapls" "$store/$id" | wc -l)
falls_as rooted unshare -fpmnui --kill-child -R "$tmp/root" --mount-proc \
    /bin/rooted segv 3
try "a container: whole" whole "$id"
is "$("$BUILD/snapls" "$store/$id" | wc -l)" "$n" \
    "a container: snapls prints as many lines"
rm -r "$tmp/root"

# a terabyte with one page in use
cat >"$tmp/vast.py" <<'END'
import ctypes, mmap, os, sys
m = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS |
              getattr(mmap, "MAP_NORESERVE", 0x4000))
m[1 << 39] = 1
print("ready", flush=True)
sys.stdin.read(1)
os.abort()
END
python=$(readlink -f "$(command -v python3)")
name=$(basename "$python" | tr . _)
falls_as "$name" "$python" "$tmp/vast.py"
try "a terabyte: whole" whole "$id"
ok $(($(stat -c %s "$store/$id") > 30000000)) "a terabyte: the file is small" ||
    stat -c %s "$store/$id" | diag

# a process is killed while it waits to be captured
until_true none_runs
workers=()
for i in 0 1 2 3; do
	as_worker "$store/.taking.$i"
	workers+=("$worker")
done
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
until_true is_held "$store/.waiting.0"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
kill "${workers[@]}"
wait "${workers[@]}" 2>/dev/null
until_true none_runs
ok $? "killed while it waits: no handler is left"
is "$(find "$store" -name "fall.$pid.*")" "" \
    "killed while it waits: not listed"

# a crash at different moments of a snapshot.  Seizing 1000 threads takes 20 ms,
# in snap and in its guard
lost=0 bad=0
for ((i = 0; i < 10; i++)); do
	target "$targets/fall" segv 1000
	"$BUILD/snap" -o "$tmp/x.snap" "$pid" >"$tmp/out" 2>&1 3>&- &
	snap=$!
	sleep "$(printf 0.%03d $((i * 20)))"
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	if wait "$snap"; then
		"$BUILD/snapls" -c "$tmp/x.snap" >"$tmp/out" 2>&1 ||
		    bad=$((bad + 1))
	fi
	until_true none_runs
	id=$(cd "$store" && echo "fall.$pid."*)
	whole "$id" || lost=$((lost + 1))
done
is "$lost $bad" '0 0' "a crash during a snapshot: both are whole"

# by default a set-user-ID program dumps no core (proc(5), suid_dumpable)
nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
cp "$targets/fall" "$tmp/pub/setuid"
chmod u+s "$tmp/pub/setuid"
if [ "$(cat /proc/sys/fs/suid_dumpable)" = 0 ]; then
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	target "$tmp/pub/setuid" segv 0
	as=(env)
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	until_true none_runs
	is "$(find "$store" -name "setuid.*")" "" "set-user-ID: no snapshot"
else
	skip "set-user-ID" "suid_dumpable is not 0"
fi

# access to crashes by their user and by others
if ! touch "$tmp/acl" || ! python3 -c 'import os, struct, sys
e = [(1, 6, -1 & 0xffffffff), (2, 4, 65534), (4, 0, 0xffffffff),
     (16, 4, 0xffffffff), (32, 0, 0xffffffff)]
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) +
            b"".join(struct.pack("<HHI", *x) for x in e))' "$tmp/acl" \
    2>/dev/null; then
	skip "as the user" "this file system has no ACLs" 7
else
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	falls "$targets/fall" segv 3
	as=(env)
	if until_true readable; then
		mkdir "$tmp/own"
		cp "$BUILD"/snap* "$tmp/own"
		chmod 755 "$tmp/own"
		chmod 644 "$conf"
		until_true none_runs
		nobody "$tmp/own/snapcrash" -c "$conf" list >"$tmp/out" 2>"$tmp/err"
		is "$? $(cat "$tmp/err") $(awk -v p="$pid" '$3 == p {
		    print $5, $8 }' "$tmp/out")" "0  SEGV fall" \
		    "as the user: list shows details of their crash"
		is "$(awk '$5 == "-"' "$tmp/out" | wc -l)" \
		    "$(($(wc -l <"$tmp/out") - 2))" \
		    "as the user: list shows only names of others"
		other=$(cd "$store" && echo rooted.*.gz)
		nobody "$tmp/own/snapcrash" -c "$conf" info "$other" \
		    >"$tmp/out" 2>&1
		is "$?" 1 "as the user: info of others is refused"
		if [ -x "$tmp/own/snapstack" ]; then
			nobody "$tmp/own/snapcrash" -c "$conf" stack "$id" \
			    >"$tmp/out" 2>&1
			try "as the user: stack" grep -q 'main' "$tmp/out"
		else
			skip "as the user: stack" "no snapstack"
		fi
		if command -v gdb fusermount3 >/dev/null && [ -c /dev/fuse ]; then
			# with the mode that udev(7) sets
			mknod -m 666 "$tmp/own/fuse" c 10 229
			unshare -m sh -c "cd / &&
			    mount --bind '$tmp/own/fuse' /dev/fuse &&
			    exec \"\$@\"" - setpriv --reuid 65534 \
			    --regid 65534 --clear-groups "$tmp/own/snapcrash" \
			    -c "$conf" debug "$id" -- "${gdb[@]:1}" -ex bt \
			    >"$tmp/out" 2>&1
			try "as the user: gdb" grep -q '^#0 .* main (' "$tmp/out"
		else
			skip "as the user: gdb" "no gdb, or no FUSE"
		fi
		# capabilities that its user does not have: capabilities(7)
		as=(setpriv --reuid 65534 --regid 65534 --clear-groups
		    --inh-caps +net_raw --ambient-caps +net_raw)
		falls "$targets/fall" segv 3
		as=(env)
		until_true none_runs
		is "$(find "$store" -name "$id" -perm 600 -printf yes)" yes \
		    "with capabilities: only root may read it"
		# but capabilities in a namespace of its own do not count
		if nobody unshare -Ur true; then
			falls_as fall setpriv --reuid 65534 --regid 65534 \
			    --clear-groups unshare -Urf "$targets/fall" segv 3
			until_true readable
			ok $? "with capabilities in its namespace: readable"
		else
			skip "with capabilities in its namespace: readable" \
			    "no user namespaces"
		fi
	else
		skip "as the user" "the kernel gives no descriptor" 7
	fi
fi

crash remove
is "$rc $err" "0 " "removed"
finish 25
