#!/usr/bin/env bash
# What each option of snapgrep does, on a process with known contents.
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

# here OPTION ...: snapgrep of the memory that the process tells of
here() {
	"$grep" -r "$start-$end" "$@"
}

# hex EXPRESSION: its value, as addresses are
hex() {
	printf '%x' $(($1))
}

base=$((16#$start))
deadbeef=$(hex "$base + 4096 * 5 + 16")

# lines
at=$(here -x -p "$first" 'ef be ad de' "$s")
# the kernel may have joined it with others
map=$(while IFS=' -' read -r a b _; do
	[ $((16#$a)) -gt "$base" ] || [ $((16#$b)) -le "$base" ] || echo "$a"
done <"/proc/$first/maps")
is "$at" "$first $deadbeef rw-p [anon]+$(hex "16#$deadbeef - 16#$map"): ef be ad de" \
    "a line has process, address, permissions, mapping and offset"
is "$(here -x 'ef be ad de' "$s")" \
    "$at  (+2: ${pids[1]} ${pids[2]})" "a page is told once, with its owners"
is "$(here -ae '[0-9 b]{30000,}' "$s" | wc -l) $(
    here -e '[0-9 b]{30000,}' "$s" | grep -v '(+' | cut -d ' ' -f 1)" \
    "3 $(printf '%s\n' "${pids[@]}")" \
    "the same pages at both ends, and others between, are not the same"
is "$(here -ax 'ef be ad de' "$s" | cut -d ' ' -f 1,2)" \
    "$(for p in "${pids[@]}"; do echo "$p $deadbeef"; done)" \
    "-a: all places"
is "$("$grep" -x 'ef be ad de' "$s" "$s" | cut -d : -f 1 | sort -u)" "$s" \
    "of several files, each has its name"
"$BUILD/snapcat" "$s" | here -qF 'borderXX'
is $? 0 "a pipe; status 0 of a match"
here -F 'borderXY' "$s" >"$tmp/out"
is "$? $(cat "$tmp/out")" "1 " "status 1 of none"
"$grep" -l border "$tmp/none" "$s" 2>"$tmp/err" >"$tmp/out"
is "$? $(cat "$tmp/err")" "2 snapgrep: $tmp/none: No such file or directory" \
    "status 2 of what cannot be read, though there is a match"
"$grep" -q border "$tmp/none" "$s" 2>"$tmp/err"
is $? 0 "-q: status 0 then, as of grep"

"$grep" -q border "$s" "$tmp/none" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "-q: what comes behind a match is not opened"
case $BUILD in
*-asan) skip "who cannot confine itself" "the sanitizers take descriptors" ;;
*)
	is "$(ulimit -n 4; "$grep" border "$s" 2>&1; echo ": $?")" \
	    $'snapgrep: cannot start the helper process: Too many open files\n: 2' \
	    "status 2 where it cannot be confined"
	;;
esac

# ten processes with one page, and zeros behind it
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
    "  (+9: 12 13 14 15 16 17 18 19 ...)" "eight others are named"
is "$("$grep" -x '65 00' "$tmp/ten" | wc -l)" 10 \
    "zeros of several processes are not the same"

# how much is told
is "$(here -c 'child=' "$s")" "$(for p in "${pids[@]}"; do
	n=$(here -a -p "$p" 'child=' "$s" | wc -l)
	echo "$p: $n"
done)" "-c: how many each has"
is "$(here -l 'child=[0-4]' "$s")" "$(printf '%s\n' "${pids[@]:1}")" \
    "-l: who has one"
is "$(here -am 2 'border' "$s" | cut -d ' ' -f 1 | uniq -c | tr -s ' ')" \
    "$(for p in "${pids[@]}"; do echo " 2 $p"; done)" "-m: two of each"
is "$(here -q border "$s")" "" "-q: nothing"
is "$(here -o -p "$last" 'secret=0000[01]' "$s" | sort -u)" \
    "$(printf 'secret=0000%d\n' 0 1)" "-o: what matches"

# what is looked for
is "$(here -o 'Gr..e' "$s")" "" "UTF-16 is no text"
is "$(here -u 'Grüße🙂' "$s" | cut -d ' ' -f 5)" "Grüße🙂" "-u: UTF-16"
is "$(here -ui 'gRü' "$s" | cut -d ' ' -f 5)" "Grüße🙂" \
    "-u -i: in either case"
is "$(here -uwc 'rüße' "$s")" "$(printf '%s: 0\n' "${pids[@]}")" \
    "-u -w: it is no word"
is "$(here -ac -n 2 4711 -p "$first" "$s")" \
    "$(here -ac -x '67 12' -p "$first" "$s")" "-n 2: in two bytes"
is "$(here -n 4be 0x12345678 "$s" | cut -d ' ' -f 2,5-8)" \
    "$(hex "base + 4096 * 5 + 32") 12 34 56 78" "-n 4be: big-endian"
is "$(here -n 4 -- -559038737 "$s" | cut -d ' ' -f 2)" "$deadbeef" \
    "-n 4: below zero"
is "$(here -x 'ef ?? a? de 67 12' "$s" | cut -d ' ' -f 2)" "$deadbeef" \
    "-x: any byte, any digit"
is "$(here -F 'token(a+)' "$s")" "" "-F: no expression"
is "$(here -F -e 'token(a+)' -e deleted -e borderXXcrossing -o "$s" |
    sort -u)" borderXXcrossing "-e: several"
