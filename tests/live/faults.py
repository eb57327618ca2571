"""Make a system call of snap or its guard fail in each run, or kill it there.

usage: faults.py SNAP SNAPLS FAULT DIR [late:]COUNT PID ... -- FLAG ...

Runs SNAP with FLAGs through FAULT (tests/targets/fault.c) on any of the
processes that is free: COUNT runs, spread over all possible faults, or all of
them if COUNT is 0; with "late:", only over delays.  After each run, the process
must be as before, and there is a message or a complete snapshot.  Prints
errors, and exits 1 if there are any.
"""
import concurrent.futures
import errno
import os
import queue
import re
import subprocess
import sys
import time

NR = {}
with open('/usr/include/x86_64-linux-gnu/asm/unistd_64.h') as header:
    for line in header:
        m = re.match(r'#define __NR_(\w+) (\d+)', line)
        if m:
            NR[int(m.group(2))] = m.group(1)

# calls that may fail, and their errors; "+": the call is made nevertheless.
# Not munmap: glibc aborts if it cannot free a thread's stack.
FAILS = {
    'openat': 'ENFILE ENOMEM EIO EINTR', 'read': 'EIO EINTR',
    'pread64': 'EIO ENOMEM', 'readlink': 'EIO ENOMEM',
    'process_vm_writev': 'EFAULT ENOMEM', 'write': 'EIO ENOSPC',
    'writev': 'EIO ENOSPC', 'ptrace': 'EIO', 'wait4': 'EINTR',
    'waitid': 'EINTR', 'mmap': 'ENOMEM',
    'mprotect': 'ENOMEM', 'close': '+EIO',
    'statx': 'EIO ENOMEM', 'newfstatat': 'EIO ENOMEM',
    'fstat': 'EIO ENOMEM',
    'statfs': 'EIO', 'fstatfs': 'EIO', 'clone': 'EAGAIN ENOMEM',
    'clone3': 'EAGAIN ENOMEM', 'kill': 'EPERM', 'tgkill': 'EPERM',
    'pidfd_open': 'ENFILE ENOSYS', 'pidfd_getfd': 'EPERM ENFILE',
    'pidfd_send_signal': 'EPERM', 'kcmp': 'EPERM ENOSYS',
    'ioctl': 'EIO ENOMEM', 'sendto': 'ENOMEM EINTR',
    'sendmsg': 'ENOMEM', 'recvfrom': 'ENOMEM EINTR', 'recvmsg': 'ENOMEM',
    'socketpair': 'ENFILE', 'socket': 'ENFILE EACCES', 'connect': 'EACCES',
    'poll': 'EINTR', 'clock_nanosleep': 'EINTR', 'fsync': 'EIO',
    'linkat': 'EIO EPERM', 'rename': 'EIO', 'renameat2': 'EIO',
    'unlink': 'EIO', 'setsid': 'EPERM', 'dup2': 'EBADF',
    'close_range': 'ENOSYS', 'getdents64': 'EIO', 'lseek': 'EINVAL',
    'fcntl': 'EINVAL', 'prctl': 'EINVAL', 'access': 'EIO',
    'prlimit64': 'EPERM', 'madvise': 'ENOMEM', 'pipe2': 'ENFILE',
    'rt_sigprocmask': 'EINVAL', 'copy_file_range': 'EIO',
    'fallocate': 'ENOSPC', 'ftruncate': 'EIO', 'memfd_create': 'ENFILE',
    'fadvise64': 'EIO', 'openat2': 'ENFILE EIO ENOSYS',
    'sched_getaffinity': 'EPERM',
}
# after these, snap is delayed
LATE = ('ptrace', 'wait4', 'process_vm_writev', 'kill', 'tgkill', 'clone',
    'clone3', 'recvmsg', 'poll')
KEYS = ('State', 'TracerPid', 'Threads', 'SigPnd', 'ShdPnd', 'SigBlk',
    'SigIgn', 'SigCgt', 'FDSize', 'NoNewPrivs', 'Seccomp')

