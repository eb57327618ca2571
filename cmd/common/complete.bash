# Completion of the programs of snap, for bash: options, which each program
# tells in --help; processes, files, users and control groups.
# shellcheck shell=bash

# _snap_add WORD CURRENT: offer a word that begins as what was typed.  Words
# are names that processes gave themselves: they are quoted, and nothing that
# expands what it is given (compgen -W) may see them.
_snap_add() {
	local q

	if [[ $1 == "$2"* ]]; then
		printf -v q %q "$1"
		COMPREPLY+=("$q")
	fi
}

# Processes: numbers if a digit was typed, else names; for a user other than
# root, those that are theirs.
_snap_processes() {
	local p name args

	for p in /proc/[0-9]*; do
		[[ $EUID -eq 0 || -O $p ]] || continue
		# threads of the kernel have no arguments, the dead no files
		{
			IFS= read -r -d '' args <"$p/cmdline" &&
			[[ -n $args ]] && IFS= read -r name <"$p/comm"
		} 2>/dev/null || continue
		if [[ $1 == [0-9]* ]]; then
			_snap_add "${p#/proc/}" "$1"
		else
			_snap_add "$name" "$1"
		fi
	done
}

_snap_cgroups() {
	local g

	while IFS= read -r g; do
		_snap_add "$g" "$1"
	done < <(find /sys/fs/cgroup -maxdepth 5 -type d \
	    \( -name '*.service' -o -name '*.scope' -o -name '*.slice' \) \
	    -printf '%f\n' 2>/dev/null | sort -u)
	if [[ $1 == /* ]]; then
		_snap_files "$1" -d
	fi
}

# _snap_files CURRENT [-d]: files, or directories only
_snap_files() {
	local f

	compopt -o filenames 2>/dev/null
	while IFS= read -r f; do
		COMPREPLY+=("$f")
	done < <(compgen "${2--f}" -- "$1")
}

_snap_conditions() {
	local c

	compopt -o nospace 2>/dev/null
	for c in cpu\> fds\> log= psi-cpu\> psi-io\> psi-memory\> rss\> \
	    signal threads\>; do
		_snap_add "$c" "$1"
	done
}

# _snap_argument OPTION ARGUMENT CURRENT: what its argument in --help says
_snap_argument() {
	case $1=$2 in
	--cgroup=*) _snap_cgroups "$3" ;;
	--when=*) _snap_conditions "$3" ;;
	--user=*) mapfile -t COMPREPLY < <(compgen -u -- "$3") ;;
	*=pid*) _snap_processes "$3" ;;
	*dir* | *=mtpt) _snap_files "$3" -d ;;
	*=file* | *=core | *=exe) _snap_files "$3" ;;
	esac
}

# What no option comes before.
_snap_operand() {
	case ${1##*/} in
	snap) _snap_processes "$2" ;;
	snapcrash)
		mapfile -t COMPREPLY < <(compgen -W \
		    'debug dump info install list remove rm serve stack status' \
		    -- "$2")
		;;
	vmtrace) mapfile -t COMPREPLY < <(compgen -c -- "$2") ;;
	*)
		_snap_files "$2"
		_snap_processes "$2"
		;;
	esac
}

_snap() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev='' line long arg
	local -a all=(--help --version)
	local option='^  (-(.), |    )(--[a-z-]+)(=([^ ]+))? '

	if ((COMP_CWORD > 1)); then
		prev=${COMP_WORDS[COMP_CWORD - 1]}
	fi
	# --output=x is three words
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	while IFS= read -r line; do
		[[ $line =~ $option ]] || continue
		long=${BASH_REMATCH[3]}
		arg=${BASH_REMATCH[5]}
		all+=("$long${arg:+=}")
		if [[ -n $arg ]] && [[ $prev == "$long" ||
		    $prev =~ ^-[a-zA-Z]*${BASH_REMATCH[2]:-=}$ ]]; then
			_snap_argument "$long" "$arg" "$cur"
			return
		fi
	done < <("$1" --help 2>/dev/null)
	if [[ $cur == -* ]]; then
		for long in "${all[@]}"; do
			_snap_add "$long" "$cur"
		done
		if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
			compopt -o nospace 2>/dev/null
		fi
	else
		_snap_operand "$1" "$cur"
	fi
}

complete -F _snap pagestat procmap snap snapcat snapcore snapcrash snapdiff \
    snapfs snapgrep snapload snapls snapstack vmtrace