is "$(here -o -e '(b)\1z' -e '(a)\1{29}' "$s" | sort -u)" \
    "$(printf 'a%.0s' {1..30})" \
    "-e: each has its own groups"
is "$(here -o -e '(?x) X X c # crossing' -e '\Qeted' "$s" | sort -u)" "XXc" \
    "-e: a comment and a quotation end with it"
is "$(here -P "$(hex "base + 64")" "$s" | cut -d ' ' -f 2,5)" \
    "$(hex "base + 4096 * 5 + 8") $(printf %016x $((base + 64)))" \
    "-P: who points there"
is "$(here -R "$start-$(hex "base + 128")" "$s" | cut -d ' ' -f 2)" \
    "$(hex "base + 4096 * 5 + 8")" "-R: who points into a range"
is "$("$grep" -r "$(hex "base + 3")-$end" -P "$(hex "base + 64")" "$s" |
    cut -d ' ' -f 2)" "$(hex "base + 4096 * 5 + 8")" \
    "-P -r: pointers lie at multiples of their size, wherever the range begins"
if [ -x "$targets/bits32" ]; then
	target "$targets/bits32"
	snap -o "$tmp/snap32" "$pid" "$last"
	is "$("$grep" -R 10203042-10203044 "$tmp/snap32" | cut -d ' ' -f 1,2,5)" \
	    "$(printf '%s\n' "$pid 804b004 10203042" "$pid 804b008 10203043")" \
	    "-R: words of 32 bits"
else
	skip "-R: words of 32 bits" "no program of 32 bits"
fi
is "$(here -ixc '53 45 43' "$s")" "$(here -Fc SEC "$s")" \
    "-i -x: bytes have no case"

# where
is "$("$grep" -M '[heap]' -M stack -l borderXX "$s")" "" \
    "-M: neither heap nor stack"
PYTHONPATH=$tests/snap6 python3 - >"$tmp/classes" <<'END'
import sys
from snapasm import assemble

sys.stdout.buffer.write(assemble('\n'.join((
    r'"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"',
    'record 7 proc', 'data {', r'"linux amd64 1\n"', r'"maps\n"', 'data {',
    r'"10000-10400 rw-s 00000000 00:01 7 /dev/shm/file\n"',
    r'"20000-20400 rw-s 00000000 00:01 0 [anon_shmem:x]\n"',
    r'"30000-30400 rw-p 00000000 fe:01 8 /lib/file\n"', '}', '}',
    'record 7 mem', 'number 3', *('segment 0x%d0000 1024\nr "%s"*1024' % (
        i, 'ABC'[i - 1]) for i in (1, 2, 3))))))
END
is "$(for m in shared file anon; do
	"$grep" -o -M $m '^[A-C]' "$tmp/classes" | tr '\n' ' '
done)" "A B C " "-M: a class, as snapdiff has them"
is "$("$grep" -M anon -M 'rw-?' -l borderXX "$s" | head -n 1)" "$first" \
    "-M: anonymous, and to be written"
is "$("$grep" -M 'r-x?' -l borderXX "$s")" "" "-M: not in what is executed"
is "$("$grep" -M 'libc*' -c 'GLIBC|GNU' "$s" | grep -vc ': 0')" 3 \
    "-M: in a library"
