#!/usr/bin/env bash
# snapcrash is installed and removed, captures crashes, keeps as many as
# allowed, and shows them.
# beside: crash unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin

snapcrash_begin
config "at-once 3" "hook $tmp/hook # for each"
cat >"$tmp/hook" <<END
#!/bin/sh
echo "\$1" >>"$tmp/hooked"
END
chmod 755 "$tmp/hook"

crash status
is "$rc $(head -1 "$tmp/out")" \
    "1 cores are written by the kernel to files named $was" "not installed"
crash list
is "$rc $(cat "$tmp/out")$err" "0 " "an empty list"
crash info
is "$rc $err" "1 snapcrash: no crashes are recorded" "info: no crashes"
crash remove
is "$rc $err" "0 snapcrash: snapcrash is not the core handler \
(kernel.core_pattern is \
\"$was\"); left unchanged" "remove without install changes nothing"
crash install
is "$rc $err" "0 " "installed"
is "$(cat "$proc/core_pattern" "$proc/core_pipe_limit")" \
    "|$BUILD/snapcrash -c$conf take %P %I %s %d %u %F
35" "the kernel runs it, and allows enough at once"
is "$(grep -c "^kernel.core_p" "$tmp/sysctl/50-snapcrash.conf")" 2 \
    "also after a reboot"
crash status
is "$rc $(head -1 "$tmp/out")" "0 cores are handled by snapcrash: at most 3 at \
once, 16 waiting" "status: installed"

# before Linux 6.16 the kernel has nothing for the last argument
crash take $$ $$ 11 1 0 ""
is "$rc $(sed 's/.*: //' "$tmp/err")" "1 process $$ is not dumping core" \
    "a process that does not dump core is refused"

falls "$targets/fall" segv 3
crash list
is "$(awk 'NR == 2 { print $3, $4, $5, $8, $9 }' "$tmp/out")" \
    "$pid root SEGV fall $id" "list shows the crash"
crash -j list
is "$(python3 -c 'import json, sys
c = json.load(sys.stdin)
print(c["pid"], c["signal"], c["threads"], c["executable"])' <"$tmp/out")" \
    "$pid 11 4 $targets/fall" "list -j shows the crash"
crash info "$pid"
try "info shows the signal" grep -q "signal  11, SIGSEGV" "$tmp/out"
is "$(stat -c %a "$store/$id")" 600 "only root may read it"
until_true test -s "$tmp/hooked"
is "$(cat "$tmp/hooked")" "$store/$id" "the hook ran for it"
if command -v gdb >/dev/null && [ -c /dev/fuse ]; then
	crash debug fall -- "${gdb[@]:1}" -ex bt
	try "gdb shows where it crashed" grep -q '^#0 .* main (' "$tmp/out"
	is "$(grep -c snapcrash /proc/mounts)" 0 "nothing stays mounted"
	mounts=$(echo /tmp/snapcrash.??????)
	# shellcheck disable=SC2016 # for the shell that gdb starts
	crash debug fall -- "${gdb[@]:1}" \
	    -ex 'shell kill -HUP $(cut -d " " -f 4 /proc/$PPID/stat)'
	is "$rc $(echo /tmp/snapcrash.??????)" "0 $mounts" \
	    "SIGHUP: the snapshot is unmounted after gdb has ended"
else
	skip "gdb" "no gdb, or no FUSE" 3
fi

# shellcheck disable=SC2046 # many words
crash stack fall -- $(yes -- -a | head -n 70)
is "$rc $err" "2 snapcrash: too many arguments" "too many arguments"
# a program that reads a hostile snapshot can do nothing else
mkdir "$tmp/others"
sleep 1000 &
victim=$!
PROBE_VICTIM=$victim PROBE_DIR=$tmp/others \
    LD_PRELOAD=$BUILD/tests/confine/probe.so "$BUILD/snapcrash" \
    -c "$conf" list 9>"$tmp/report" >"$tmp/out" 2>&1
rc=$?
if "$BUILD/snapcat" -v -o "$tmp/copy" "$store/$id" 2>&1 |
    grep -q 'not confined'; then
	skip "the reader is confined" "the kernel does not confine"
