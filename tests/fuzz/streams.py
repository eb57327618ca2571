#!/usr/bin/env python3
"""Write snap(6) streams, valid and malicious ones, as the first inputs of a
fuzzer to the directories of a corpus: streams.py corpus."""
import os
import struct
import sys

HEAD = b'process snapshot 1735689600 ann@gnot amd64 1 "Linux 6.12"\n'
ESCAPE = b'\x1b]0;x\x07\x1b[31m\x9b31m\xc2\x9b1m'
STAT = (b'%d (%s) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 65536 10 '
        b'18446744073709551615 65536 69632 140737488351232 0 0 0 0 0 0 0 0 0 '
        b'17 0 0 0 0 0 0 73728 77824 81920 0 0 0 0 0\n')
MAPS = (b'00010000-00018000 r-xp 00000000 08:01 77 /bin/what\n'
        b'00018000-0001c000 rw-p 00000000 00:00 0 [heap]\n'
        b'00020000-00022000 r--p 00001000 08:01 78 /lib/lib.so\n'
        b'00022000-00024000 rw-s 00000000 00:01 79 /dev/zero (deleted)\n'
        b'7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n')
LIMITS = (b'Limit                     Soft Limit           Hard Limit\n'
          b'Max data size             unlimited            unlimited  bytes\n'
          b'Max stack size            8388608              unlimited  bytes\n')


def num(n):
    return b'%11d ' % n


def data(pid, name, b):
    return num(pid) + name + b'\n' + num(len(b)) + b


def linux(pid, files):
    return data(pid, b'proc', b'linux amd64 1\n' + b''.join(
        name + b'\n' + num(len(b)) + b for name, b in files))


def status(pid, name=b'what'):
    return (b'Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\n'
            b'PPid:\t1\nThreads:\t2\nVmRSS:\t64 kB\n' % (name, pid, pid))


def smaps(maps):
    return b''.join(
        line + b'\nSize: 16 kB\nRss: 8 kB\nShared_Clean: 4 kB\n'
        b'Private_Dirty: 4 kB\nAnonymous: 4 kB\nSwap: 0 kB\n'
        b'VmFlags: rd wr mr mw me gd ac\n' for line in maps.splitlines())


def raw(b):
    return b''.join(b'r' + b[i:i + 1024] for i in range(0, len(b), 1024))


def seg(base, length, pages):
    return num(base) + num(length) + pages


def mem(pid, *segs):
    return num(pid) + b'mem\n' + num(len(segs)) + b''.join(segs)


def text(pid, b):
    return num(pid) + b'text\n' + seg(0, len(b), raw(b))


def linkmap():
    """Make 8 KiB for 0x10000: program headers, dynamic section, link map."""
    m = bytearray(8192)

    def words(at, *v):
        struct.pack_into('<%dQ' % len(v), m, at, *v)
    for i, (kind, addr) in enumerate([(6, 0x40), (3, 0x600), (2, 0x200)]):
        struct.pack_into('<IIQQQQQQ', m, i * 56, kind, 4, 0, addr, 0, 64, 64,
                         8)
    m[0x600:0x60b] = b'/lib/ld.so\0'
    m[0x620:0x62c] = b'/lib/lib.so\0'
    words(0x40 + 0x200 - 0x40, 1, 0, 21, 0x10300, 0, 0)
    words(0x300, 1, 0x10400)
    words(0x400, 0, 0x10640, 0x10000, 0x10440)
    words(0x440, 0, 0x10620, 0x20000, 0)
    return bytes(m)


def auxv():
    return struct.pack('<10Q', 3, 0x10000, 4, 56, 5, 3, 7, 0x20000, 0, 0)


def elf():
    """Make an executable with a build ID and a symbol."""
    strtab = b'\0main\0'
    sym = struct.pack('<IBBHQQ', 0, 0, 0, 0, 0, 0) + struct.pack(
        '<IBBHQQ', 1, 0x12, 0, 1, 0x10040, 16)
    note = struct.pack('<III', 4, 8, 3) + b'GNU\0' + b'identity'
    at = 64 + 2 * 56
    symat = at + len(note)
    strat = symat + len(sym)
    shat = (strat + len(strtab) + 7) // 8 * 8
    head = b'\x7fELF\2\1\1' + bytes(9) + struct.pack(
        '<HHIQQQIHHHHHH', 2, 62, 1, 0x10040, 64, shat, 0, 64, 56, 2, 64, 3, 0)
    b = head + struct.pack('<IIQQQQQQ', 1, 5, 0, 0x10000, 0, 0x1000, 0x1000,
                           4096)
    b += struct.pack('<IIQQQQQQ', 4, 4, at, 0x10000 + at, 0, len(note),
                     len(note), 4)
    b += note + sym + strtab
    b += bytes(shat - len(b)) + bytes(64)
    b += struct.pack('<IIQQQQIIQQ', 0, 2, 0, 0, symat, len(sym), 2, 1, 8, 24)
    b += struct.pack('<IIQQQQIIQQ', 0, 3, 0, 0, strat, len(strtab), 0, 0, 1, 0)
    return b


def process(pid, more=(), maps=MAPS, name=b'what'):
    return linux(pid, [
        (b'stat', STAT % (pid, name)), (b'status', status(pid, name)),
        (b'comm', name + b'\n'), (b'maps', maps), (b'smaps', smaps(maps)),
        (b'limits', LIMITS), (b'auxv', auxv()), (b'exe', b'/bin/what'),
        (b'fd/3', b'/tmp/log'), (b'fdinfo/3', b'pos:\t0\nflags:\t02\n'),
        (b'regset/prstatus', struct.pack('<27Q', *range(27))),
        *more])