snap, snapls, fault, where, count = sys.argv[1:6]
at = sys.argv.index('--')
pids, flags = [int(p) for p in sys.argv[6:at]], sys.argv[at + 1:]
kind, _, count = count.rpartition(':')
count = int(count)


def slurp(name):
    try:
        with open(name) as file:
            return file.read()
    except OSError:
        return ''


def state(pid):
    """Return the state of a process that must not change."""
    status = dict(x.split(':', 1) for x in slurp('/proc/%d/status' % pid)
        .splitlines() if ':' in x)
    got = {k: status.get(k, '').strip() for k in KEYS}
    got['maps'] = slurp('/proc/%d/maps' % pid)
    try:
        tasks = os.listdir('/proc/%d/task' % pid)
        got['fd'] = sorted(os.listdir('/proc/%d/fd' % pid))
    except OSError:
        tasks = []
    for t in tasks:
        kin = slurp('/proc/%d/task/%s/children' % (pid, t)).split()
        for c in kin:
            m = re.search(r'State:\s*(.*)', slurp('/proc/%s/status' % c))
            got['child ' + c] = m.group(1) if m else ''
        status = slurp('/proc/%d/task/%s/status' % (pid, t))
        got['task ' + t] = re.findall(
            r'(?m)^(?:State|TracerPid|SigPnd|SigBlk):\s*(.*)', status)
    return got


def unlike(was, now):
    lines = [set(x['maps'].splitlines()) for x in (was, now)]
    return ', '.join('maps: %s, was %s' % (lines[1] - lines[0],
        lines[0] - lines[1]) if k == 'maps' else '%s: %s, was %s' % (k,
        now.get(k), was.get(k))
        for k in sorted({*was, *now}) if was.get(k) != now.get(k))


def added(was, now):
    """Is one new mapping of 20 kilobytes the only difference?"""
    new = [x for x in now.splitlines() if x not in was.splitlines()]
    if set(was.splitlines()) - set(now.splitlines()) or len(new) != 1:
        return False
    start, end = (int(x, 16) for x in new[0].split()[0].split('-'))
    return end - start == 20480 and ' rw-p ' in new[0]


def records(name):
    """Check a snapshot. Return the error that is found, or an empty string,
    and the names of its records and of the files in them."""
    r = subprocess.run([snapls, '-cv', name], capture_output=True, text=True)
    names = set()
    with open(name, 'rb') as file:
        data = file.read()
    for line in r.stdout.splitlines():
        m = re.match(r' *(\d+) +(\d+) +(\d+) (\w+)$', line)
        if not m or not 0 < int(m.group(3)) < 1 << 22:
            continue
        names.add((m.group(3), m.group(4)))
        if m.group(4) != 'proc':
            continue
        at, end = int(m.group(1)), int(m.group(1)) + int(m.group(2))
        names |= {(m.group(3), n) for n in inside(data[at:end])}
    return (r.stderr.strip() or 'silently') if r.returncode else '', names


def inside(data):
    """Return the names of a record's files; a last line may have no end."""
    return {n.rsplit(b'regset/', 1)[-1].decode() for n in re.findall(
        rb'\n?([a-z][a-z_/0-9]*)\n[ 0-9]{11} ', data)}


