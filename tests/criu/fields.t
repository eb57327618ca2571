#!/usr/bin/env bash
# What snapload makes of snap's snapshot of a program, field by field beside
# what criu itself makes of the same program a moment later: it does not move
# meanwhile.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# Differences that are as they should be, and why, in the words of fields.py.
cat >"$tmp/accepted" <<'EOT'
# Fields that may be missing, with what criu takes them for then.
inventory/(lsmtype|network_lock_method|plugins_entry|dump_criu_run_id) # optional ? ours is None
inventory/root_cg_set # no cgroups are told: criu's own ? ours is None
task/core/thread_core/cg_set # likewise ? ours is None
inventory/root_ids/.*_ns_id # no namespaces are told: criu's own ? ours is None
task/ids/.*_ns_id # likewise ? ours is None
task/core/sigaction \d+/compat # of 64-bit processes it is always this ? ours is None and theirs == 0
task/core/tc/loginuid # nobody logged in ? ours is None and theirs == 0xffffffff
task/core/thread_info/fpregs/xsave/(ymmh_space|opmask_reg|zmm_upper|hi16_zmm)/\d+ # a register in its initial state ? ours is None and theirs == 0
task/core/thread_info/fpregs/xsave/cet # no shadow stack ? ours is None and theirs == b'\x08\x00\x10\x00'
task/core/thread_info/tls/\d/.* # segments that nobody set up ? ours is None
task/mm/thp_disabled # it is not ? ours is None and theirs == 0
task/mm/vma ffffffffff600000/.* # [vsyscall] is the kernel's own, and criu restores nothing there ? ours is None
task/(fs/cwd|fs/root|mm/exe|mm/vma [0-9a-f]+)/file/mode # checked if it is there: of what is mapped, /proc tells no mode ? ours is None
task/(fs/cwd|fs/root|mm/exe)/mode # likewise ? ours is None
task/mm/vma [0-9a-f]+/file/size # checked if it is there: files that are written change ? ours is None
task/mm/vma [0-9a-f]+/file/object/mode # of memory without a descriptor, whose mode nobody sees ? ours is None and theirs == 0o100777
task/fd \d+/file/opts/[a-z_]+ # socket options that have their initial values ? ours is None and theirs in (0, 1)
task/fd \d+/file/ns_id # sockets are in criu's own network namespace, like all ? ours is None
task/fd \d+/file/target \d+/(dev|inode|pos) # where a descriptor was replaced criu finds the file by these ? ours is None
task/fd \d+/file/ghost/dev # place of a file without a name: optional ? ours is None
task/fd \d+/file/size # of a file without a name, which comes along ? ours is None
# The same in another way.
task/core/thread_core/blk_sigset # of the thread that leads, it is in the task as well ? theirs is None
task/core/thread_core/(pdeath_sig|sched_prio) # written though it is what a missing one means ? ours == 0 and theirs is None
task/fd \d+/file/shutdown # likewise ? ours == 0 and theirs is None
task/mm/vma [0-9a-f]+/fdflags # a private mapping of a file that was opened to write: reading will do ? ours == 0 and theirs == 2
task/mm/vma [0-9a-f]+/file/flags # shared memory is opened to write by mappings that write ? ours == 2 and theirs in (0, 0o100002)
task/fd \d+/file/backlog # means nothing of a socket that does not listen; criu's is the length of another queue ? ours == 0
# Time went on in between.
task/core/tc/timers/(real|virt|prof)/vusec # what is left of a second
task/core/timer \d/vnsec # likewise
task/fd \d+/file/vnsec # likewise
task/core/tc/timers/(real|virt|prof)/vsec # ours was first ? 0 <= ours - theirs <= 30
task/core/timer \d/vsec # likewise ? 0 <= ours - theirs <= 30
task/fd \d+/file/vsec # likewise ? 0 <= ours - theirs <= 30
EOT

is_idle() {
	grep -q '^idle' "$log"
}

start carryon idle
until_true is_idle
# the file that tells so has been written, and the thread sleeps
sleep 0.2
take "$tmp/ours" -r
sleep 0.2
dump "$pid" "$tmp/criu"
if python3 "$here/fields.py" "$tmp/ours" "$tmp/criu" "$tmp/accepted" \
    >"$tmp/out" 2>&1; then
	ok 0 "every field is as criu has it, or explained"
	tail -n 1 "$tmp/out" | diag
else
	ok 1 "every field is as criu has it, or explained"
	diag <"$tmp/out"
fi
finish 3
