#!/usr/bin/env bash
# Names that a target chooses cannot control the user's terminal.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

cat >"$tmp/harm.py" <<'EOP'
import sys, unicodedata
bad = 0
for path in sys.argv[1:]:
    for line in open(path, 'rb').read().split(b'\n'):
        try:
            s = line.decode()
        except UnicodeDecodeError:
            s = '\x80'
        if any(unicodedata.category(c) in ('Cc', 'Zl', 'Zp') or
               unicodedata.bidirectional(c) in ('LRE', 'RLE', 'PDF', 'LRO',
               'RLO', 'LRI', 'RLI', 'FSI', 'PDI') or c in '\u200e\u200f\u061c'
               for c in s if c != '\t'):
            print(ascii(line))
            bad += 1
sys.exit(bad > 0)
EOP

# says WHAT PATTERN COMMAND ...: the command's output or messages match PATTERN,
# and cannot harm a terminal
says() {
	local what=$1 want=$2

	shift 2
	timeout -s KILL 20 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	if grep -q "$want" "$tmp/out" "$tmp/err"; then
		try "$what" python3 "$tmp/harm.py" "$tmp/out" "$tmp/err"
	else
		ok 1 "$what: prints $want"
		head "$tmp/out" "$tmp/err" | diag
	fi
}

mkdir "$tmp/dir"
target "$targets/named" "$tmp/dir"
says "snap -rv" processes "$BUILD/snap" -rv -o "$tmp/snap" "$pid"
says "snap -alrv" processes "$BUILD/snap" -alrv -o "$tmp/snap" "$pid"
says "snapls -clv" title "$BUILD/snapls" -clv "$tmp/snap"
says "snapload" : "$BUILD/snapload" -Ov -f pipe -D "$tmp/images" "$tmp/snap"
says "snapcore -v" process "$BUILD/snapcore" -v -p "$pid" -o "$tmp/core" "$tmp/snap"
says "snapcore -r" processes "$BUILD/snapcore" -rv -o "$tmp/again" "$tmp/core"
for style in -a -d -l -m -P -s -v -x; do
	says "procmap $style" [0-9] "$BUILD/procmap" "$style" "$pid"
done
says "procmap -M" title "$BUILD/procmap" -M "$tmp/snap" -p "$pid"
says "procmap -g" title "$BUILD/procmap" -g - -M "$tmp/snap"
says pagestat title "$BUILD/pagestat" "$pid"
says "pagestat -m" title "$BUILD/pagestat" -m "$pid"
says "pagestat -f" title "$BUILD/pagestat" -fo +name "$pid"
head -c 100000 "$tmp/snap" >"$tmp/cut"
says "snapcat -sv" : "$BUILD/snapcat" -sv -o "$tmp/saved" "$tmp/cut"
name=$tmp/$(printf '\033[31m\302\233.snap')
cp "$tmp/snap" "$name"
says "snapls, the name of a snapshot" : "$BUILD/snapls" "$name" "$name.none"
if is_root && [ -c /dev/fuse ]; then
	mkdir "$tmp/mnt"
	if timeout 20 "$BUILD/snapfs" "$tmp/snap" "$tmp/mnt" 2>"$tmp/err"; then
		find "$tmp/mnt" -print >"$tmp/out"
		try "snapfs: names" python3 "$tmp/harm.py" "$tmp/out" "$tmp/err"
		is "$(grep -c '/map/.*title' "$tmp/out" | sed 's/^[1-9].*/some/')" \
		    some "snapfs: mappings have names"
		umount "$tmp/mnt"
	else
		skip "snapfs" "cannot mount" 2
	fi
else
	skip "snapfs" "must be root" 2
fi
unnoticed "$pid" "not noticed"
# a backslash and a newline, which /proc/PID/status escapes
python3 -c 'import ctypes, time
ctypes.CDLL(None).prctl(15, b"a\\b\nc", 0, 0, 0)
print("ready", flush=True)
time.sleep(1000)' >"$tmp/renamed" &
pid=$!
until_true grep -q ready "$tmp/renamed"
snap -o "$tmp/snap" "$pid"
name() {
	grep -m 1 "\"pid\":$pid,.*\"name\":" | sed 's/.*"name":\("[^"]*"\).*/\1/'
}
is "$("$BUILD/pagestat" -j "$pid" | name)
$("$BUILD/snapdiff" -ja "$tmp/snap" "$tmp/snap" | name)" \
    '"a\\b\u000ac"
"a\\b\u000ac"' "names in JSON are the names of the processes"
says "pagestat: a newline in a name" 'a\\b?c' "$BUILD/pagestat" "$pid"
finish 26