class Run:
    def __init__(self, pid, number):
        self.pid = pid
        self.dir = '%s/%d' % (where, number)
        os.mkdir(self.dir)
        self.out = self.dir + '/o'
        self.run('-', -1, 0, '0')       # the stack may grow, once
        self.counts = [(r, int(nr), int(n)) for r, nr, n in
            (x.split() for x in self.hits)]
        for _ in range(100):
            self.was = state(pid)
            if 'R (running)' not in str(self.was):
                break
            time.sleep(0.05)
        self.ref = records(self.out)[1]

    def run(self, role, nr, n, error):
        if os.path.exists(self.out):
            os.unlink(self.out)
        p = subprocess.run([fault, self.dir + '.hits', role, str(nr), str(n),
            error, snap, *flags, '-o', self.out, str(self.pid)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            errors='replace', text=True)
        self.said = p.stdout.strip()
        self.rc = p.returncode
        self.hits = slurp(self.dir + '.hits').splitlines()

    def judge(self, role, nr, n, error):
        """Make such a run and return a list of errors."""
        self.run(role, nr, n, error)
        bad = []
        stays = 0
        for i in range(100):    # it may just wake up, and sleep again
            now = state(self.pid)
            # our memory in it may stay, as snap-internals(7) says
            if error == 'kill' and role == 'm' and added(
                    self.was['maps'], now['maps']):
                stays += 1
            if stays == 20:
                self.was['maps'] = now['maps']
            diff = unlike(self.was, now)
            if not diff:
                break
            time.sleep(0.05)
        if diff:
            bad.append('TARGET: ' + diff)
            self.was = now
        killed = error == 'kill'
        if self.rc == 124:
            bad.append('HANG')
        elif self.rc > 127 and not (killed and self.rc == 137) or \
                'Sanitizer' in self.said:
            bad.append('CRASH %d' % self.rc)
        elif self.rc not in (0, 137) and not self.said:
            bad.append('SILENT %d' % self.rc)
        files = os.listdir(self.dir)
        if [f for f in files if f != 'o']:
            bad.append('LEFT %s' % files)
            for f in files:
                os.unlink('%s/%s' % (self.dir, f))
        if os.path.exists(self.out):
            broken, names = records(self.out)
            if broken:
                bad.append('BROKEN ' + broken)
            lost = self.ref - names
            if self.rc == 0 and lost and not self.said:
                bad.append('LOST %s' % sorted(lost))
        elif self.rc == 0:
            bad.append('NO FILE')
        return bad


def spread(n, most):
    """Return numbers from 1 to n, evenly spread: no more than most."""
    return range(1, n + 1) if n <= most else [
        1 + i * n // most for i in range(most)]


def cases(counts):
    all = []
    for role, nr, n in counts:
        for error in FAILS.get(NR.get(nr, ''), '').split():
            sign = '+' if error[0] == '+' else ''
            number = sign + str(getattr(errno, error.lstrip('+')))
            first = 2 if NR[nr] == 'mmap' else 1    # ld.so's, which crashes
            all += [(role, nr, i, number) for i in spread(n, 250)
                if i >= first]
    for role, nr, n in counts:
        if NR.get(nr) in LATE:
            all += [(role, nr, i, 'late') for i in spread(n, 250)]
    for role in sorted({r for r, nr, n in counts}):
        calls = sum(n for r, nr, n in counts if r == role)
        all += [(role, -1, i, 'kill') for i in spread(calls, 2500)]
    return all


runs = queue.Queue()
for i, pid in enumerate(pids):
    run = Run(pid, i)
    runs.put(run)
todo = [c for c in cases(run.counts) if kind in ('', c[3])]
if 0 < count < len(todo):
    # if COUNT is 100 or more, also each file that cannot be opened or examined;
    # with "late:", also each request of the guard
    each = [c for c in todo if (count >= 100 and c[0] in 'mt' and
        c[3] == str(errno.EIO) and NR.get(c[1]) in ('openat', 'statx',
        'newfstatat', 'fstat')) or (kind and c[0] == 'h' and
        NR.get(c[1]) == 'ptrace')]
    todo = [todo[i * len(todo) // count] for i in range(count)] + each


def one(case):
    run = runs.get()
    bad = run.judge(*case)
    hit = bool(run.hits)
    text = '%s %s %d %s: rc %d%s %s' % (case[0], NR.get(case[1], 'any'),
        case[2], case[3] if case[3] in ('kill', 'late') else
        errno.errorcode[int(case[3].lstrip('+'))], run.rc,
        '' if hit else ' (not hit)', run.said[-200:].replace('\n', ' | '))
    runs.put(run)
    return bad, text, hit


failed = hits = 0
with concurrent.futures.ThreadPoolExecutor(len(pids)) as pool:
    for bad, text, hit in pool.map(one, todo):
        hits += hit
        if bad:
            failed += 1
            print(text, *bad, sep='\n\t', flush=True)
print('%d runs, %d with a fault, %d failed' % (len(todo), hits, failed))
sys.exit(failed > 0)
