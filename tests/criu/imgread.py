"""imgread - read CRIU images, slowly and without the library

read(path) returns the messages of an image as dictionaries, by the names of
their fields; a field that may be repeated is a list.  Data after a message
that is not a message is under '+'.

The tables are those of criu's images/*.proto.  A kind is u (varint), s (zigzag
sint), i (int32, int64), f (fixed64), t (string), b (bytes) or the name of a
message; a '*' marks a field that may be repeated.
"""
import os
import struct


def table(text):
    """Convert "number name kind, ..." to {number: (name, kind)}."""
    fields = {}
    for line in text.split(','):
        number, name, kind = line.split()
        fields[int(number)] = (name, kind)
    return fields


def numbered(names, kind='u', first=1):
    return {i: (n, kind) for i, n in enumerate(names.split(), first)}


MESSAGES = {
    'inventory': table('1 img_version u, 2 fdinfo_per_id u, 3 root_ids ids, '
                       '4 ns_per_id u, 5 root_cg_set u, 6 lsmtype u, '
                       '8 dump_uptime u, 9 pre_dump_mode u, 10 tcp_close u, '
                       '11 network_lock_method u, 12 plugins_entry b, '
                       '13 dump_criu_run_id t, 14 allow_uprobes u, '
                       '15 compress u, 16 compress_block_size u'),
    'pstree': table('1 pid u, 2 ppid u, 3 pgid u, 4 sid u, 5 threads u*'),
    'ids': numbered('vm_id files_id fs_id sighand_id pid_ns_id net_ns_id '
                    'ipc_ns_id uts_ns_id mnt_ns_id user_ns_id cgroup_ns_id '
                    'time_ns_id'),
    'core': table('1 mtype u, 2 thread_info x86, 3 tc task, 4 ids ids, '
                  '5 thread_core thread'),
    'x86': table('1 clear_tid_addr u, 2 gpregs gpregs, 3 fpregs fpregs, '
                 '4 tls desc*'),
    'gpregs': numbered('r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di '
                       'orig_ax ip cs flags sp ss fs_base gs_base ds es fs gs '
                       'mode'),
    'fpregs': table('1 cwd u, 2 swd u, 3 twd u, 4 fop u, 5 rip u, 6 rdp u, '
                    '7 mxcsr u, 8 mxcsr_mask u, 9 st_space u*, '
                    '10 xmm_space u*, 11 padding u*, 13 xsave xsave'),
    'xsave': table('1 xstate_bv u, 2 ymmh_space u*, 3 bndreg_state u*, '
                   '4 bndcsr_state u*, 5 opmask_reg u*, 6 zmm_upper u*, '
                   '7 hi16_zmm u*, 8 pkru u*, 9 cet b'),
    'desc': numbered('entry_number base_addr limit seg_32bit contents_h '
                     'contents_l read_exec_only limit_in_pages '
                     'seg_not_present usable'),
    'task': table('1 task_state u, 2 exit_code u, 3 personality u, 4 flags u, '
                  '5 blk_sigset u, 6 comm t, 7 timers timers, '
                  '8 rlimits rlimits, 9 cg_set u, 10 signals_s queue, '
                  '11 old_seccomp_mode u, 12 old_seccomp_filter u, '
                  '13 loginuid u, 14 oom_score_adj i, 15 sigactions action*, '
                  '18 child_subreaper u, 20 blk_sigset_extended u, '
                  '21 stop_signo u, 22 membarrier_registration_mask u'),
    'thread': table('1 futex_rla u, 2 futex_rla_len u, 3 sched_nice s, '
                    '4 sched_policy u, 5 sched_prio u, 6 blk_sigset u, '
                    '7 sas sas, 8 pdeath_sig u, 9 signals_p queue, '
                    '10 creds creds, 11 seccomp_mode u, 12 seccomp_filter u, '
                    '13 comm t, 14 blk_sigset_extended u, 15 rseq_entry rseq, '
                    '16 cg_set u, 17 timerslack_ns u'),
    'timers': table('1 real itimer, 2 virt itimer, 3 prof itimer, '
                    '4 posix timer*'),
    'itimer': numbered('isec iusec vsec vusec'),
    'timer': table('1 it_id u, 2 clock_id u, 3 si_signo u, '
                   '4 it_sigev_notify u, 5 sival_ptr u, 6 overrun u, 7 isec u, '
                   '8 insec u, 9 vsec u, 10 vnsec u, 11 notify_thread_id i'),
    'rlimits': table('1 rlimits rlimit*'),
    'rlimit': numbered('cur max'),
    'queue': table('1 signals siginfo*'),
    'siginfo': table('1 siginfo b'),
    'action': numbered('sigaction flags restorer mask compat mask_extended'),
    'sas': numbered('ss_sp ss_size ss_flags'),
    'rseq': numbered('rseq_abi_pointer rseq_abi_size signature rseq_cs'),
    'creds': table('1 uid u, 2 gid u, 3 euid u, 4 egid u, 5 suid u, 6 sgid u, '
                   '7 fsuid u, 8 fsgid u, 9 cap_inh u*, 10 cap_prm u*, '
                   '11 cap_eff u*, 12 cap_bnd u*, 13 secbits u, 14 groups u*, '
                   '15 lsm_profile t, 16 lsm_sockcreate t, 17 apparmor b, '
                   '18 no_new_privs u, 19 cap_amb u*'),
    'mm': {**numbered('start_code end_code start_data end_data start_stack '
                      'start_brk brk arg_start arg_end env_start env_end '
                      'exe_file_id'),
           **table('13 auxv u*, 14 vmas vma*, 15 dumpable i, 16 aios b*, '
                   '17 thp_disabled u')},
    'vma': table('1 start u, 2 end u, 3 pgoff u, 4 shmid u, 5 prot u, '
                 '6 flags u, 7 status u, 8 fd s, 9 madv u, 10 fdflags u'),
    'fs': numbered('cwd_id root_id umask'),
    'fdinfo': table('1 id u, 2 flags u, 3 type u, 4 fd u, 5 selinux t'),
    'files': {**table('1 type u, 2 id u, 3 reg reg, 8 efd eventfd, '
                      '9 epfd epoll, 10 sgfd signalfd, 12 tfd timerfd, '
                      '16 usk unix, 17 fifo fifo, 18 pipe pipe, '
                      '20 memfd memfdfile'),
              **{i: ('other%d' % i, 'b')
                 for i in (4, 5, 6, 7, 11, 13, 14, 15, 19, 21, 22)}},
    'fown': numbered('uid euid signum pid_type pid'),
    'reg': table('1 id u, 2 flags u, 3 pos u, 5 fown fown, 6 name t, '
                 '7 mnt_id s, 8 size u, 9 ext u, 10 mode u, 11 build_id u*, '
                 '12 checksum u, 13 checksum_config u, '
                 '14 checksum_parameter u'),
    'pipe': table('1 id u, 2 pipe_id u, 3 flags u, 4 fown fown'),
    'fifo': table('1 id u, 2 pipe_id u, 3 regf_id u'),
    'eventfd': table('1 id u, 2 flags u, 3 fown fown, 4 counter u'),
    'signalfd': table('1 id u, 2 flags u, 3 fown fown, 4 sigmask u'),
    'epoll': table('1 id u, 2 flags u, 3 fown fown, 4 tfd watch*'),
    'watch': numbered('id tfd events data dev inode pos'),
    'timerfd': table('1 id u, 2 flags u, 3 fown fown, 4 clockid u, 5 ticks u, '
                     '6 settime_flags u, 7 vsec u, 8 vnsec u, 9 isec u, '
                     '10 insec u'),
    'memfdfile': table('1 id u, 2 flags u, 3 pos u, 4 fown fown, '
                       '5 inode_id u'),
    'memfd': table('1 name t, 2 uid u, 3 gid u, 4 size u, 5 shmid u, '
                   '6 seals u, 7 inode_id u, 8 hugetlb_flag u, 9 mode u'),
    'unix': table('1 id u, 2 ino u, 3 type u, 4 state u, 5 flags u, '
                  '6 uflags u, 7 backlog u, 8 peer u, 9 fown fown, '
                  '10 opts opts, 11 name b, 12 shutdown u, 13 perms perms, '
                  '14 name_dir t, 15 deleted u, 16 ns_id u, 17 mnt_id s'),
    'perms': numbered('mode uid gid'),
    'opts': {**numbered('sndbuf rcvbuf snd_tmo_sec snd_tmo_usec rcv_tmo_sec '
                        'rcv_tmo_usec reuseaddr priority rcvlowat mark '
                        'passcred passsec dontroute no_check'),
             **table('15 bound_dev t, 16 filter f*'),
             **numbered('reuseport broadcast keepalive keepcnt keepidle '
                        'keepintvl oobinline linger buf_lock', 'u', 17)},
    'pipe_data': numbered('pipe_id bytes size'),
    'packet': table('1 id_for u, 2 length u, 3 addr b, 4 scm b*'),
    'remap': numbered('orig_id remap_id remap_type'),
    'ghost': table('1 uid u, 2 gid u, 3 mode u, 4 dev u, 5 ino u, 6 rdev u, '
                   '7 atim b, 8 mtim b, 9 chunks u, 10 size u, 11 target t'),
    'chunk': numbered('len off'),
    'cgroup': table('1 sets cgset*, 2 controllers controller*'),
    'cgset': table('1 id u, 2 ctls member*'),
    'member': table('1 name t, 2 path t, 3 cgns_prefix u'),
    'controller': table('1 cnames t*, 2 dirs cgdir*, 3 is_threaded u'),
    'cgdir': table('1 dir_name t, 2 children cgdir*, 3 properties prop*, '
                   '4 dir_perms perms'),
    'prop': table('1 name t, 2 value t, 3 perms perms'),
}
# message kinds by the second magic; fields that count bytes after a message
WORDS = {0x50273030: 'pstree', 0x55053847: 'core', 0x54432030: 'ids',
         0x57492820: 'mm', 0x51403912: 'fs', 0x56213732: 'fdinfo',
         0x56303138: 'files', 0x48453499: 'memfd', 0x56453709: 'pipe_data',
         0x56264026: 'packet', 0x59133954: 'remap', 0x52583605: 'ghost',
         0x59383330: 'cgroup'}
