#!/usr/bin/env bash
# No byte of excluded secrets is in the snapshot, which lists the exclusions.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

cd "$tmp" || exit 1
# make up the words here: the command of a target is in its record
word=$(head -c 9 /dev/urandom | od -An -tx1 | tr -d ' \n')
export APP_PASSWORD="P-$word" MY_TOKEN="T-$word=more" EDITOR="E-$word"
target "$targets/secrets"
unset APP_PASSWORD MY_TOKEN EDITOR
at() {
	awk -v w="$1" '$2 == w { print substr($3, 3) }' "$lines"
}
address=$(at address)
end=$(printf '%x' $((0x$address + 8 * $(getconf PAGESIZE))))

# found FILE: print which of the secrets a snapshot contains
found() {
	local w

	for w in MARK:private MARK:sealed MARK:shared MARK:address MARK:open \
	    "P-$word" "T-$word" "E-$word"; do
		if grep -aqF -e "$w" "$1"; then
			printf '%s ' "${w%"-$word"}"
		fi
	done
}
all='MARK:private MARK:sealed MARK:shared MARK:address MARK:open P T E '

snap -ro all.snap "$pid"
is "$rc $(found all.snap)" "0 $all" "without -x, all secrets are there"
snap -rx secrets -o some.snap "$pid"
is "$rc $err $(found some.snap)" "0  MARK:address MARK:open E " \
    "-x secrets: MADV_DONTDUMP memory and named variables"
snap -rlx "dontdump,env=my_*,$address-$end" -o l.snap "$pid"
is "$rc $(found l.snap)" "0 MARK:open P E " \
    "-l -x: a pattern in the other case, and a range"
snap -nrx dontdump -o s.snap "$pid"
is "$rc $(found s.snap)" "0 MARK:address MARK:open P T E " "-x dontdump"
snap -rzx secrets -x "$address-$end" -o z.snap.gz "$pid"
zcat z.snap.gz >z.snap
is "$rc $(found z.snap)" "0 MARK:open E " "-z, -x twice"
let_go "$pid" "released"

# snapcat excludes the same from a snapshot.
"$BUILD/snapcat" -x secrets -x "$address-$end" -o cat.snap all.snap 2>err
is "$? $(cat err)$(found cat.snap)" "0 MARK:open E " "snapcat -x"
"$BUILD/snapcat" -x dontdump <all.snap - 2>err >pipe.snap
is "$? $(cat err)$(found pipe.snap)" "0 MARK:address MARK:open P T E " \
    "snapcat -x from a pipe"
"$BUILD/snapcat" -x env=* -o both.snap some.snap all.snap
is "$? $(found both.snap)" "0 ${all% P T E } " "snapcat -x of two files"
# Merging gives the second capture of shared memory another device number.
"$BUILD/snapcat" -x dontdump -o twice.snap all.snap all.snap
is "$? $(found twice.snap)" "0 MARK:address MARK:open P T E " \
    "snapcat -x of two captures of shared memory"
for s in some l z cat pipe both twice; do
	"$BUILD/snapls" -c $s.snap >list 2>err
	is "$? $(cat err)" "0 " "$s: data, index and checksums are whole"
	try "$s: it keeps the rules" python3 "$tests/snap6/oracle.py" -c $s.snap
done

# Listings show what was excluded.
for s in some cat; do
	"$BUILD/snapls" -l $s.snap >list
	is "$(grep -c 'missing: dontdump' list) $(grep 'excluded:' list |
	    sort | uniq -c | awk '{ print $1, $3, $4 }' | grep -E '_PASSWORD|_TOKEN' |
	    tr '\n' ';')" "8 2 env APP_PASSWORD;2 env MY_TOKEN;" \
	    "$s: snapls -l shows it" || diag <list
	grep -q "excluded: asked secrets" list
	ok $? "$s: snapls -l shows what was asked for"
done
is "$("$BUILD/snapls" -j cat.snap | python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    if o["type"] == "process":
        print([w for w in o["excluded"] if "TOX" not in w], sorted({m["reason"] for m in o["missing"]} &
            {"dontdump", "excluded"}))' | sort -u)" \
    "['asked secrets', 'asked $address-$end', 'env APP_PASSWORD', 'env MY_TOKEN'] ['dontdump', 'excluded']" \
    "snapls -j shows it"

# Excluded memory reads as missing, and what is beside it is whole.
"$BUILD/snapcore" -p "$pid" -o core cat.snap
is "$? $(found core)" "0 MARK:open E " "a core contains no excluded memory"
python3 - cat.snap >vars <<'END'
import sys
text = open(sys.argv[1], 'rb').read()
at = text.index(b'environ\n')
n = int(text[at + 8:at + 20])
sys.stdout.buffer.write(text[at + 20:at + 20 + n].replace(b'\0', b'\n'))
END
is "$(grep -E '^(APP_PASSWORD|MY_TOKEN|EDITOR)=' vars | sort | tr '\n' ' ')" \
    "APP_PASSWORD=$(sed 's/./x/g' <<<"P-$word") EDITOR=E-$word MY_TOKEN=$(
	sed 's/./x/g' <<<"T-$word=more") " "environ has x for each byte"
is "$(grep -aoF "APP_PASSWORD=$(sed 's/./x/g' <<<"P-$word")" core |
    wc -l)" 1 "the stack has x for each byte"
"$BUILD/snapload" -D images cat.snap 2>err
is "$? $(grep -q 'is not in the snapshot (dontdump)' err; echo $?) $(
    ls images 2>/dev/null)" "1 0 " \
    "snapload refuses to restore it"
grep -q 'is not in the snapshot (dontdump)' err
ok $? "snapload says why"

snap -rx 'env=MY_*' -o env.snap "$pid"
"$BUILD/snapload" -D images env.snap 2>err
is "$rc $? $(grep -c 'values of its environment are not in the snapshot' err)" \
    "0 1 2" "a process without some values is not restored"
"$BUILD/snapcore" -p "$pid" -o core all.snap
"$BUILD/snapcore" -r -o core.snap core
"$BUILD/snapcat" -x 'env=*' -o of.snap core.snap 2>err
is "$? $(grep -c 'environment in its memory is not excluded' err)" "1 1" \
    "of a core: snapcat warns that values are left"

for x in no env= 1-1 2-1 x-y '' 'dontdump,' 0x-2 1-; do
	snap -x "$x" -o no.snap "$pid"
	"$BUILD/snapcat" -x "$x" all.snap >no.snap 2>err2
	is "$rc $? $(wc -c <no.snap)" "2 2 0" "-x '$x' is refused"
	rm -f no.snap
done

shared=$pid
target env -i "$targets/anon"
snap -x 'env=*' -o bare.snap "$pid"
is "$rc $err" "0 " "a process without environment is captured"
let_go "$pid" "the second one is released"
pid=$shared

# Without smaps, snapcat cannot know which memory is MADV_DONTDUMP.
python3 "$tests/snap6/snapasm.py" "$tests/snap6/good/linux.s" >linux.snap
"$BUILD/snapcat" -x dontdump linux.snap >out 2>err
is "$? $(grep -c 'some MADV_DONTDUMP memory may still be' err)" "1 1" \
    "without smaps: snapcat warns"
unnoticed "$pid" "the process noticed nothing"
finish 49
