#!/usr/bin/env bash
# tests/run: what one file does keeps no other from being run.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# file NAME: a test, which is read from standard input
file() {
	{ echo "#!/usr/bin/env bash"; cat; } >"$tmp/$1.t"
	chmod 755 "$tmp/$1.t"
}
# runs NAME ...: $rc, and what is printed at the end
runs() {
	"$tests/run" "${@/#/$tmp/}" >"$tmp/out" 2>&1
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
file lacks <<'END'
. "$tests/tap.sh"
until_true() { return 1; }
target false
END
export tests
is "$(runs good.t; echo "$rc")" "1 passed, 0 failed, 0 skipped
0" "one that passes"
is "$(runs bails.t good.t; echo "$rc")" "bails.t: not ok - Bail out! no further
bails.t: 0 planned, 2 ran
2 passed, 1 failed, 0 skipped
1" "one that bails out"
is "$(runs ends.t good.t; echo "$rc")" "ends.t: 0 planned, 1 ran
2 passed, 0 failed, 0 skipped
1" "one that ends early"
is "$(runs lacks.t good.t; echo "$rc")" \
    "lacks.t: not ok 1 - false starts
lacks.t: 0 planned, 1 ran
1 passed, 1 failed, 0 skipped
1" "one whose target does not start"
finish 4
