#!/usr/bin/env bash
# What snapgrep finds is what grep finds in the same bytes, as cores have them.
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

# same WHAT GREPOPTIONS OPTIONS PATTERN [SNAPSHOT]
same() {
	try "$1" python3 "$tests/grep/compare.py" "$BUILD/snapgrep" \
	    "${5-$tmp/snap}" "$region" "$2" "$3" "$4" "${cores[@]}"
}

same "a string" -F -F 'secret='
same "a string, as an expression" -P '' 'secret='
same "across pages" -P '' 'borderXXcrossing'
same "across kilobytes" -P '' 'kilobyte'
same "what overlaps itself" -P '' 'aa'
same "what does, and has another length" -P '' 'aaaaaaa'
same "as many as there are" -P '' 'token(a+)'
same "letters" -P '' '[a-z]{6,8}'
same "behind the border of a word" -P '' '\bsecret'
same "behind the border of a word, and of a page" -P '' '\banchor'
same "what is long, and across pages" -P '' '[0-9 ]{3000,}'
same "whole words" '-P -w' -w 'token[a-z]*'
same "what looks ahead" -P '' 'X(?=X)'
same "what looks back" -P '' '(?<=secret=)\d+'
same "two in a line" -P '' 'secret.*token'
same "the beginning of a line" -P '' '^.'
same "the end of a line" -P '' 'aaaa$'
same "in either case" '-P -i' -i 'SECRET|ToKeN'
same "what children wrote" -P '' 'child=\d'
same "bytes that are frequent" -P '' '[\xe0-\xff]{2}'
"$BUILD/snapcat" -z -o "$tmp/gz" "$tmp/snap"
same "compressed" -P '' 'border|child=|[a-z]{6}' "$tmp/gz"
"$BUILD/snapcat" "$tmp/snap" >"$tmp/copy"
same "written anew" -P '' 'border|child=|[a-z]{6}' "$tmp/copy"
cores=("${cores[0]}")
same "a core" -P '' 'border|secret=\d' "${cores[0]}"
finish 23
