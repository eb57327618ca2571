#!/usr/bin/env bash
# snapgrep finds the same as grep finds in the same bytes, taken from cores.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

needs snapgrep
target python3 "$tests/grep/contents.py"
read -r -a pids < <(sed -n 's/^pids //p' "$lines")
region=$(sed -n 's/^region \(.*\) \(.*\)/\1-\2/p' "$lines")
snap -o "$tmp/snap" "${pids[@]}"
cores=()
for p in "${pids[@]}"; do
	"$BUILD/snapcore" -p "$p" -o "$tmp/core.$p" "$tmp/snap" || exit 1
	cores+=("$tmp/core.$p")
done

# same NAME GREPOPTIONS OPTIONS PATTERN [SNAPSHOT]
same() {
	try "as grep: $1" python3 "$tests/grep/compare.py" "$BUILD/snapgrep" \
	    "${5-$tmp/snap}" "$region" "$2" "$3" "$4" "${cores[@]}"
}

same "a string" -F -F 'secret='
same "an expression that is a string" -P '' 'secret='
same "across pages" -P '' 'borderXXcrossing'
same "across kilobytes" -P '' 'kilobyte'
same "a string that overlaps itself" -P '' 'aa'
same "a longer string that overlaps itself" -P '' 'aaaaaaa'
same "a repeated letter" -P '' 'token(a+)'
same "letters" -P '' '[a-z]{6,8}'
same "after a word boundary" -P '' '\bsecret'
same "after a word boundary at the border of a page" -P '' '\banchor'
same "a long match across pages" -P '' '[0-9 ]{3000,}'
same "whole words" '-P -w' -w 'token[a-z]*'
same "lookahead" -P '' 'X(?=X)'
same "lookbehind" -P '' '(?<=secret=)\d+'
same "two strings in a line" -P '' 'secret.*token'
same "the beginning of a line" -P '' '^.'
same "the end of a line" -P '' 'aaaa$'
same "in either case" '-P -i' -i 'SECRET|ToKeN'
same "strings that children wrote" -P '' 'child=\d'
same "frequent bytes" -P '' '[\xe0-\xff]{2}'
"$BUILD/snapcat" -z -o "$tmp/gz" "$tmp/snap"
same "a compressed snapshot" -P '' 'border|child=|[a-z]{6}' "$tmp/gz"
"$BUILD/snapcat" "$tmp/snap" >"$tmp/copy"
same "a snapshot copied by snapcat" -P '' 'border|child=|[a-z]{6}' "$tmp/copy"
cores=("${cores[0]}")
same "a core" -P '' 'border|secret=\d' "${cores[0]}"
finish 23