def memory(pid):
    return mem(pid, seg(0x10000, 8192, raw(linkmap())),
               seg(0x18000, 4096, b'zz' + raw(b'h' * 1024) + b'm' +
                   num(pid) + num(0x10000)),
               seg(0x20000, 1500, b'z' + raw(b'x' * 476)))


def thread(pid, of):
    return linux(pid, [(b'thread', b'%d\n' % of), (b'stat', STAT %
                 (pid, b'thr')), (b'status', status(pid)),
                 (b'regset/prstatus', bytes(216))])


def carried(pid, dev, ino, path, body=elf()):
    return linux(pid, [(b'carried', b'%s %d %s\n' % (dev, ino, path))]) + \
        text(pid, body)


def whole(pid=7):
    return (HEAD + process(pid) + data(pid, b'status', b' ' * 175 + b'\n') +
            data(pid, b'fd', b'/\n') + text(pid, elf()) + memory(pid) +
            thread(pid + 1, pid) + carried(4194305, b'8:1', 78,
                                           b'/lib/lib.so'))


def names_maps(names):
    return b''.join(b'%08x-%08x r-xp 00000000 08:01 %d %s\n' % (
        0x10000 * (i + 1), 0x10000 * (i + 1) + 4096, i + 5, n)
        for i, n in enumerate(names))


PATHS = [b'/../../etc/shadow', b'/a/../../b', b'/x/./y', b'//z', b'/a/b', b'/a',
         b'/lib/\\012x', b'/' + b'n' * 300, b'/' + b'd/' * 300 + b'f',
         b'/memfd:q (deleted)', b'/' + ESCAPE]


def streams():
    yield 'whole', whole()
    yield 'pair', whole() + whole()
    yield 'other', whole() + whole(8)
    yield 'escapes', (
        b'process snapshot 1 ' + ESCAPE + b'\n' +
        process(1, [(b'cwd', ESCAPE), (b'missing', ESCAPE + b'\n')],
                b'10000-20000 rw-p 00000000 08:01 5 /tmp/' + ESCAPE + b'\n',
                ESCAPE) + data(1, b'status', ESCAPE * 8) + memory(1))
    yield 'paths', HEAD + process(1, maps=names_maps(PATHS)) + b''.join(
        carried(4194305 + i, b'8:1', i + 5, n, b'text') for i, n in
        enumerate(PATHS))
    yield 'depth', HEAD + process(1, [(b'd/' * 1500 + b'x', b'data')])
    yield 'names', HEAD + process(1) + b''.join(
        data(1, n, b'data') for n in (b'..', b'ctl', b'mem', b'map', b'root',
                                      b'linux', b'core', b'-x', b'n' * 255))
    yield 'zero', HEAD + process(5) + memory(5) + data(
        0, b'proc', b'linux index 1\nend\n' + num(3) + b'1 2') + process(6)
    yield 'registers', HEAD + process(1, [
        (b'regset/fpregs', b''), (b'regset/xstate', b''), (b'siginfo', b''),
        (b'sigmask', b'')]) + linux(2, [(b'thread', b'1\n'),
                                        (b'regset/fpregs', b'')]) + memory(1)
    yield 'top', HEAD + process(1, maps=b'fffffffffffff000-ffffffffffffffff '
                                b'rw-p 00000000 00:00 0 \n') + mem(
        1, seg(2 ** 64 - 2048, 2048, b'z' + raw(b't' * 1024)),
        seg(2 ** 63, 1024, b'z'), seg(1, 1023, raw(b'o' * 1023)))
    yield 'over', HEAD + process(1) + mem(
        1, seg(4096, 8192, b'z' * 8), seg(5000, 3000, raw(b'a' * 3000)),
        seg(4096, 1024, raw(b'b' * 1024))) + mem(
        1, seg(6000, 1000, raw(b'c' * 1000)))
    yield 'missing', HEAD + process(1, [(
        b'missing', b'10000-12000 unreadable\n11000-13000 guard\n'
        b'18000-18400 file\n')]) + memory(1)


def main(corpus):
    def put(target, name, b):
        os.makedirs(os.path.join(corpus, target), exist_ok=True)
        with open(os.path.join(corpus, target, name), 'wb') as file:
            file.write(b)
    for name, b in streams():
        for target in 'fstree', 'space', 'pages', 'svg', 'merge':
            if target == 'space' and name in ('pair', 'other'):
                continue
            put(target, name, b if target != 'merge' or b.count(
                b'process snapshot ') > 1 else b + whole(1))
        if name in ('pair', 'other'):
            continue
        put('snap6', 'made-' + name, b)
        for i, damage in enumerate([(0, 0, 0, 0), (24001, 0, 0, 0),
                                    (22000, 30000, 0, 0), (0, 0, 0, 31001)]):
            if i == 0 or name == 'whole':
                put('salvage', '%s%d' % (name, i),
                    struct.pack('<4H', *damage) + b)
    put('elfsym', 'good', elf())
    for name, maps in ('maps', MAPS), ('paths', names_maps(PATHS)):
        part = len(maps) * 16 // (len(maps) + 8192) + 1
        while (len(maps) + 8192) * part // 16 > len(maps):
            maps += b'\n'
        body = maps + linkmap()
        put('sysroot', name, bytes([part]) + body)
    for name in sorted(os.listdir(os.path.join(corpus, 'criu'))):
        with open(os.path.join(corpus, 'criu', name), 'rb') as file:
            b = file.read()
        if name in ('new', 'stack', 'old'):
            put('unload', name, b'\0' + b)
        if name == 'new':
            put('unload', 'link', b'\x0c' + b)
            put('unload', 'directory', b'\x86' + b)
            put('unload', 'fifo', b'\x46' + b)
            put('unload', 'fifo-pages', b'\x4c' + b)


if __name__ == '__main__':
    main(sys.argv[1])
