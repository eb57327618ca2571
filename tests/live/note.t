#!/usr/bin/env bash
# A snapshot records who took it, when, where, how and why.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/anon"
first=$pid
target "$targets/anon"
cd "$tmp" || exit 1
sed 's/ .*//' /proc/sys/kernel/hostname >host
before=$(date +%s)
snap -m "it hangs: 'why'?" -o a.snap "$first" "$pid"
is "$rc" 0 "taken with a note"
snap -o b.snap "$pid"
let_go "$first" "the first one is released"

"$BUILD/snapls" a.snap >out
is "$(sed -n 1p out | sed -E 's/[0-9-]{10} [0-9:]{8} UTC/WHEN/')" \
    "taken WHEN by $(id -un) on $(cat host): it hangs: 'why'?" \
    "snapls prints the note first"
is "$("$BUILD/snapls" b.snap | head -n 1 | awk '{ print $1 }')" PID \
    "without a note snapls prints the list only"
"$BUILD/snapls" -l b.snap >out
is "$(sed -n 1p out | sed 's/.* on //')" "$(cat host), snap $(
    "$BUILD/snap" --version | sed 's/.* //'): snap -o b.snap $pid" \
    "-l: version and command"
is "$("$BUILD/snapls" -j a.snap | head -n 1 | python3 -c '
import json, sys
o = json.loads(sys.stdin.readline())
t, = o["taken"]
print(t["note"], t["part"], t["user"], t["kernel"],
      '"$before"' <= t["time"] <= '"$before"' + 60, t["command"])')" \
    "it hangs: 'why'? 0 $(id -un) $(uname -r) True snap -m 'it hangs: '\''why'\''?' -o a.snap $first $pid" \
    "-j: all of it, once for two processes"

"$BUILD/snapcat" -o c.snap b.snap a.snap
is "$("$BUILD/snapls" c.snap | grep -c taken) $("$BUILD/snapls" -l c.snap |
    grep -E 'taken|^note' | sed -E 's/taken.*: snap/taken snap/' | tr '\n' ';')" \
    "1 taken snap -o b.snap $pid;part 1 taken snap -m 'it hangs: '\''why'\''?' -o a.snap $first $pid;note: it hangs: 'why'?;" \
    "snapcat keeps what each has recorded"
is "$("$BUILD/snapls" -j c.snap | python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    if o["type"] == "process":
        print(o["part"], o["origin"] and o["origin"]["pid"], end=" ")')" \
    "0 None 1 $first 1 $pid " "snapcat keeps the origin of each process"
try "the rules are kept" python3 "$tests/snap6/oracle.py" -c c.snap

# Notes that are not a line of text.
long=$(printf '%1001s' x)
for m in $'a\nb' $'\033[2J' $'\302\233' $'\377' "$long"; do
	snap -m "$m" -o no.snap "$pid"
	[ "$rc" -eq 2 ] && [ ! -e no.snap ] && ! grep -q $'\033' err
	ok $? "-m: $(printf '%.8q' "$m")... is refused"
done
snap -m "" -o d.snap "$pid"
is "$rc $("$BUILD/snapls" d.snap | sed -n '1s/.* on //p')" "0 $(cat host): " \
    "an empty note"
snap -o $'x\033[2J\377.snap' "$pid"
is "$("$BUILD/snapls" -l x*.snap | sed -n '1s/.*: //p')" \
    "snap -o 'x?[2J?.snap' $pid" "a command line cannot harm a terminal"

# A hostile snapshot.
cat >odd.s <<-'END'
	"process snapshot 1735689600 ann@gnot amd64 1 \"x\"\n"
	record 7 proc
	data {
	"linux amd64 1\n"
	"taken\n"
	data "time 99999999999999999999\nuser \033[2J\nnote a\nnote b\nnot\nother x\nhost \377"
	}
END
python3 "$tests/snap6/snapasm.py" odd.s >odd.snap
is "$("$BUILD/snapls" -l odd.snap | head -n 2 | tr '\n' ';')" \
    "taken by ?[2J on ?;note: a;" "a hostile note cannot harm a terminal"
finish 17
