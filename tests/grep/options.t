#!/usr/bin/env bash
# Each option of snapgrep, on a process with known contents.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

needs snapgrep
target python3 "$tests/grep/contents.py"
read -r -a pids < <(sed -n 's/^pids //p' "$lines")
read -r start end < <(sed -n 's/^region //p' "$lines")
snap -o "$tmp/snap" "${pids[@]}"
first=${pids[0]}
last=${pids[-1]}
grep=$BUILD/snapgrep
s=$tmp/snap

# here OPTION ...: run snapgrep on the memory that contents.py has printed
here() {
	"$grep" -r "$start-$end" "$@"
}

# hex EXPRESSION: print its value in hexadecimal
hex() {
	printf '%x' $(($1))
}

base=$((16#$start))
deadbeef=$(hex "$base + 4096 * 5 + 16")

# lines of output
at=$(here -x -p "$first" 'ef be ad de' "$s")
# the kernel may have merged the mapping with others
map=$(while IFS=' -' read -r a b _; do
	[ $((16#$a)) -gt "$base" ] || [ $((16#$b)) -le "$base" ] || echo "$a"
done <"/proc/$first/maps")
is "$at" "$first $deadbeef rw-p [anon]+$(hex "16#$deadbeef - 16#$map"): ef be ad de" \
    "a line has process, address, permissions, mapping and offset"
is "$(here -x 'ef be ad de' "$s")" \
    "$at  (+2: ${pids[1]} ${pids[2]})" "a shared page is printed once"
is "$(here -ae '[0-9 b]{30000,}' "$s" | wc -l) $(
    here -e '[0-9 b]{30000,}' "$s" | grep -v '(+' | cut -d ' ' -f 1)" \
    "3 $(printf '%s\n' "${pids[@]}")" \
    "matches whose middle pages differ are printed for each process"
is "$(here -ax 'ef be ad de' "$s" | cut -d ' ' -f 1,2)" \
    "$(for p in "${pids[@]}"; do echo "$p $deadbeef"; done)" \
    "-a: each process is printed"
is "$("$grep" -x 'ef be ad de' "$s" "$s" | cut -d : -f 1 | sort -u)" "$s" \
    "with several files, lines start with the file name"
"$BUILD/snapcat" "$s" | here -qF 'borderXX'
is $? 0 "a pipe is searched, and a match gives status 0"
here -F 'borderXY' "$s" >"$tmp/out"
is "$? $(cat "$tmp/out")" "1 " "no match gives status 1"
"$grep" -l border "$tmp/none" "$s" 2>"$tmp/err" >"$tmp/out"
is "$? $(cat "$tmp/err")" "2 snapgrep: $tmp/none: No such file or directory" \
    "a missing file gives status 2, even with a match elsewhere"
"$grep" -q border "$tmp/none" "$s" 2>"$tmp/err"
is $? 0 "-q: a match gives status 0 even so, as in grep"

"$grep" -q border "$s" "$tmp/none" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "-q: files after a match are not opened"
case $BUILD in
*-asan) skip "snapgrep is not confined" "sanitizers take descriptors" ;;
*)
	is "$(ulimit -n 4; "$grep" border "$s" 2>&1; echo ": $?")" \
	    $'snapgrep: cannot start the helper process: Too many open files\n: 2' \
	    "a helper process that cannot start gives status 2"
	;;
esac

# ten processes with the same page, and zeros after it
{
	printf '"process snapshot 1 a@b amd64 2 \\"c\\"\\n"\n'
	for p in {11..20}; do
		printf 'record %d mem\nnumber 1\nsegment 0x10000 2048\n' "$p"
		if [ "$p" = 11 ]; then
			echo 'r "x"*1018 "needle"'
		else
			echo 'm 11 0x10000'
		fi
		echo z
	done
} | python3 "$tests/snap6/snapasm.py" >"$tmp/ten"
is "$("$grep" needle "$tmp/ten" | sed 's/.*needle//')" \
    "  (+9: 12 13 14 15 16 17 18 19 ...)" "at most eight others are named"
is "$("$grep" -x '65 00' "$tmp/ten" | wc -l)" 10 \
    "zeros of several processes are printed for each"

# amount of output
is "$(here -c 'child=' "$s")" "$(for p in "${pids[@]}"; do
	n=$(here -a -p "$p" 'child=' "$s" | wc -l)
	echo "$p: $n"
done)" "-c: matches of each process are counted"
is "$(here -l 'child=[0-4]' "$s")" "$(printf '%s\n' "${pids[@]:1}")" \
    "-l: processes with a match are listed"
is "$(here -am 2 'border' "$s" | cut -d ' ' -f 1 | uniq -c | tr -s ' ')" \
    "$(for p in "${pids[@]}"; do echo " 2 $p"; done)" "-m: two per process"
is "$(here -q border "$s")" "" "-q: nothing is printed"
is "$(here -o -p "$last" 'secret=0000[01]' "$s" | sort -u)" \
    "$(printf 'secret=0000%d\n' 0 1)" "-o: only the matching part is printed"

# patterns
is "$(here -o 'Gr..e' "$s")" "" "UTF-16 does not match without -u"
is "$(here -u 'Grüße🙂' "$s" | cut -d ' ' -f 5)" "Grüße🙂" "-u: UTF-16 matches"
is "$(here -ui 'gRü' "$s" | cut -d ' ' -f 5)" "Grüße🙂" \
    "-u -i: UTF-16 matches in either case"
# U+1F662 differs from U+1F642 in a byte that is b or B
is "$(here -ui '🙢' "$s" | wc -l) $(here -ui 'E🙂' "$s" | wc -l)" "0 1" \
    "-u -i: bytes of other characters have no case"
is "$(here -uwc 'rüße' "$s")" "$(printf '%s: 0\n' "${pids[@]}")" \
    "-u -w: a part of a word does not match"
is "$(here -ac -n 2 4711 -p "$first" "$s")" \
    "$(here -ac -x '67 12' -p "$first" "$s")" "-n 2: two bytes are found"
is "$(here -n 4be 0x12345678 "$s" | cut -d ' ' -f 2,5-8)" \
    "$(hex "base + 4096 * 5 + 32") 12 34 56 78" "-n 4be: big-endian numbers"
is "$(here -n 4 -- -559038737 "$s" | cut -d ' ' -f 2)" "$deadbeef" \
    "-n 4: a negative number is found"
is "$(here -x 'ef ?? a? de 67 12' "$s" | cut -d ' ' -f 2)" "$deadbeef" \
    "-x: ? stands for any digit"
is "$(here -F 'token(a+)' "$s")" "" "-F: the pattern is not an expression"
is "$(here -F -e 'token(a+)' -e deleted -e borderXXcrossing -o "$s" |
    sort -u)" borderXXcrossing "-e: several patterns are found"
