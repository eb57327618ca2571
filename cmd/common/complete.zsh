#compdef pagestat procmap snap snapcat snapcore snapcrash snapdiff snapfs snapgrep snapload snapls snapstack vmtrace
# Completion of the programs of snap, for zsh: options, which each program
# tells in --help; processes, files, users and control groups.

# Processes: numbers if a digit was typed, else names; for a user other than
# root, those that are theirs.
_snap_processes() {
	local p
	local -a found

	for p in /proc/<->(N); do
		(( EUID == 0 )) || [[ -O $p ]] || continue
		# threads of the kernel have no arguments, the dead no files
		[[ -n "$(<$p/cmdline)" ]] 2>/dev/null || continue
		if [[ $PREFIX == <->* ]]; then
			found+=(${p:t})
		else
			found+=("$(<$p/comm)")
		fi
	done 2>/dev/null
	compadd -a found
}

_snap_cgroups() {
	local -a found

	found=(/sys/fs/cgroup/**/*.(service|scope|slice)(N/:t))
	compadd -a found
	_files -/
}

_snap_conditions() {
	compadd -S '' 'cpu>' 'fds>' log= 'psi-cpu>' 'psi-io>' 'psi-memory>' \
	    'rss>' signal 'threads>'
}

_snap_sources() {
	_alternative files:file:_files processes:process:_snap_processes
}

_snap() {
	local line what
	local option='^  (-.|  )[, ] (--[a-z-]+)(=([^ ]+))? +(.*)$'
	local -a match mbegin mend
	local -a spec=('--help[print this help]' '--version[print the version]')

	for line in ${(f)"$(_call_program options $words[1] --help 2>/dev/null)"}; do
		[[ $line =~ $option ]] || continue
		what=
		case "$match[2]=$match[4]" in
		--cgroup=*) what=:cgroup:_snap_cgroups ;;
		--when=*) what=:condition:_snap_conditions ;;
		--user=*) what=:user:_users ;;
		*=pid*) what=:process:_snap_processes ;;
		*dir*|*=mtpt) what=:directory:'_files -/' ;;
		*=file*|*=core|*=exe) what=:file:_files ;;
		*=?*) what=":$match[4]: " ;;
		esac
		spec+=("$match[2]${match[3]:+=}[${match[5]//[\[\]:]/ }]$what")
		if [[ $match[1] == -? ]]; then
			spec+=("$match[1]${match[3]:++}[${match[5]//[\[\]:]/ }]$what")
		fi
	done
	case $service in
	snap) spec+=('*:process:_snap_processes') ;;
	vmtrace) spec+=('(-):command:_command_names -e' '*::arguments:_normal') ;;
	snapcrash) spec+=('1:command:(debug dump info install list remove rm serve
	    stack status)' '*:file:_files') ;;
	*) spec+=('*: :_snap_sources') ;;
	esac
	_arguments -s $spec
}

_snap "$@"