is "$("$grep" -p "$last,${pids[1]}" -l borderXX "$s")" \
    "$(printf '%s\n' "${pids[@]:1}")" "-p: of two"

# around a match
"$BUILD/snapcore" -p "$first" -o "$tmp/core.$first" "$s"
python3 "$tests/grep/compare.py" "$grep" "$s" "$start-$end" -F -F border \
    "$tmp/core.$first" >/dev/null
is "$(here -C 24 -p "$first" -x 'ef be ad de' "$s" | sed 1d |
    sed 's/^[0-9a-f]*//')" "$(hexdump -vC -s $((4096 * 5 + 16 - 24)) -n 52 \
    "$tmp/core.$first.bytes" | sed '$d' | sed 's/^[0-9a-f]*//')" \
    "-C: as hexdump shows it"
is "$(here -C 24 -p "$first" -x 'ef be ad de' "$s" | sed -n 2p |
    cut -d ' ' -f 1)" "$(hex "16#$deadbeef - 24")" "-C: with its address"
is "$(here -B 0 -A 2 -p "$first" -x 'ef be ad de' "$s" | sed 1d |
    cut -d ' ' -f 3-9)" "ef be ad de 67 12 " "-B, -A: so many bytes"
is "$(here -A 1 -m 3 -p "$first" 'secret=' "$s" | grep -c '^--$')" 2 \
    "-C: parted"

# a terminal is not controlled
here -p "$first" 'red' "$s" >"$tmp/out"
is "$(cut -d ' ' -f 5- "$tmp/out" | head -n 1)" "red" \
    "text ends where it is none"
is "$(here -C 32 -p "$first" -e '[^z]{3}red.*ESCAPE..' "$s" |
    LC_ALL=C grep -c $'[\001-\010\013-\037\177-\237]')" 0 \
    "nothing controls a terminal"
if command -v script >/dev/null; then
	TERM=xterm script -qec "$grep -r $start-$end -p $first 'red' $s" \
	    /dev/null </dev/null | tr -d '\r' >"$tmp/out"
	is "$(cut -d ' ' -f 5- "$tmp/out" | head -n 1)" \
	    $'\033[1;31mred\033[m' "on one, it is coloured"
	NO_COLOR=1 TERM=xterm script -qec \
	    "$grep -r $start-$end -op $first -e '.{3}red.*ESCAPE..' $s" \
	    /dev/null </dev/null | tr -d '\r' >"$tmp/out"
	is "$(LC_ALL=C grep -c $'[\001-\010\013-\037\177-\237]' \
	    "$tmp/out")" 0 "on one, -o does not control it"
else
	skip "on a terminal" "no script" 2
fi

# what is no pattern
while IFS='|' read -r args want; do
	eval "\"$grep\" $args \"$s\"" >"$tmp/out" 2>&1
	is "$? $(head -n 1 "$tmp/out")" "2 snapgrep: $want" "$args"
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
	    "2 usage: snapgrep" "$args"
done <<'END'
-P 10 -x
-F -P 10
-P 10 -e a
-P 10 -R 20-30
-F -x aa
-u -x aa
-x -n 4 5
-i -P 10
-u -Y /dev/null
END
# rules of YARA
if ! pkg-config --exists yara; then
	skip "-Y" "yara is missing" 7
	finish 78
fi
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
    "-Y: where the strings of a rule are"
is "$(here -lY "$tmp/rules" -p "$first" "$s")" "$first" "-Y -l: who fits"
is "$(here -Y "$tmp/rules" "$s" | grep -F 'child $c' | cut -d ' ' -f 1 |
    sort -u)" "$(printf '%s\n' "${pids[@]:1}" | sort)" \
    "-Y: not who does not fit"
here -qY "$tmp/rules" "$s"
is $? 0 "-Y: status 0"
"$grep" -Y "$tmp/rules" -e border "$s" >"$tmp/out" 2>&1
is $? 2 "-Y: no pattern beside it"
"$grep" -r 0-1 -Y "$tmp/rules" "$s"
is $? 1 "-Y: status 1"
echo 'rule x { condition: nothing }' >"$tmp/wrong"
is "$("$grep" -Y "$tmp/wrong" "$s" 2>&1)" \
    "snapgrep: $tmp/wrong: line 1: undefined identifier \"nothing\"" \
    "-Y: rules that are none"
finish 78
