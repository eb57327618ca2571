#!/usr/bin/env bash
# The completions of bash and zsh for our programs.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tmp" || exit 1
export PATH=$BUILD:$PATH

# bash_offers WORD ...: print the completions of the last word
# shellcheck disable=SC2016 # for the other shell
bash_offers() {
	bash --norc -c '
		. "$0"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_snap "$1"
		printf "%s\n" "${COMPREPLY[@]}"
	' "$tests/../cmd/common/complete.bash" "$@" | sort
}

# told PROGRAM: print all options in --help, with = if they have arguments
told() {
	"$1" --help | sed 's/^      --help, /      --help\n      /' |
	    sed -n 's/^  .... *\(--[a-z-]*=\{0,1\}\).*/\1/p' | sort
}

touch one.snap two.snap
mkdir folder
# completion must not run the names of processes
# shellcheck disable=SC2016 # it is meant to look so
name='$(touch pwned)'
cp "$(command -v sleep)" "$name"
"./$name" 1000 &
pid=$!
until_true grep -q touch "/proc/$pid/comm"

is "$(bash_offers snap --outp)" --output= "bash: an option with an argument"
for p in pagestat procmap snap snapcat snapcore snapcrash snapdiff snapfs \
    snapgrep snapload snapls snapstack vmtrace; do
	if left_out "$p"; then
		skip "bash: $p: all options of --help" \
		    "$(pkg_lacks "$p") is missing"
		continue
	fi
	is "$(bash_offers "$p" --)" "$(told "$p")" \
	    "bash: $p: all options of --help"
done
is "$(bash_offers snap -vo one)" one.snap "bash: a file after -vo"
is "$(bash_offers snap --output = one)" one.snap "bash: a file after --output="
is "$(bash_offers snapload -D f)" folder "bash: a directory after -D"
is "$(bash_offers snapls two)" two.snap "bash: a snapshot"
is "$(bash_offers snapcrash d | tr '\n' ' ')" "debug dump " \
    "bash: a command of snapcrash"
is "$(bash_offers snap "$pid" | grep -x "$pid")" "$pid" \
    "bash: a process by its pid"
is "$(bash_offers snapcore -p "$pid" | grep -x "$pid")" "$pid" \
    "bash: a process after -p"
is "$(bash_offers snap "${name%% *}")" '\$\(touch\ pwned\)' \
    "bash: a process by its name, quoted"
is "$(bash_offers snap --when psi | tr '\n' ' ')" \
    'psi-cpu\> psi-io\> psi-memory\> ' "bash: a condition of snap --when"
bash_offers snap '' >all
is "$(grep -c touch all) $(ls pwned 2>/dev/null)" "1 " \
    "bash: the name of a process is not run"

# zsh_offers LINE: print the completions of the last word.  zsh lists nothing
# while there is input to read, so this waits for the list before it sends more.
zsh_offers() {
	rm -f listed
	# shellcheck disable=SC2016 # for the other shell
	zsh -f -c '
		zmodload zsh/zpty
		zpty z "zsh -f -i"
		zpty -w z "PS1=; LISTMAX=9999; fpath=($1 \$fpath)
		    autoload -Uz compinit; compinit -u -D
		    list() { zle list-choices; zle -R; : >listed }
		    zle -N list; bindkey ^I list; print rea\dy"
		zpty -r z out "*ready*"
		zpty -w -n z "$2"$'\''\t'\''
		until [ -e listed ]; do sleep 0.05; done
		zpty -w -n z $'\''\C-u'\''"print fin\ished"$'\''\n'\''
		zpty -r z out "*finished*"
		print -r -- $out
		zpty -d z
	' zsh "$tmp/functions" "$1" | tr -d '\r' |
	    sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g'
}

if ! command -v zsh >/dev/null; then
	skip "completions of zsh" "no zsh" 5
	finish 29
fi
mkdir functions
cp "$tests/../cmd/common/complete.zsh" functions/_snap
is "$(zsh_offers 'snap --' | sed -n 's/^\(--[a-z-]*\) .*/\1/p')" \
    "$(told "$BUILD/snap" | tr -d = | sort)" \
    "zsh: all options of --help"
case $(zsh_offers "snap --output=o") in
*one.snap*) ok 0 "zsh: a file after --output=" ;;
*) ok 1 "zsh: a file after --output=" ;;
esac
case $(zsh_offers "snapls t") in
*two.snap*) ok 0 "zsh: a snapshot" ;;
*) ok 1 "zsh: a snapshot" ;;
esac
case $(zsh_offers "snapcrash d") in
*debug*dump*) ok 0 "zsh: a command of snapcrash" ;;
*) ok 1 "zsh: a command of snapcrash" ;;
esac
zsh_offers "snap " >all
is "$(grep -cF "\\(touch\\ pwned" all) $(ls pwned 2>/dev/null)" "1 " \
    "zsh: a process by its name, which is not run"
finish 29
