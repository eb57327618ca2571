#!/usr/bin/env python3
"""cores - write small ELF cores, the first inputs of a fuzzer

usage: cores.py DIRECTORY

Write one core for each feature of a core. Notes and structures are those of
linux/elfcore.h, fs/binfmt_elf.c and elf(5).
"""

import os
import struct
import sys

MACHINES = {                    # EM_*, sizes of a long, of the registers
    'amd64': (62, 8, 216),
    '386': (3, 4, 68),
    'arm64': (183, 8, 272),
    'arm': (40, 4, 72),
}
PT_LOAD, PT_NOTE = 1, 4
PN_XNUM = 0xffff
R, W, X = 4, 2, 1


class Core:
    def __init__(self, cpu='amd64', xnum=False, align=4):
        self.machine, self.wide, self.nregs = MACHINES[cpu]
        self.notes = b''
        self.loads = []
        self.xnum = xnum
        self.align = align

    def word(self, *values):
        return struct.pack('<%d%s' % (len(values), 'IQ'[self.wide == 8]),
                           *values)

    def note(self, kind, data, owner=b'CORE'):
        name = owner + b'\0'
        self.notes += struct.pack('<III', len(name), len(data), kind)
        self.notes += name
        self.notes += b'\0' * (-len(self.notes) % self.align) + data
        self.notes += b'\0' * (-len(self.notes) % self.align)

    def prstatus(self, pid, sig=0):
        data = struct.pack('<iiihxx', sig, 0, 0, sig)
        data += self.word(0, 0x10)
        data += struct.pack('<iiii', pid, 1, 7, 7)
        data += self.word(1, 20000, 0, 0, 0, 0, 0, 0)
        data += bytes(i % 251 for i in range(self.nregs))
        self.note(1, data + struct.pack('<i', 1) +
                  b'\0' * (self.wide - 4))

    def prpsinfo(self, pid, args=b'prog -x arg '):
        data = struct.pack('<BcBb', 0, b'S', 0, 0) + b'\0' * (self.wide - 4)
        data += self.word(0x400600)
        data += struct.pack('<II' if self.wide == 8 else '<HH', 1000, 100)
        data += struct.pack('<iiii', pid, 1, 7, 7)
        self.note(3, data + struct.pack('16s80s', b'prog', args))

    def auxv(self, *pairs):
        self.note(6, b''.join(self.word(*p) for p in pairs) +
                  self.word(0, 0))

    def files(self, *entries):
        data = self.word(len(entries), 4096)
        data += b''.join(self.word(*e[:3]) for e in entries)
        self.note(0x46494c45, data + b''.join(e[3] + b'\0' for e in entries))

    def load(self, addr, data, memsz=None, flags=R | W, filesz=None):
        self.loads.append((addr, data, len(data) if filesz is None else
                           filesz, len(data) if memsz is None else memsz,
                           flags))

    def bytes(self):
        wide = self.wide == 8
        ehsize, phsize, shsize = (64, 56, 64) if wide else (52, 32, 40)
        count = len(self.loads) + 1
        off = ehsize + phsize * count

        def phdr(kind, off, addr, filesz, memsz, flags, align):
            if wide:
                return struct.pack('<IIQQQQQQ', kind, flags, off, addr, 0,
                                   filesz, memsz, align)
            return struct.pack('<IIIIIIII', kind, off, addr, 0, filesz,
                               memsz, flags, align)

        body = self.notes
        head = phdr(PT_NOTE, off, 0, len(self.notes), 0, R, self.align)
        for addr, data, filesz, memsz, flags in self.loads:
            head += phdr(PT_LOAD, off + len(body), addr, filesz, memsz,
                         flags, 4096)
            body += data
        ident = b'\x7fELF' + bytes([2 if wide else 1, 1, 1]) + bytes(9)
        shoff = off + len(body) if self.xnum else 0
        ehdr = ident + struct.pack(
            '<HHI' + ('QQQ' if wide else 'III') + 'IHHHHHH', 4, self.machine,
            1, 0, ehsize, shoff, 0, ehsize, phsize,
            PN_XNUM if self.xnum else count, shsize, int(self.xnum), 0)
        if self.xnum:
            body += struct.pack('<IIQQQQIIQQ' if wide else '<IIIIIIIIII',
                                0, 0, 0, 0, 0, 1, 0, count, 0, 0)
        return ehdr + head + body


def simple(cpu, **more):
    core = Core(cpu, **more)
    core.prstatus(7, 11)
    core.prpsinfo(7)
    core.load(0x10000, b'abcd' * 512)
    return core


def elf_page():
    """Return the first page of an ELF file, with a build ID."""
    note = struct.pack('<III4s', 4, 20, 3, b'GNU\0') + bytes(range(20))
    ehdr = b'\x7fELF\2\1\1' + bytes(9) + struct.pack(
        '<HHIQQQIHHHHHH', 3, 62, 1, 0x1000, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    phdr = struct.pack('<IIQQQQQQ', PT_NOTE, R, 120, 120, 120, len(note),
                       len(note), 4)
    page = ehdr + phdr + note
    return page + bytes(1024 - len(page))


def full():
    core = Core()
    core.prstatus(7, 11)
    core.prpsinfo(7)
    core.note(0x53494749, struct.pack('<iii', 11, 0, 1) + bytes(116))
    core.auxv((3, 0x400040), (9, 0x401000), (33, 0x7000), (25, 0x9010))
    core.files((0x400000, 0x401000, 0, b'/no/such/program'),
               (0x401000, 0x402000, 1, b'/no/such/program'),
               (0x500000, 0x501000, 0, b'/no/such\nlibrary'))
    core.note(2, bytes(512))
    core.note(0x202, bytes(832), b'LINUX')
    core.prstatus(8)
    core.note(2, bytes(512))
    core.note(0x200, bytes(16), b'LINUX')
    core.load(0x7000, b'v' * 1024, flags=R | X)
    core.load(0x9000, b's' * 1024)
    core.load(0x400000, elf_page(), 4096, R)
    core.load(0x401000, b'', 4096, R | X)
    return core


def cores():
    for cpu in MACHINES:
        yield cpu, simple(cpu)
    yield 'full', full()
    yield 'xnum', simple('amd64', xnum=True)
    yield 'xnum32', simple('386', xnum=True)
    yield 'align8', simple('amd64', align=8)
    core = simple('amd64')
    core.load(0x20001, b'x' * 1500, 3000)
    core.load(0x30000, b'', 1 << 40)
    core.load(0x7fffffffffff0000, b'y' * 10, filesz=5000)
    yield 'odd', core
    core = simple('amd64')
    core.load(0x10400, b'over')
    yield 'overlap', core
    core = simple('amd64')
    for i in range(20):
        core.load(0x100000 + i * 0x100000, b'%d' % i + bytes(200))
    yield 'many', core
    core = Core()
    core.prpsinfo(9)
    core.prstatus(7)
    core.prstatus(7)
    core.prstatus(-1)
    core.load(0x10000, bytes(2048))
    yield 'numbers', core
    core = simple('amd64')
    core.files((0x10000, 0x10400, 0, b'/a'), (0x10800, 0x14000, 0, b'/b'))
    yield 'bare', core
    core = Core()
    core.load(0x10000, bytes(16))
    yield 'threadless', core


def main(directory):
    for name, core in cores():
        with open(os.path.join(directory, name), 'wb') as file:
            file.write(core.bytes())


if __name__ == '__main__':
    main(sys.argv[1])