is "$(here -o -e '(b)\1z' -e '(a)\1{29}' "$s" | sort -u)" \
    "$(printf 'a%.0s' {1..30})" \
    "-e: each pattern has its own groups"
is "$(here -o -e '(?x) X X c # crossing' -e '\Qeted' "$s" | sort -u)" "XXc" \
    "-e: a comment or a quotation ends with its pattern"
is "$(here -P "$(hex "base + 64")" "$s" | cut -d ' ' -f 2,5)" \
    "$(hex "base + 4096 * 5 + 8") $(printf %016x $((base + 64)))" \
    "-P: a pointer to an address is found"
is "$(here -R "$start-$(hex "base + 128")" "$s" | cut -d ' ' -f 2)" \
    "$(hex "base + 4096 * 5 + 8")" "-R: a pointer into a range is found"
is "$("$grep" -r "$(hex "base + 3")-$end" -P "$(hex "base + 64")" "$s" |
    cut -d ' ' -f 2)" "$(hex "base + 4096 * 5 + 8")" \
    "-P -r: pointers are found if the range begins at an odd address"
if [ -x "$targets/bits32" ]; then
	target "$targets/bits32"
	snap -o "$tmp/snap32" "$pid" "$last"
	is "$("$grep" -R 10203042-10203044 "$tmp/snap32" | cut -d ' ' -f 1,2,5)" \
	    "$(printf '%s\n' "$pid 804b004 10203042" "$pid 804b008 10203043")" \
	    "-R: pointers of 32 bits are found"
else
	skip "-R: pointers of 32 bits are found" "no program of 32 bits"
