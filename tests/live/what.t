#!/usr/bin/env bash
# snapls shows what distinguishes processes, in the width of a terminal.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tmp" || exit 1
snapls=$BUILD/snapls

cat >listen.py <<'END'
import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
f = open(sys.argv[1], "w")
print("ready", s.getsockname()[1], flush=True)
time.sleep(1000)
END
pids=()
for n in {1..40}; do
	mkdir "work$n"
	(cd "work$n" && exec python3 ../listen.py "file$n") >"out$n" 2>&1 &
	pids+=($!)
done
for n in {1..40}; do
	until_true grep -q ready "out$n"
done
"$BUILD/snap" -o all.snap "${pids[@]}"

"$snapls" all.snap >list
is "$(grep -oE 'python[0-9.]* ../listen.py file[0-9]+$' list | sort -u |
    wc -l)" 40 "each of forty python3 has a line of its own"
if command -v script >/dev/null; then
	script -qec "stty cols 80; '$snapls' all.snap" /dev/null </dev/null |
	    tr -d '\r' >wide
	is "$(awk 'length > 80' wide) $(grep -c 'listen.py file' wide)" " 40" \
	    "each fits into 80"
	script -qec "stty cols 60; '$snapls' all.snap" /dev/null </dev/null |
	    tr -d '\r' | grep listen >wide
	is "$(awk 'length > 60' wide) $(wc -l <wide)" " 40" "each fits into 60"
else
	skip "in the width of a terminal" "no script(1)" 2
fi

pid=${pids[6]}
port=$(sed -n 's/^ready //p' out7)
"$snapls" -l -p "$pid" all.snap >long
is "$(grep -c "^  command .*listen.py file7$" long) $(
    grep -cx "  directory $tmp/work7" long) $(
    grep -c "^  executable /.*python" long) $(grep -c "^  parent $$\$" long)" \
    "1 1 1 1" "-l: command line, directory, executable, parent"
is "$(grep -c "^  file [0-9]* $tmp/work7/file7$" long) $(
    grep -c "^  file [0-9]* socket:.* 127.0.0.1 $port$" long)" "1 1" \
    "-l: an open file and a socket"
is "$("$snapls" -j -p "$pid" all.snap | python3 -c '
import json, sys
p, = [o for o in map(json.loads, sys.stdin) if o["type"] == "process"]
print(*p["arguments"][1:], p["directory"], p["parent"],
      any(d["path"].endswith("/work7/file7") for d in p["descriptors"]),
      any((d["socket"] or "").endswith(" '"$port"'")
          for d in p["descriptors"]))')" \
    "../listen.py file7 $tmp/work7 $$ True True" "-j: the same"
is "$("$snapls" -J -p "$pid" all.snap | cksum)" \
    "$("$snapls" -j -p "$pid" all.snap | cksum)" "-J: the same as -j"

# columns
is "$("$snapls" -n -o cwd,pid -p "$pid" all.snap)" "$tmp/work7 $pid" \
    "-o: columns, in the order they are asked for"
is "$("$snapls" -o +exe all.snap | head -n 1 | awk '{ print $NF, NF }')" \
    "EXE 8" "-o +: more columns"
for list in pid,nothing 'pid,' ''; do
	"$snapls" -j -o "$list" nosuch.snap all.snap >out 2>err
	is "$? $(cat out; sed 's/;.*//' err)" \
	    "2 snapls: -o: unknown column \"${list#pid,}\"" \
	    "columns \"$list\" are refused"
done
is "$("$snapls" -j -o command -p "$pid" all.snap | grep -c \
    '^{"type":"process","arguments":\[".*","../listen.py","file7"\]}$')" 1 \
    "-j -o command: the arguments"
is "$("$snapls" -nbo memory -p "$pid" all.snap)" "$("$snapls" -j -p "$pid" \
    all.snap | sed -n 's/.*"memory":\([0-9]*\),.*"mappings".*/\1/p')" \
    "-b: bytes"
is "$("$snapls" -n all.snap | wc -l)" 40 "-n: no headings and no totals"
COLUMNS=60 "$tests/criu/onpty.py" out "$snapls" -o pid,command,exe,cwd all.snap
is "$(tr -d '\r' <out | awk '/PID/ { print } NF == 0 || /^with/ { exit }
    length > most { most = length } END { print most }' | tr -s ' ' |
    sed 's/^ //')" "PID COMMAND EXE CWD
60" "lines fit the terminal: the longest columns are cut"

# names are UTF-8 in any locale, and control characters are not printed
name=$'schl\303\244ft\033[2J'
cp "$(command -v sleep)" "$name"
"./$name" 1000 &
until_true grep -q schl "/proc/$!/comm"
is "$(LC_ALL=C "$snapls" -no name $!)" $'schl\303\244ft?[2J' "a name in UTF-8"
finish 17
