#!/usr/bin/env bash
# Long work shows its progress on a terminal only, or after SIGUSR1; a reader
# that stalls is reported.  Here the other end of a pipe pauses.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

watch() {
	timeout -s KILL 60 python3 "$tests/live/watch.py" "$@"
}

# drawn FILE PROGRAM: print how often the terminal showed the progress
drawn() {
	tr '\r' '\n' <"$1" | grep -c "^$2: [0-9]*[KM].* read, raw [0-9]*[KM], zero [0-9]*[KM], shared [0-9]*[KM], [0-9]*[KM]/s"
}

target "$targets/anon"
snap -o "$tmp/snap" "$pid"
"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
python3 "$tests/criu/criuasm.py" make large "$tmp/images"
"$BUILD/snapload" -u -D "$tmp/images" >"$tmp/loadable"

# All run at once, as each waits two seconds: on a terminal, without one but
# with SIGUSR1, and some that show nothing.
declare -A job
run() {
	local name=$1

	shift
	watch "$@" &
	job[$name]=$!
}
tty=$pid
run snap.tty -t -o "$tmp/snap.tty.out" "$tmp/snap.tty" \
    "$BUILD/snap" -sv "$tty"
run cat.tty -t -i "$tmp/snap" "$tmp/cat.tty" "$BUILD/snapcat" -
run core.tty -t -i "$tmp/snap" "$tmp/core.tty" "$BUILD/snapcore"
run rcore.tty -t -i "$tmp/core" "$tmp/rcore.tty" "$BUILD/snapcore" -r -
run load.tty -t -i "$tmp/loadable" "$tmp/load.tty" \
    "$BUILD/snapload" -D "$tmp/there"
run unload.tty -t -o "$tmp/unloaded" "$tmp/unload.tty" \
    "$BUILD/snapload" -u -D "$tmp/images"
run cat.usr1 -u 1 -i "$tmp/snap" "$tmp/cat.usr1" "$BUILD/snapcat" -
run core.usr1 -u 1 -i "$tmp/snap" "$tmp/core.usr1" "$BUILD/snapcore"
run load.usr1 -u 1 -i "$tmp/loadable" "$tmp/load.usr1" \
    "$BUILD/snapload" -D "$tmp/there2"
run ls.usr1 -u 1 -i "$tmp/snap" "$tmp/ls.usr1" "$BUILD/snapls" -c
run quiet -i "$tmp/snap" "$tmp/quiet" "$BUILD/snapcat" -
run held -p 1.5 -o "$tmp/held.out" "$tmp/held" "$BUILD/snapcat" "$tmp/snap"
target "$targets/anon"
run live -p 1.7 -o "$tmp/live.out" "$tmp/live" "$BUILD/snap" "$pid"

# Nobody reads the messages, and for a while nobody reads the output: snap does
# not wait until the messages are read.
cat >"$tmp/full.py" <<'EOF'
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
try:
    while True:
        os.write(w, b"x" * 4096)
except BlockingIOError:
    pass
os.set_blocking(w, True)
p = subprocess.Popen([sys.argv[1], "-s", sys.argv[2]], stdout=subprocess.PIPE, stderr=w)
time.sleep(1.5)
while os.read(p.stdout.fileno(), 65536):
    pass
sys.exit(p.wait())
EOF
target "$targets/anon"
timeout 20 python3 "$tmp/full.py" "$BUILD/snap" "$pid" &
job[full]=$!

# A reader that stalls keeps the processes stopped, and snap reports that.
target "$targets/anon"
run stall -u "$tmp/asked" -p "$tmp/goes" -o "$tmp/out" "$tmp/stall" \
    "$BUILD/snap" -s "$pid"
until_true grep -q . "$tmp/stall"
is "$(sed 's/[0-9][0-9]*[KM]/N/g' "$tmp/stall") $(states "$pid" |
    grep -c t)" \
    "snap: the processes stay stopped until the output is read 1" \
    "a reader that stalls is reported while the target is stopped"
touch "$tmp/asked"
until_true grep -q read, "$tmp/stall"
touch "$tmp/goes"
wait "${job[stall]}"
ok $? "a reader that stalls: snap succeeds"
is "$(sed '1d;s/[0-9][0-9]*[KM]/N/g;s/[0-9]*:[0-9]* left/N left/' "$tmp/stall")" \
    "snap: N of N read, raw N, zero N, shared N, N/s, N left" \
    "snap: SIGUSR1 prints the progress and the total"
check "$tmp/out" "$pid" "a reader that stalls: memory matches"

for i in snap.tty cat.tty core.tty load.tty unload.tty cat.usr1 core.usr1 load.usr1 \
    ls.usr1 quiet held live full; do
	wait "${job[$i]}"
	ok $? "$i: done"
