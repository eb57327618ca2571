#!/usr/bin/env bash
# A bug in a program that reads snapshots can do no harm.  probe.c is preloaded
# into the unchanged programs and tries.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if grep -q __asan_init "$BUILD/snapls"; then
	skip_all "the sanitizers' runtime makes other calls"
fi
# a process without inherited descriptors
(
	for fd in /proc/"$BASHPID"/fd/*; do
		[ "${fd##*/}" -gt 2 ] && eval "exec ${fd##*/}>&-"
	done
	exec setsid sleep 1000 </dev/null >/dev/null 2>&1
) &
pid=$!
until_true grep -qx sleep "/proc/$pid/comm"
snap -r -o "$tmp/snap" "$pid"
"$BUILD/snapcat" -z -o "$tmp/gz" "$tmp/snap" || exit 1
"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap" || exit 1
if [ -n "$("$BUILD/snapcat" -v "$tmp/snap" 2>&1 >/dev/null |
    grep 'not confined')" ]; then
	skip_all "the kernel does not confine"
fi

# Without confinement the probe succeeds.
mkdir "$tmp/open"
echo secret >"$tmp/open/secret"
PROBE_DIR=$tmp/open LD_PRELOAD=$BUILD/tests/confine/probe.so \
    head -c 100 "$tmp/snap" 9>"$tmp/report" >"$tmp/out"
is "$(grep -c '^possible: \(read a file\|list\|create\)$' \
    "$tmp/report") $(sed -n '$p' "$tmp/report")" "3 tried too little" \
    "not confined: the probe reads, lists and creates files" ||
    diag <"$tmp/report"

# the victim process, and files to read and write
sleep 1000 &
export PROBE_VICTIM=$!
export PROBE_DIR=$tmp/others
mkdir "$PROBE_DIR"
echo secret >"$PROBE_DIR/secret"
ls -l "$PROBE_DIR" >"$tmp/before"

# probed NAME COMMAND ...: passes if the probe tried and failed, and the command
# succeeded
probed() {
	local what=$1 rc

	shift
	timeout 60 env LD_PRELOAD="$BUILD/tests/confine/probe.so" "$@" \
	    9>"$tmp/report" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	is "$rc $(cat "$tmp/err" "$tmp/report") $(ls -l "$PROBE_DIR" |
	    cmp - "$tmp/before" && cat "$PROBE_DIR/secret")" \
	    "0 tried secret" "$what is confined"
	kill -0 "$PROBE_VICTIM" || ok 1 "$what: the victim lives"
}

probed "snapls" "$BUILD/snapls" "$tmp/snap"
probed "snapls -c" "$BUILD/snapls" -c "$tmp/gz"
probed "snapls of standard input" "$BUILD/snapls" <"$tmp/snap"
probed "snapls of a pipe" "$BUILD/snapls" < <(cat "$tmp/gz")
probed "snapls of a core" "$BUILD/snapls" "$tmp/core"
probed "pagestat -M" "$BUILD/pagestat" -s -M "$tmp/snap"
if left_out snapgrep; then
	skip "snapgrep" "$(pkg_lacks snapgrep) is missing" 2
else
	probed "snapgrep" "$BUILD/snapgrep" -c 'a.*b' "$tmp/snap"
	probed "snapgrep -P" "$BUILD/snapgrep" -P 0-1 -c "$tmp/core"
fi
probed "snapcat" "$BUILD/snapcat" "$tmp/snap" "$tmp/gz"
probed "snapcat -o" "$BUILD/snapcat" -z -o "$tmp/snap2" "$tmp/snap"
probed "snapcat -s" "$BUILD/snapcat" -s -o "$tmp/snap2" "$tmp/snap"
probed "snapcore" "$BUILD/snapcore" -o "$tmp/core2" "$tmp/snap"
probed "snapcore -r" "$BUILD/snapcore" -r -o "$tmp/snap3" "$tmp/core"
is "$("$BUILD/snapls" "$tmp/snap3" | grep -c 'mapped file')" 1 \
    "snapcore -r: the snapshot has one mapped ELF file"
if left_out snapstack; then
	skip "snapstack" "$(pkg_lacks snapstack) is missing" 2
else
	probed "snapstack" "$BUILD/snapstack" "$tmp/snap"
	probed "snapstack of a pipe" "$BUILD/snapstack" < <(cat "$tmp/gz")
fi
probed "procmap" "$BUILD/procmap" -x -M "$tmp/snap"
probed "procmap -g" "$BUILD/procmap" -g "$tmp/svg" -M "$tmp/snap" \
    -M "$tmp/gz"
probed "snapdiff" "$BUILD/snapdiff" "$tmp/snap" "$tmp/gz"
probed "snapload" "$BUILD/snapload" -D "$tmp/img" "$tmp/snap"
probed "snapload -u" "$BUILD/snapload" -u -D "$tmp/img" -o "$tmp/snap4"
probed "snapls of images" "$BUILD/snapls" "$tmp/img"
tar -C "$tmp" -cf "$tmp/img.tar" img
probed "snapls of an archive" "$BUILD/snapls" "$tmp/img.tar"
gzip "$tmp/img.tar"
probed "snapls of a compressed archive" "$BUILD/snapls" "$tmp/img.tar.gz"
if left_out snapgrep; then
	skip "snapgrep of images" "$(pkg_lacks snapgrep) is missing" 2
