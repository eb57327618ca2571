#!/usr/bin/env python3
"""A process with an unusual value of everything that the kernel keeps for a
process or thread, which then sleeps: traits.py LOG"""
import ctypes
import mmap
import os
import platform
import resource
import signal
import sys
import threading
import time

os.closerange(3, 1024)
os.setsid()
libc = ctypes.CDLL(None, use_errno=True)
syscall = libc.syscall
X86 = platform.machine() == 'x86_64'
MEMBARRIER = 324 if X86 else 283
TIMER_CREATE, TIMER_SETTIME = (222, 223) if X86 else (107, 110)
QUEUE = 297 if X86 else 240             # rt_tgsigqueueinfo
CAPGET, CAPSET = (125, 126) if X86 else (90, 91)
PERSONALITY = 135 if X86 else 92
SIG_CHLD, SIG_RT = 17, 40
log = open(sys.argv[1], 'w', buffering=1)


def try_to(what, done):
    """Log what this kernel, or its user, does not permit."""
    if not done:
        print('# not', what, ctypes.get_errno(), file=log)


def prctl(*args):
    args = args + (0,) * (5 - len(args))
    return libc.prctl(*map(ctypes.c_ulong, args)) >= 0


class Event(ctypes.Structure):
    _fields_ = [('value', ctypes.c_void_p), ('signal', ctypes.c_int),
                ('notify', ctypes.c_int), ('tid', ctypes.c_int),
                ('pad', ctypes.c_int * 11)]


def timer(clock, notify, sig, value, times, tid=0, flags=0):
    event = Event(value, sig, notify, tid)
    number = ctypes.c_int()
    if syscall(TIMER_CREATE, clock, ctypes.byref(event),
               ctypes.byref(number)) == 0:
        spec = (ctypes.c_long * 4)(*times)
        return syscall(TIMER_SETTIME, number, flags, spec, None) == 0
    return False


def queue(tid, sig, value):
    info = (ctypes.c_int * 32)()
    info[0], info[2] = sig, -1          # SI_QUEUE
    info[4], info[5], info[6] = os.getpid(), os.getuid(), value
    return syscall(QUEUE, os.getpid(), tid, sig, info) == 0


def timers(tid):
    """Create timers of each kind; those that expired have overruns."""
    mono, real, boot, cpu, thread_cpu = 1, 0, 7, 2, 3
    try_to('timer', timer(mono, 0, SIG_RT, 0x1234, (0, 1000000, 0, 1)))
    try_to('timer', timer(real, 0, SIG_RT + 1, 7, (5000, 0, 4000, 0)))
    try_to('timer', timer(boot, 1, 0, 0, (0, 0, 3000, 0)))
    try_to('timer', timer(boot, 0, SIG_RT + 2, 0, (0, 0, 0, 0)))
    try_to('timer', timer(mono, 4, SIG_RT + 3, 9, (0, 0, 9000, 0), tid))
    try_to('timer', timer(cpu, 0, SIG_RT + 4, 0, (0, 0, 9000, 0)))
    try_to('timer', timer(thread_cpu, 0, SIG_RT + 5, 0, (0, 0, 9000, 0)))
    signal.setitimer(signal.ITIMER_REAL, 7000, 11)
    signal.setitimer(signal.ITIMER_VIRTUAL, 6000, 12)
    signal.setitimer(signal.ITIMER_PROF, 5000, 13)


def memory():
    """Give mappings all kinds of advice."""
    for advice in (9, 10, 12, 14, 15, 16, 18):
        area = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        try:
            area.madvise(advice)
        except (OSError, ValueError):
            continue
        area[0] = advice
        kept.append(area)
    kept[0] and try_to('mlock', libc.mlock(ctypes.c_void_p(ctypes.addressof(
        ctypes.c_char.from_buffer(kept[0]))), ctypes.c_size_t(65536)) == 0)


def ambient():
    """Set an ambient capability."""
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    caps = (ctypes.c_uint32 * 6)()
    syscall(CAPGET, head, caps)
    caps[2] |= 1 << 10
    try_to('ambient', syscall(CAPSET, head, caps) == 0 and prctl(47, 2, 10))


def other():
    """A thread with attributes of its own."""
    prctl(15, ctypes.cast(ctypes.c_char_p(b'other name'),
                          ctypes.c_void_p).value)
    signal.pthread_sigmask(signal.SIG_BLOCK, {2, 10})
    tid = threading.get_native_id()
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    os.setpriority(os.PRIO_PROCESS, tid, 7)
    try_to('pdeathsig', prctl(1, SIG_CHLD))
    try_to('securebits', prctl(28, 0x2f))
    try_to('capbset', prctl(24, 25))
    caps = (ctypes.c_uint32 * 6)(0xff73, 0xffff, 0x0033, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    try_to('capset', syscall(CAPSET, head, caps) == 0)
    for value in (5, 6):
        try_to('queue', queue(tid, SIG_RT + 9, value))
    try_to('queue', queue(tid, 10, 1))
    told.append(tid)
    while True:
        time.sleep(1000)


def realtime():
    try:
        os.sched_setscheduler(0, os.SCHED_RR | 0x40000000, os.sched_param(3))
    except OSError:
        try_to('scheduler', False)
    told.append(threading.get_native_id())
    while True:
        time.sleep(1000)


told, kept = [], []
signal.pthread_sigmask(signal.SIG_BLOCK, set(range(SIG_RT, SIG_RT + 20)) |
                       {signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF})
for run in (other, realtime):
    threading.Thread(target=run, daemon=True).start()
while len(told) < 2:
    time.sleep(0.01)
timers(told[0])
memory()
for sig, value in ((SIG_RT + 10, 3), (SIG_RT + 10, 4), (SIG_RT + 11, -5)):
    try_to('queue', queue(os.getpid(), sig, value))
os.kill(os.getpid(), SIG_RT + 12)
for bits in (2, 8, 32):
    try_to('membarrier', syscall(MEMBARRIER, bits << 1, 0, 0) == 0)
try_to('thp', prctl(41, 1))
try_to('subreaper', prctl(36, 1))
try_to('dumpable', prctl(4, 0))
ambient()
try_to('personality', syscall(PERSONALITY, 0x0040000) >= 0)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
signal.siginterrupt(signal.SIGTERM, False)
resource.setrlimit(resource.RLIMIT_NOFILE, (500, 1000))
resource.setrlimit(resource.RLIMIT_RTTIME, (7000000, 8000000))
os.umask(0o071)
os.setpriority(os.PRIO_PROCESS, 0, -3)
with open('/proc/self/oom_score_adj', 'w') as file:
    file.write('321')
os.setgroups([5, 6, 70000])
for i in range(20):
    print('ready', file=log)
print('idle', file=log)
while True:
    time.sleep(1000)