fi
is "$(here -ixc '53 45 43' "$s")" "$(here -Fc SEC "$s")" \
    "-i -x: -i has no effect on bytes"

# ranges and mappings
is "$("$grep" -M '[heap]' -M stack -l borderXX "$s")" "" \
    "-M: heap and stack alone are searched"
PYTHONPATH=$tests/snap6 python3 - >"$tmp/classes" <<'END'
import sys
from snapasm import assemble

sys.stdout.buffer.write(assemble('\n'.join((
    r'"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"',
    'record 7 proc', 'data {', r'"linux amd64 1\n"', r'"maps\n"', 'data {',
    r'"10000-10400 rw-s 00000000 00:01 7 /dev/shm/file\n"',
    r'"20000-20400 rw-s 00000000 00:01 0 [anon_shmem:x]\n"',
    r'"30000-30400 rw-p 00000000 fe:01 8 /lib/file\n"',
    r'"40000-40400 rw-s 00000000 00:01 9 /dev/zero (deleted)\n"',
    r'"50000-50400 rw-p 00000000 00:06 5 /dev/zero\n"', '}', '}',
    'record 7 mem', 'number 5', *('segment 0x%d0000 1024\nr "%s"*1024' % (
        i, 'ABCDE'[i - 1]) for i in range(1, 6))))))
END
is "$(for m in shared file anon; do
	"$grep" -o -M $m '^[A-E]' "$tmp/classes" | tr '\n' ' '
done)" "A B D C E " "-M: a class of mappings is selected"
is "$("$grep" -M anon -M 'rw-?' -l borderXX "$s" | head -n 1)" "$first" \
    "-M: writable anonymous mappings are searched"
is "$("$grep" -M 'r-x?' -l borderXX "$s")" "" "-M: only executable mappings"
is "$("$grep" -M 'libc*' -c 'GLIBC|GNU' "$s" | grep -vc ': 0')" 3 \
    "-M: a library is searched"
is "$("$grep" -p "$last,${pids[1]}" -l borderXX "$s")" \
    "$(printf '%s\n' "${pids[@]:1}")" "-p: two processes are searched"

# bytes around a match
"$BUILD/snapcore" -p "$first" -o "$tmp/core.$first" "$s"
python3 "$tests/grep/compare.py" "$grep" "$s" "$start-$end" -F -F border \
    "$tmp/core.$first" >/dev/null
if command -v hexdump >/dev/null; then
	is "$(here -C 24 -p "$first" -x 'ef be ad de' "$s" | sed 1d |
	    sed 's/^[0-9a-f]*//')" "$(hexdump -vC -s $((4096 * 5 + 16 - 24)) \
	    -n 52 "$tmp/core.$first.bytes" | sed '$d;s/^[0-9a-f]*//')" \
	    "-C: bytes are printed as hexdump(1) prints them"
else
	skip "-C: bytes" "no hexdump"
fi
is "$(here -C 24 -p "$first" -x 'ef be ad de' "$s" | sed -n 2p |
    cut -d ' ' -f 1)" "$(hex "16#$deadbeef - 24")" "-C: address of a line"
is "$(here -B 0 -A 2 -p "$first" -x 'ef be ad de' "$s" | sed 1d |
    cut -d ' ' -f 3-9)" "ef be ad de 67 12 " "-B, -A: the number of bytes"
is "$(here -A 1 -m 3 -p "$first" 'secret=' "$s" | grep -c '^--$')" 2 \
    "-A: matches are separated by --"

# control characters do not reach a terminal
here -p "$first" 'red' "$s" >"$tmp/out"
is "$(cut -d ' ' -f 5- "$tmp/out" | head -n 1)" "red" \
    "text ends at the first byte that is not text"
is "$(here -C 32 -p "$first" -e '[^z]{3}red.*ESCAPE..' "$s" |
    LC_ALL=C grep -c $'[\001-\010\013-\037\177-\237]')" 0 \
    "the output has no control characters"