else
	is "$rc $(cat "$tmp/report")" "0 tried" "the reader is confined"
fi
kill "$victim"

# one line in the log has the stack; this one is written to a file
pattern=$(cat "$proc/core_pattern")
cat >"$tmp/logged" <<END
#!/bin/sh
exec ${pattern#?} "\$@" 2>"$tmp/log"
END
sed -i 's/ %P.*"\$@"/ "$@"/' "$tmp/logged"
chmod 755 "$tmp/logged" "$tmp"
echo "|$tmp/logged %P %I %s %d %u %F #$BUILD/snapcrash" >"$proc/core_pattern"
if [ -x "$BUILD/snapstack" ]; then
	falls "$targets/fall" overflow 3
	told() {
		grep -q "process $pid (fall) of user 0 crashed: SIGSEGV \
(Segmentation fault) in deeper+[^ ]* < deeper+.*: $store/$id\$" "$tmp/log"
	}
	until_true told
	try "the log shows the stack" told
	# a crafted program, of 650 MB when unpacked
	mkdir "$tmp/crafted"
	strip -o "$tmp/crafted/fall" "$targets/fall"
	# xz makes one block of 13 MB; repeat it, and write the index of all
	head -c 13000000 /dev/zero | xz -0 >"$tmp/block.xz"
	python3 - "$tmp/block.xz" >"$tmp/bomb.xz" <<'END'
import re, struct, sys, zlib
def summed(data):
    return struct.pack('<I', zlib.crc32(data))
with open(sys.argv[1], 'rb') as file:
    data = file.read()
size = 4 * struct.unpack_from('<I', data, len(data) - 8)[0] + 4
end = len(data) - 12 - size
sizes = re.match(rb'\x00\x01((?:[\x80-\xff]*[\x00-\x7f]){2})', data[end:])[1]
index = b'\0' + bytes([50]) + 50 * sizes
index += bytes(-len(index) % 4)
footer = struct.pack('<I', len(index) // 4) + data[-4:-2]
sys.stdout.buffer.write(data[:12] + 50 * data[12:end] + index +
                        summed(index) + summed(footer) + footer + b'YZ')
END
	objcopy -R .eh_frame -R .eh_frame_hdr \
	    --add-section .gnu_debugdata="$tmp/bomb.xz" "$tmp/crafted/fall"
	falls "$tmp/crafted/fall" near 3
	limited() {
		grep -q '^snapstack: the limit of 512 MiB of memory was' \
		    "$tmp/log" && grep -q ': SIGSEGV .* in ' "$tmp/log"
	}
	TIMEFACTOR=$((5 * TIMEFACTOR)) until_true limited
	try "the log shows the stack of a crafted program" limited
	try "the log marks guesses" grep -q ' in 0x[^ ]* < ?0x' "$tmp/log"
else
	skip "the log shows the stack" "no snapstack" 3
fi
echo "$pattern" >"$proc/core_pattern"

# the user of the process may read its crash
config "at-once 3" "readable-by user"
falls setpriv --reuid 65534 --regid 65534 --clear-groups "$targets/fall" segv 0
if has_acls; then
	until_true readable
	setpriv --reuid 65534 --regid 65534 --clear-groups cat "$store/$id" \
	    >"$tmp/copy"
	ok $? "its user may read a crash"
	setpriv --reuid 65533 --regid 65533 --clear-groups cat "$store/$id" \
	    >"$tmp/copy" 2>/dev/null
	is "$?" 1 "others may not read it"
else
	skip "readable by the user" "this file system has no ACLs" 2
fi

# MADV_DONTDUMP memory is left out unless dontdump is yes; a process that may
# dump no core leaves no crash unless core-limit is no
secret() {
	zcat "$store/$id" | LC_ALL=C grep -c 'nobody may have this'
}
falls "$targets/fall" dontdump 0
try "a crash with MADV_DONTDUMP memory is whole" "$BUILD/snapls" -c "$store/$id"
got=$(secret)
config "dontdump yes"
falls "$targets/fall" dontdump 0
is "$got $(secret)" "0 1" "MADV_DONTDUMP memory is left out by default"
config
target "$targets/fall" nolimit 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true none_runs
is "$(find "$store" -name "fall.$pid.*")" "" "no core allowed: no crash"
config "core-limit no"
falls "$targets/fall" nolimit 0
try "core-limit no captures that" "$BUILD/snapls" -c "$store/$id"

# there is room for the stack and small memory only
config "keep-bytes 4M"
falls "$targets/fall" abort 3
crash info "$id"
try "too little room: memory is missing" grep -q "lacks  [0-9]" "$tmp/out"
"$BUILD/snapcore" -p "$pid" -o "$tmp/core" "$store/$id"
"${gdb[@]}" -ex bt "$targets/fall" "$tmp/core" >"$tmp/out" 2>&1
try "too little room: the stack is there" grep -q '^#[1-9] .* main (' "$tmp/out"

# the oldest crashes are removed
config "keep-count 2"
falls "$targets/fall" segv 0
falls "$targets/fall" segv 0
is "$(find "$store" -name '*.snap.gz' | wc -l) $(find "$store" -name "$id")" \
    "2 $store/$id" "keep-count are kept"
crash rm "$pid"
is "$rc $err $(find "$store" -name "$id")" "0  " "rm removes a crash"
crash rm "$pid"
is "$rc $err" "1 snapcrash: $pid: no such crash; see snapcrash list" \
    "rm of a removed crash fails"

# a full disk: no file, and no part of one
mkdir "$tmp/mnt"
mount -t tmpfs -o size=1m none "$tmp/mnt"
chmod 755 "$tmp/mnt"
store=$tmp/mnt
config
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
# the handler may still run
no_handler() {
	! pgrep -f "snapcrash -c$conf take $pid " >/dev/null
}
until_true no_handler
is "$(find "$store" -type f ! -name '.*')" "" "a full disk: no file"
umount "$store"
store=$disk/store
config "at-once 3"

# the handler is killed: nothing is left except a complete snapshot
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
killed() {
	pkill -KILL -f "snapcrash -c$conf take $pid "
}
until_true killed
wait "$pid" 2>/dev/null
left=$(find "$store" -name ".spool*" -o -name "fall.$pid.*" ! -name '*.gz')
for f in "$store/fall.$pid."*.gz; do
	[ ! -e "$f" ] || "$BUILD/snapls" -c "$f" >/dev/null 2>&1 ||
	    left="$left $f"
done
is "$left" "" "killed: nothing incomplete is left"

# many at once: the processes end, and the snapshots are whole
fall_at_once 12
n=0
for f in "$store"/*.snap.gz; do
	whole "${f##*/}" || n=$((n + 1))
done
is "$n" 0 "many at once: the snapshots are whole"
for p in "${pids[@]}"; do
	find "$store" -name "fall.$p.*"
done >"$tmp/out"
ok $(($(wc -l <"$tmp/out") < 3)) "many at once: three are captured at least"

crash remove
is "$rc $err $(cat "$proc/core_pattern" "$proc/core_pipe_limit" | tr '\n' ' ')" \
    "0  $was $waslimit " "removed: the old settings are back"
is "$(find "$tmp/sysctl" "$tmp/lib" -type f)" "" "no file is left"
echo "keep-count none" >"$conf"
crash status
is "$err" "snapcrash: $conf:1: keep-count: invalid value \"none\"" \
    "a wrong value is reported"
printf '%s\n' "keep_age 7d" "Hook /bin/true" "colour_ red" >"$conf"
crash install
is "$rc $err $(cat "$proc/core_pattern")" \
    "1 snapcrash: $conf:1: did you mean keep-age?
snapcrash: $conf:2: did you mean hook?
snapcrash: $conf:3: unknown key \"colour-\"; see snapcrash.conf(5)
snapcrash: not installed: $conf contains errors $was" \
    "unknown keys: a hint, and not installed"
config "hook $tmp/hook"
chmod 664 "$conf"
crash install
is "$rc $err" "1 snapcrash: $conf: writable by users other than root; \
ignored" "a configuration that a group may write is ignored"
chown 65534 "$conf"
chmod 644 "$conf"
crash status
is "$rc $err" "1 snapcrash: $conf: writable by users other than root; \
ignored" "another user's configuration is ignored"
rm -rf "$disk/store"
finish 43
