#!/usr/bin/env bash
# tests/run runs all files even if one fails, and in the right order.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# file NAME: write a test from standard input
file() {
	{ echo "#!/usr/bin/env bash"; cat; } >"$tmp/$1.t"
	chmod 755 "$tmp/$1.t"
}
# runs NAME ...: run tests; sets $rc, and prints the last part of the output
runs() {
	"$tests/run" ${how:+"$how"} "${@/#/$tmp/}" >"$tmp/out" 2>&1
	rc=$?
	sed -n "s,^${tmp#/}/,,;/\.t: /p;/ passed, /p" "$tmp/out"
}

file good <<'END'
echo "ok 1 - it is"
echo 1..1
END
file bails <<'END'
echo "ok 1 - so far"
echo "Bail out! no further"
END
file ends <<'END'
echo "ok 1 - so far"
exit 1
END
file leaks <<'END'
echo 1..1
echo "ok 1 - it is"
echo "a leak"
exit 23
END
file lacks <<'END'
. "$tests/tap.sh"
until_true() { return 1; }
target false
END
file hangs <<'END'
echo "ok 1 - so far"
sleep 1000
END
export tests
is "$(runs good.t; echo "$rc")" "1 passed, 0 failed, 0 skipped
0" "a file that passes"
is "$(runs bails.t good.t; echo "$rc")" "bails.t: not ok - Bail out! no further
bails.t: 0 planned, 2 ran
2 passed, 1 failed, 0 skipped
1" "a file that bails out fails, and the next one runs"
is "$(runs ends.t good.t; echo "$rc")" \
    "ends.t: not ok - it ended with status 1
ends.t: 0 planned, 2 ran
2 passed, 1 failed, 0 skipped
1" "a file that ends early fails, and the next one runs"
is "$(runs leaks.t good.t; echo "$rc $(grep -c '^a leak$' "$tmp/out")")" \
    "leaks.t: not ok - it ended with status 23
leaks.t: 1 planned, 2 ran
2 passed, 1 failed, 0 skipped
1 1" "a file that ends with an error fails, and its last lines are shown"
is "$(runs lacks.t good.t; echo "$rc")" \
    "lacks.t: not ok 1 - false starts
lacks.t: 0 planned, 1 ran
1 passed, 1 failed, 0 skipped
1" "a file whose target does not start fails"
is "$(EACH=1 runs hangs.t good.t; echo "$rc")" \
    "hangs.t: not ok - it printed nothing for 1 seconds
hangs.t: 0 planned, 2 ran
2 passed, 1 failed, 0 skipped
1" "a file that hangs fails, and the next one runs"
is "$(pgrep -f "$tmp/hangs.t")" "" "the file that hangs is ended"

# says NAME WORD ...: write a test with a "beside" line, which logs its
# beginning and its end
says() {
	printf '%s\n' "# beside: ${*:2}" "echo $1 >>$tmp/log" \
	    "echo $1 >>$tmp/log" "echo 'ok 1 - $1'" "echo 1..1" | file "$1"
}
says one nothing
says two nothing
says counts apart
says lives live
says lasts nothing long
says plain others unsanitized
how=-j
is "$(runs one.t two.t counts.t lives.t plain.t; echo "$rc") $(
    tr '\n' ' ' <"$tmp/log")" "5 passed, 0 failed, 0 skipped
0 plain plain lives lives counts counts one one two two " \
    "tests with different words do not run at the same time"
rm "$tmp/log"
is "$(runs one.t lasts.t; head -n 1 "$tmp/log")" \
    "2 passed, 0 failed, 0 skipped
lasts" "long tests run first"
# turns NAME WORD: it lasts, and the test beside has to run before it ends
turns() {
	file "$1" <<-END
	# beside: $2
	echo $1 >>$tmp/log
	for i in {1..200}; do [ -e $tmp/ran ] && break; sleep 0.1; done
	sleep 0.2
	echo $1 >>$tmp/log
	[ -e $tmp/ran ] && echo "ok 1 - $1"
	echo 1..1
	END
}
turns first crash
turns second crash
printf '%s\n' ": >$tmp/ran" 'echo "ok 1 - beside"' 'echo 1..1' | file beside
rm "$tmp/log"
is "$(runs first.t second.t beside.t; uniq -c "$tmp/log" | sort -k 2)" \
    "3 passed, 0 failed, 0 skipped
      2 first
      2 second" "tests that set core_pattern take turns, beside others"
how=-js
is "$(runs plain.t one.t)" "1 passed, 0 failed, 0 skipped" \
    "-s skips tests with the word unsanitized"
says wrong everything
is "$(runs wrong.t; echo "$rc $(grep -c "wrong.t everything" "$tmp/out")")" \
    "1 1" "an unknown word is an error"
finish 12