if command -v script >/dev/null; then
	TERM=xterm script -qec "$grep -r $start-$end -p $first 'red' $s" \
	    /dev/null </dev/null | tr -d '\r' >"$tmp/out"
	is "$(cut -d ' ' -f 5- "$tmp/out" | head -n 1)" \
	    $'\033[1;31mred\033[m' "on a terminal, a match is in color"
	NO_COLOR=1 TERM=xterm script -qec \
	    "$grep -r $start-$end -op $first -e '.{3}red.*ESCAPE..' $s" \
	    /dev/null </dev/null | tr -d '\r' >"$tmp/out"
	is "$(LC_ALL=C grep -c $'[\001-\010\013-\037\177-\237]' \
	    "$tmp/out")" 0 "on a terminal, -o prints no control characters"
	is "$(TERM=dumb script -qec \
	    "$grep -ox $(printf '41%.0s' {1..21}) $tmp/classes" /dev/null \
	    </dev/null | head -n 1 | wc -w)" 21 \
	    "on a terminal, -ox prints all bytes of a match"
else
	skip "output on a terminal" "no script" 3
fi

# invalid patterns
while IFS='|' read -r args want; do
	eval "\"$grep\" $args \"$s\"" >"$tmp/out" 2>&1
	is "$? $(head -n 1 "$tmp/out")" "2 snapgrep: $want" "refused: $args"
done <<'END'
'a('|pattern: missing closing parenthesis, at character 3
-x 'd'|-x: expected two hexadecimal digits or ?? for each byte, not "d"
-n 3 4|-n: expected 1, 2, 4 or 8, optionally with le or be, not "3"
-n 1 256|256: out of range for 1 bytes
-n 8 -- -99999999999999999999|-99999999999999999999: out of range for 8 bytes
-n 1 12x|12x: not a number
-P xyz|xyz: not an address
-r 20-10 a|20-10: not a range of addresses
-r 20-20 a|20-20: not a range of addresses
-p 1,,2 a|-p: empty process name
-p 4194305 a|-p: no process 4194305
-m 1k a|-m 1k: the number is invalid
''|empty pattern
END
while read -r args; do
	eval "\"$grep\" $args \"$s\"" >"$tmp/out" 2>&1
	is "$? $(head -n 1 "$tmp/out" | cut -d ' ' -f 1,2)" \
	    "2 usage: snapgrep" "usage: $args"
done <<'END'
-P 10 -x
-F -P 10
-P 10 -e a
-P 10 -R 20-30
-F -x aa
-u -x aa
-x -n 4 5
-i -P 10
END
# rules of YARA
if ! pkg-config --exists yara; then
	skip "-Y: rules of YARA" "yara is missing" 8
	finish 80
fi
"$grep" -u -Y /dev/null "$s" >"$tmp/out" 2>&1
is "$? $(head -n 1 "$tmp/out" | cut -d ' ' -f 1,2)" "2 usage: snapgrep" \
    "usage: -u -Y"
cat >"$tmp/rules" <<'END'
rule border {
	strings:
		$a = "borderXX"
		$b = { ef be ad de }
	condition:
		#a > 10 and $b
}
rule child {
	strings:
		$c = /child=[0-4]/
	condition:
		$c
}
rule nobody {
	strings:
		$n = "borderXY"
	condition:
		$n
}
END
is "$(here -Y "$tmp/rules" "$s" | grep -F 'border $a: ' | cut -d ' ' -f 1-4)" \
    "$(here -aF borderXX "$s" | cut -d ' ' -f 1-4)" \
    "-Y: the places of the strings of a rule are printed"
is "$(here -lY "$tmp/rules" -p "$first" "$s")" "$first" \
    "-Y -l: a process that matches a rule is listed"
is "$(here -Y "$tmp/rules" "$s" | grep -F 'child $c' | cut -d ' ' -f 1 |
    sort -u)" "$(printf '%s\n' "${pids[@]:1}" | sort)" \
    "-Y: only processes that match the rule are printed"
here -qY "$tmp/rules" "$s"
is $? 0 "-Y: a match gives status 0"
"$grep" -Y "$tmp/rules" -e border "$s" >"$tmp/out" 2>&1
is $? 2 "-Y: another pattern is refused"
"$grep" -r 0-1 -Y "$tmp/rules" "$s"
is $? 1 "-Y: no match gives status 1"
echo 'rule x { condition: nothing }' >"$tmp/wrong"
is "$("$grep" -Y "$tmp/wrong" "$s" 2>&1)" \
    "snapgrep: $tmp/wrong: line 1: undefined identifier \"nothing\"" \
    "-Y: invalid rules are refused"
finish 80