else
	probed "snapgrep of images" "$BUILD/snapgrep" -M stack PATH "$tmp/img"
	is "$("$BUILD/snapgrep" -M stack PATH "$tmp/img")" \
	    "$("$BUILD/snapgrep" -M stack PATH "$tmp/snap")" \
	    "snapgrep of images: the same matches as in the snapshot"
fi

if [ -w /dev/fuse ]; then
	mkdir "$tmp/mnt"
	timeout 60 env --default-signal=INT \
	    LD_PRELOAD="$BUILD/tests/confine/probe.so" "$BUILD/snapfs" -f -m "$tmp/mnt" "$tmp/snap" \
	    9>"$tmp/report" >"$tmp/err" 2>&1 &
	server=$!
	until_true mountpoint -q "$tmp/mnt"
	try "snapfs: read" cmp "$tmp/mnt/$pid/text" "/proc/$pid/exe"
	# the probe runs in one thread; the read does not wait for it
	until_true grep -q tried "$tmp/report"
	kill -INT "$server"
	wait "$server"
	is "$? $(cat "$tmp/err" "$tmp/report") $(cat "$PROBE_DIR/secret")" \
	    "0 tried secret" "snapfs is confined"
	try "snapfs: the victim lives" kill -0 "$PROBE_VICTIM"
	is "$(mountpoint -q "$tmp/mnt" && echo mounted)" "" \
	    "snapfs: unmounted when it ends"
else
	skip "snapfs" "/dev/fuse may not be used" 4
fi

# confinement before the first byte is read
mkfifo "$tmp/fifo"
"$BUILD/snapls" <"$tmp/fifo" >"$tmp/out" 2>&1 &
reader=$!
exec {fifo}>"$tmp/fifo"
confined() {
	grep -q '^Seccomp:[[:space:]]*2' "/proc/$reader/status"
}
until_true confined
is "$(grep -E '^(CapPrm|CapEff|CapInh|NoNewPrivs|Seccomp):' \
    "/proc/$reader/status" | cut -f 2 | tr '\n' ' ')" \
    "0000000000000000 0000000000000000 0000000000000000 1 2 " \
    "no capabilities, no new privileges, a filter"
cat "$tmp/snap" >&"$fifo"
exec {fifo}>&-
wait "$reader"
is "$? $(tail -n 1 "$tmp/out")" "0 $("$BUILD/snapls" "$tmp/snap" |
    tail -n 1)" "the program reads its input then"

# Files of another user, which root may read only by a capability.
if is_root; then
	mkdir -m 700 "$tmp/his"
	cp "$tmp/snap" "$tmp/his/snap"
	cp -r "$tmp/img" "$tmp/his/img"
	chmod 600 "$tmp/his/snap"
	chown -R 65534:65534 "$tmp/his"
	try "another user's file is read" "$BUILD/snapls" "$tmp/his/snap"
	try "another user's images are read" "$BUILD/snapls" "$tmp/his/img"
	try "a copy into another user's folder" "$BUILD/snapcat" \
	    -o "$tmp/his/two" "$tmp/his/snap"
	try "images into another user's folder" "$BUILD/snapload" -O \
	    -D "$tmp/his/img" "$tmp/his/snap"
	try "a core into another user's folder" "$BUILD/snapcore" \
	    -o "$tmp/his/core" "$tmp/his/snap"
	is "$(find "$tmp/his" -name '.*' | wc -l)" 0 "no temporary file is left"
else
	skip "files of another user" "for root" 6
fi

# A kernel without Landlock and seccomp filters.
if strace -o /dev/null true 2>/dev/null; then
	strace -o /dev/null -e inject=landlock_create_ruleset:error=ENOSYS \
	    -e inject=prctl:error=EINVAL "$BUILD/snapcat" -v \
	    -o "$tmp/old" "$tmp/snap" 2>"$tmp/err"
	is "$? $(sed -n 1p "$tmp/err") $(cmp "$tmp/old" "$tmp/snap2" 2>&1 |
	    grep -c 'No such')" "0 snapcat: not confined: the kernel has no \
Landlock and no filters for system calls 0" "-v prints that it is not confined"
	try "its copy is complete" "$BUILD/snapls" -c "$tmp/old"
else
	skip "a kernel without confinement" "no strace" 2
fi

# A command that fails leaves no files.
mkdir "$tmp/empty"
head -c 3000 "$tmp/snap" >"$tmp/bad"
"$BUILD/snapload" -D "$tmp/empty/img" "$tmp/bad" 2>/dev/null
"$BUILD/snapcat" -o "$tmp/empty/snap" "$tmp/bad" 2>/dev/null
is "$(ls -A "$tmp/empty")" "" "failed commands leave no files"
kill "$PROBE_VICTIM" "$pid"
finish 42
