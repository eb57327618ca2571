"""The readers of Plan 9, with their observed behavior.

Process IDs, lengths of files and counts of pages have 32 bits. Numbers among
the pages have any width; other numbers are any 12 bytes, octal if they begin
with 0. A process has one text and one mem, the last ones. Bell Labs' and
9front's readers differ in the syntax of numbers and the length of lines;
9front's limits the number of segments.
"""

import re

from reader import KB, PLAIN, Reader, quoted

BLANKS = re.compile(b' *')
ULONG_MAX = (1 << 32) - 1
ULLONG_MAX = (1 << 64) - 1


def signed(n):
    """Return the low 32 bits of n as a long."""
    n &= ULONG_MAX
    return n - (1 << 32) if n >> 31 else n


def strtou(text, most, mask):
    """strtoul or strtoull, base 0. They detect an overflow with what they
    take for the largest value, and return this value.
    """
    base = 10
    if re.match(rb'0[xX]', text):
        base, text = 16, text[2:]
    elif text[:1] == b'0':
        base = 8
    limit = most // base if most > 0 else -(-most // base)
    if base == 10 and text.isdigit() and int(text) <= limit & mask:
        return int(text)
    n, overflow = 0, False
    for c in re.match(rb'[\da-zA-Z]*', text).group():
        digit = int(chr(c), 36)
        if digit >= base:
            break
        last, n = n, (n * base + digit) & mask
        overflow |= last > limit & mask or n < last
    return most & mask if overflow else n


class Plan9(Reader):
    INDEX = None        # a process like any other

    def read(self):
        super().read()
        if not self.procs:
            self.fail(self.size, 'no records')
        return self

    def record(self):
        """A line that is too long or has no end ends the input."""
        line = self.input.find(b'\n', self.pos, self.pos + self.LINE)
        if line < 0:
            self.pos = self.size
        else:
            super().record()

    def head(self):
        """The name begins in column 12. In C, a NUL ends a line."""
        line = self.line(self.pos, 'the header of a record')
        return self.atol(line), line[12:].split(b'\0')[0]

    def unknown(self, start, proc, name):
        self.fail(start, 'unknown section')

    def field(self):
        """Return twelve bytes, read as a C string."""
        start = self.skip(12, 'a number')
        return self.input[start:self.pos].split(b'\0')[0]

    def section(self, proc, name):
        if name == b'text':
            self.segment(proc.text)
            del proc.text[:-1]
            return
        count = self.count()
        proc.mem = []
        for _ in range(count):
            self.segment(proc.mem)

    def extent(self):
        """The number of pages is truncated to 32 bits."""
        base = self.quad()
        at = self.pos
        length = self.quad()
        pages = (length + KB - 1) % (1 << 64) // KB % (1 << 32)
        if pages * 8 >= 1 << 32:
            self.fail(at, 'a segment larger than its page table')
        return base, length, pages

    def reference(self):
        pid = strtou(self.digits(), ULONG_MAX, ULONG_MAX)
        return signed(pid), self.quad()

    def quad(self):
        return strtou(self.digits(), self.UVLONG_MAX, ULLONG_MAX)

    def digits(self):
        """Read a number with all blanks around it."""
        plain = PLAIN.match(self.input, self.pos, self.pos + 22)
        if plain:
            self.pos = BLANKS.match(self.input, plain.end()).end()
            return plain[1]
        digits = b''
        for _ in range(22):
            at = self.skip(1, 'a number')
            c = self.input[at:at + 1]
            if c.isdigit():
                digits += c
            elif c != b' ':
                self.fail(at, 'bad character ' + quoted(c))
            elif digits:
                while self.input[self.pos:self.pos + 1] == b' ':
                    self.pos += 1
                break
        return digits

    def find(self, start, flag, pid, offset, room):
        """Segments are searched in order; sizes may differ."""
        proc = self.procs.get(pid)
        if not proc:
            self.fail(start, "can't find referenced pid")
        for seg in proc.text[-1:] if flag == b't' else proc.mem:
            base = 0 if flag == b't' else seg.base
            if base <= offset < (base + seg.length) % (1 << 64):
                break
        else:
            self.fail(start, 'bad page reference')
        i, rest = divmod(offset - base, KB)
        if rest:
            self.fail(start, 'bad offset alignment')
        if i >= len(seg.where):
            self.fail(start, 'bad page reference')
        return seg, i


class Bell(Plan9):
    UVLONG_MAX = -(1 << 63)     # its definition

    ATOL = re.compile(
        rb'[ \t]*([-+]?)[ \t]*(?:0[xX]([\da-fA-F]*)|(0[0-7]*)|(\d*))')

    def atol(self, text):
        """The low 32 bits depend on the last 32 digits only."""
        sign, hexa, octal, decimal = self.ATOL.match(text).groups(b'')
        n = int(hexa or b'0', 16) + int(octal or b'0', 8)
        n += int(decimal[-32:] or b'0')
        return signed(-n if sign == b'-' else n)

    def long(self):
        """atol of 12 bytes that are not followed by a NUL."""
        start = self.pos
        text = self.field()
        n = self.atol(text)
        if n < 0 or self.ATOL.match(text).end() == 12 and text.strip():
            self.fail(start, 'bad number ' + quoted(text))
        return n

    def count(self):
        return self.long()

    def length(self):
        return self.long()


class Nine(Plan9):
    LINE = 32768
    UVLONG_MAX = ULLONG_MAX

    def atol(self, text):
        sign, digits = re.match(rb'\s*([-+]?)0*(\d*)', text).groups()
        n = int(digits[:11] or b'0')
        return max(-n, -1 << 31) if sign == b'-' else min(n, (1 << 31) - 1)

    def count(self):
        start = self.pos
        n = self.atol(self.field())
        if not 1 <= n <= 16:
            self.fail(start, 'bad segment count: %d' % n)
        return n

    def length(self):
        sign, text = re.match(rb'(?s)\s*([-+]?)(.*)', self.field()).groups()
        n = strtou(text, ULONG_MAX, ULONG_MAX)
        return -n & ULONG_MAX if sign == b'-' else n
