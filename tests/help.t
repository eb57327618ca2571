#!/usr/bin/env bash
# The options of each program: --help, the manual page, and unknown options.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

cd "$tests/.." || exit 1

# page_options PAGE: print the options of a manual page, except those that do
# nothing
page_options() {
	sed -nE '/^\.It Fl (N , Fl -system|l , Fl -let-go)/d
	    s/^\.It Fl (.) , Fl -([a-z-]+).*/-\1, --\2/p
	    s/^\.It Fl -([a-z-]+)( [^,].*)?$/--\1/p
	    s/^\.It Fl -([a-z-]+) , Fl -([a-z-]+).*/--\1\n--\2/p' "$1"
}

# page_short PAGE: print the letters whose long names are missing
page_short() {
	awk '/^\.It Fl . , Fl -/ { known[$3] = 1 }
	    /^\.It Fl .( |$)/ && $4 != "," && !known[$3] { print $3 }' "$1"
}

# page_synopsis PAGE: print the letters of its synopsis
page_synopsis() {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$1" | awk '{
		for (i = 1; i < NF; i++)
			if ($i == "Fl")
				print $++i
	}' | sed '/^Fl$/d; /^-/d; s/./&\n/g' | sed '/^$/d'
}

help_options() {
	sed 's/^      --help, /      --help\n      /' "$1" |
	    sed -nE 's/^  (-., --[a-z-]+).*/\1/p; s/^      (--[a-z-]+).*/\1/p'
}

version=$(sed -n 's/^#define SNAP_VERSION "\(.*\)"/\1/p' lib/snap/snap.h)
n=0
for dir in cmd/*/; do
	p=$(basename "$dir")
	page=cmd/$p/$p.1
	if [ ! -e "$page" ]; then
		continue	# shared by the programs
	fi
	n=$((n + 1))
	if left_out "$p"; then
		skip "$p: options" "$(pkg_lacks "$p") is missing" 10
		continue
	fi
	"$BUILD/$p" --help >"$tmp/help" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "$p --help exits 0 without messages"
	is "$(awk 'END { print (NR > 25) }' "$tmp/help") $(
	    expand "$tmp/help" | awk 'length > 80')" "0 " \
	    "$p --help fits on a screen"
	is "$(help_options "$tmp/help" | sort)" "$(page_options "$page" | sort)" \
	    "$p: --help and the manual page name the same options"
	is "$(page_short "$page")" "" "$p: the page has all long names"
	for o in $(help_options "$tmp/help" | sed -n 's/^-\(.\),.*/\1/p') \
	    $(page_synopsis "$page"); do
		sed -n '/^$/q;p' "$tmp/help" | grep -Eq "\[?-[A-Za-z]*$o" ||
		    echo "-$o"
	done >"$tmp/lacks"
	is "$(cat "$tmp/lacks")" "" "$p --help: the synopsis has each letter"
	is "$("$BUILD/$p" --version)" "$p (snap) $version" "$p --version"
	"$BUILD/$p" --unknown >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$? $(wc -c <"$tmp/out")" "2 0" "$p: an unknown long option exits 2"
	grep -q "^usage: $p " "$tmp/err"
	ok $? "$p: an unknown long option prints the usage"
	"$BUILD/$p" '-?' >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$? $(wc -c <"$tmp/out")" "2 0" "$p: an unknown letter exits 2"
	"$BUILD/$p" --help >/dev/full 2>"$tmp/err"
	is "$?" 1 "$p --help exits 1 if the disk is full"
done
is "$n" 13 "there are thirteen programs"
finish 131