BEHIND = {'pipe_data': 'bytes', 'packet': 'length', 'chunk': 'len'}


def varint(b, at):
    value = shift = 0
    while True:
        byte = b[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def wire(b):
    """Yield the number and the value of each field."""
    at = 0
    while at < len(b):
        key, at = varint(b, at)
        if key & 7 == 0:
            value, at = varint(b, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from('<Q', b, at)[0], at + 8
        elif key & 7 == 2:
            n, at = varint(b, at)
            value, at = b[at:at + n], at + n
        else:
            raise ValueError('wire type %d' % (key & 7))
        yield key >> 3, value


def convert(kind, value):
    if kind == 'u' or kind == 'b' or kind == 'f':
        return value
    if kind == 's':
        return value >> 1 ^ -(value & 1)
    if kind == 'i':
        return value - (value >> 63 << 64)
    if kind == 't':
        return value.decode(errors='surrogateescape')
    return message(kind, value)


def message(kind, b):
    out = {}
    for number, value in wire(b):
        name, how = MESSAGES[kind].get(number, ('unknown%d' % number, 'b'))
        if not how.endswith('*'):
            out[name] = convert(how, value)
            continue
        if isinstance(value, bytes) and how in ('u*', 'f*'):    # packed
            at, end = 0, len(value)
            while at < end:
                v, at = varint(value, at)
                out.setdefault(name, []).append(v)
        else:
            out.setdefault(name, []).append(convert(how[:-1], value))
    return out


def read(path):
    """Return the messages of an image; an empty list if there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, 'rb') as file:
        b = file.read()
    kind, at = 'inventory', 4
    if os.path.basename(path) != 'inventory.img':
        kind, at = WORDS[struct.unpack_from('<I', b, 4)[0]], 8
    out = []
    while at < len(b):
        n = struct.unpack_from('<I', b, at)[0]
        out.append(message(kind, b[at + 4:at + 4 + n]))
        at += 4 + n
        behind = out[-1].get(BEHIND.get(kind), 0)
        if kind == 'ghost' and not out[-1].get('chunks'):
            behind = len(b) - at
        elif kind == 'ghost':
            kind = 'chunk'
        if behind:
            out[-1]['+'] = b[at:at + behind]
            at += behind
    return out