done
wait "${job[rcore.tty]}"

for i in snap:snap cat:snapcat core:snapcore rcore:snapcore load:snapload \
    unload:snapload; do
	f=$tmp/${i%:*}.tty
	ok $(($(drawn "$f" "${i#*:}") < 2)) \
	    "${i#*:}: a line is redrawn (${i%:*})" ||
	    tr '\r' '\n' <"$f" | diag
done
# stays FILE: print the lines that are on the terminal in the end
stays() {
	python3 -c '
import re, sys
text = open(sys.argv[1], newline="").read().replace("\r\n", "\n")
for line in text.split("\n"):
    line = re.sub(r"(?s).*\r", "", line).replace("\x1b[K", "")
    if line:
        line = re.sub(r"[0-9.]+ (bytes?|[KMG]iB|[um]?s)\b", "U", line)
        print(re.sub("[0-9]+", "N", line))' "$1"
}
is "$(stays "$tmp/cat.tty")" "" "no progress stays on the terminal"
is "$(stays "$tmp/snap.tty")" "snap: the processes stay stopped until the output is read
snap: process N: stopped for U; U to read and write their memory
snap: pause in ms: stop N.N, registers N.N, asking N.N, records N.N, files N.N, memory N.N, release N.N
snap: processes: N, threads: N, files: N; memory raw: U, zero: U, shared: U; written: U" \
    "snap: messages stay, and so do the totals"
is "$(wc -c <"$tmp/quiet")" 0 "no progress without a terminal"

# snapcore counts what it has written, here raw memory.
PYTHONPATH=$tests/snap6 python3 - >"$tmp/raw" <<'END'
import sys
from snapasm import assemble

sys.stdout.buffer.write(assemble('\n'.join([
    r'"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"',
    'record 7 regs', 'data regs 184',
    'record 7 mem', 'number 1', 'segment 0x10000 0x400000',
    *['r "B"*1024'] * 4096])))
END
mkfifo "$tmp/pipe"
"$BUILD/snapcore" "$tmp/raw" >"$tmp/pipe" 2>"$tmp/state" &
exec 7<"$tmp/pipe"
head -c 3000000 <&7 >/dev/null
kill -USR1 $!
until_true grep -q read, "$tmp/state"
cat <&7 >/dev/null
exec 7<&-
wait $!
is "$? $(sed 's/.*raw [1-9][0-9]*K, zero [0-3]K.*/raw/' "$tmp/state")" \
    "0 raw" "snapcore: raw memory is counted"

# Work is short if it is over within a second.
began=$(date +%s%N)
watch -t -p 0.3 -i "$tmp/snap" "$tmp/short" "$BUILD/snapcat" -
is "$?" 0 "short work: done"
if [ $((($(date +%s%N) - began) / 1000000)) -lt 900 ]; then
	is "$(cat "$tmp/short")" "" "short work is silent"
else
	skip "short work is silent" "this machine is too busy for short work"
fi
for i in cat core load; do
	is "$(sed 's/[0-9][0-9]*[KM]/N/g' "$tmp/$i.usr1" | sort -u)" \
	    "snap$i: N read, raw N, zero N, shared N, N/s" \
	    "snap$i: SIGUSR1 prints the progress"
done

is "$(cat "$tmp/ls.usr1")" "" "snapls ignores SIGUSR1"
is "$(cat "$tmp/held")" "" "snapcat reports no reader that stalls"
is "$(cat "$tmp/live")" "" "snap reports no reader that stalls by default"

# Totals.
# human FILE: print its size as -v does
human() {
	stat -c %s "$1" | awk '{ n = split("bytes KiB MiB GiB", unit, " ")
	    for (i = 1; i < n && $1 >= 1023.5; i++) $1 /= 1024
	    printf("%.*f %s\n", (i > 1 && $1 < 9.95), $1, unit[i]) }'
}
"$BUILD/snap" -v -z "$pid" 2>&1 >"$tmp/z" | grep -v -e ' stopped for ' -e ' pause in ' >"$tmp/err"
is "$(sed -E 's/[0-9.]+ (bytes?|[KMG]iB)/U/g;s/[0-9]+/N/g' "$tmp/err") $(
    sed 's/.*compressed: //' "$tmp/err")" \
    "snap: processes: N, threads: N, files: N; memory raw: U, zero: U, shared: U; written: U, compressed: U $(human "$tmp/z")" \
    "snap -vz prints both sizes"
is "$("$BUILD/snapcat" -vz -o "$tmp/z2" "$tmp/z" 2>&1 | sed 's/.*: //')" \
    "$(human "$tmp/z2")" "snapcat -vz prints the compressed size"
for p in "${!lines_of[@]}"; do
	let_go "$p" "released"
	unnoticed "$p" "not noticed"
done
finish 45
