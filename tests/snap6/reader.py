"""A snap(6) reader by the manual page, written for clarity, not speed.

It knows the format only. Derived readers know the rules of our writer
(rules.py) and the behavior of Plan 9 (plan9.py); oracle.py prints. It keeps
the places of pages in the stream, not their bytes, so a stream may be as
large as can be mapped.
"""

import array
import re
import zlib

KB = 1024
ZEROS = bytes(KB)
FILES = b'segment fd fpregs kregs noteid ns proc regs status'.split()
NAME = re.compile(rb'[!-~]+')
RUN = re.compile(b'z*')
RAW = ord('r')
PLAIN = re.compile(rb' *(\d{1,19}) ')     # an ordinary number
PARTS = re.compile(b'z{1,1024}|[^z]')   # of the flags of a segment


class Fault(Exception):
    """An error in the stream, with its byte."""

    def __init__(self, at, what):
        super().__init__('byte %d: %s' % (at, what))
        self.at, self.what = at, what


class Segment:
    """A run of pages. Those in where[] are described.

    flag[i] is the form of page i, where[i] the place of its size[i] bytes in
    the stream. For a reference, this is the place of the bytes to which it
    leads, so that no reference is followed twice. Place 0, where the first
    line is, stands for zeros.
    """

    def __init__(self, base, length, pages, section):
        self.base, self.length, self.pages = base, length, pages
        self.section = section  # the number of its record
        self.flag = bytearray()
        self.where = array.array('Q')
        self.size = array.array('H')

    def room(self, i):
        """Return the size that page i must have: the last may be short."""
        return KB if i < self.pages - 1 else (self.length - 1) % KB + 1

    def covers(self, address):
        """Return whether a page described so far contains address."""
        at = address - self.base
        return 0 <= at < self.length and at < len(self.where) * KB


class Process:
    def __init__(self):
        self.files = {}     # name: (place in the stream, length)
        self.text = []      # segments, in order
        self.mem = []


def quoted(name):
    return repr(name.decode('latin-1'))


class Reader:
    LINE = 8192         # the longest line, with its newline
    WIDTH = 64          # the longest number, with its blanks
    INDEX = b'linux index 1\n'  # begins the trailer, in a proc of process 0

    def __init__(self, stream, origin=0):
        """origin is the number of the first byte of the stream in errors."""
        self.input, self.origin = stream, origin
        self.size, self.pos = len(stream), 0
        self.procs = {}
        self.trailer = None     # where it begins
        self.sections = 0       # text and mem records begun
        self.record_at = 0      # where the current record begins

    def fail(self, at, what):
        raise Fault(self.origin + at, what)

    def skip(self, n, what):
        """Skip n bytes. Return the place of the first."""
        at = self.pos
        if n > self.size - at:
            self.fail(self.size, 'the input ends inside ' + what)
        self.pos += n
        return at

    def fits(self, at, n):
        """Check that n bytes follow, as the number at byte at says."""
        if n > self.size - self.pos:
            self.fail(at, 'more than the rest of the input')

    def line(self, start, what):
        """Return the rest of a line that began at start, without newline."""
        end = self.input.find(b'\n', self.pos, start + self.LINE)
        if end < 0:
            if self.size - start >= self.LINE:
                self.fail(start, what + ' of more than %d bytes' % self.LINE)
            self.fail(self.size, 'the input ends inside ' + what)
        text = self.input[self.pos:end]
        self.pos = end + 1
        return text

    def number(self):
        """Read a number: 12 bytes, or more if it has more digits."""
        start = self.pos
        end = start + 12
        plain = PLAIN.match(self.input, start, start + self.WIDTH)
        if plain and plain.start(1) < end <= plain.end():
            self.pos = plain.end()
            return int(plain[1])
        while self.input[end - 1:end].isdigit():
            end += 1
            if end - start > self.WIDTH:
                self.fail(start, 'a number of more than %d bytes' % self.WIDTH)
        field = self.input[start:end]
        parts = re.match(rb' *(\d*) *', field)
        if parts.end() < len(field):
            self.fail(start + parts.end(), 'not a number: ' + quoted(field))
        self.skip(end - start, 'a number')
        digits = parts.group(1).lstrip(b'0')
        if not parts.group(1):
            self.fail(start, 'blanks for a number')
        if len(digits) > 20 or int(digits or b'0') >= 1 << 64:
            self.fail(start, 'a number of more than 64 bits')
        return int(digits or b'0')

    def count(self):
        return self.number()

    def length(self):
        return self.number()

    def read(self):
        if self.input[:16] != b'process snapshot':
            self.fail(0, 'not a snapshot')
        self.header = self.line(0, 'the first line')
        while self.pos < self.size:
            self.record()
        return self

    def record(self):
        start = self.record_at = self.pos
        pid, name = self.head()
        if pid == 0 and name == b'proc' and self.INDEX and \
                self.input[self.pos + 12:self.pos + 26] == self.INDEX:
            self.file(Process(), name)
            self.mark(start)
            return
        proc = self.procs.setdefault(pid, Process())
        if name == b'text' or name == b'mem':
            self.section(proc, name)
        elif name in FILES:
            self.file(proc, name)
        else:
            self.unknown(start, proc, name)

    def mark(self, start):
        """Note a trailer, or a former one: it belongs to no process."""
        self.trailer = start if self.pos == self.size else None

    def head(self):
        """Read the header line of a record."""
        start = self.pos
        pid = self.number()
        name = self.line(start, 'the header of a record')
        if not NAME.fullmatch(name):
            self.fail(start, 'bad record type ' + quoted(name))
        return pid, name

    def file(self, proc, name):
        at = self.pos
        length = self.length()
        self.fits(at, length)
        proc.files[name] = self.skip(length, 'a file'), length

    def unknown(self, start, proc, name):
        """Keep a record of unknown type if it looks like a file."""
        try:
            self.file(proc, name)
            end = self.pos
            if end < self.size:
                Reader.head(self)
            self.pos = end
        except Fault:
            self.fail(start, 'unknown record type ' + quoted(name))

    def section(self, proc, name):
        self.sections += 1
        if name == b'text':
            self.segment(proc.text)
            return
        at = self.pos
        count = self.count()
        self.fits(at, 24 * count)
        for _ in range(count):
            self.segment(proc.mem)

    def segment(self, image):
        base, length, pages = self.extent()
        if pages == 0:
            return
        seg = Segment(base, length, pages, self.sections)
        image.append(seg)       # now: it may refer to itself
        while len(seg.where) < pages:
            flag, where, size = self.page(seg.room(len(seg.where)))
            seg.flag += flag
            seg.where.append(where)
            seg.size.append(size)
            if flag == b'z':
                n = self.zeros(pages - len(seg.where) - 1)
                seg.flag += flag * n
                seg.where.extend(array.array('Q', [where]) * n)
                seg.size.extend(array.array('H', [size]) * n)
            elif flag == b'r':
                n = self.raws(pages - len(seg.where) - 1)
                seg.flag += flag * n
                seg.where.extend(where + (1 + KB) * i for i in range(1, n + 1))
                seg.size.extend(array.array('H', [size]) * n)

    def extent(self):
        """Return the base, the length and the pages of a segment."""
        base = self.number()
        at = self.pos
        length = self.number()
        pages = (length + KB - 1) // KB
        if base + length > 1 << 64:
            self.fail(at, 'a segment that ends beyond 2^64')
        if pages > self.size - self.pos:
            self.fail(at, 'a segment of more pages than there are bytes')
        return base, length, pages

    def zeros(self, most):
        """Read pages of zeros of full size, at most this many. Return how
        many there are."""
        end = self.pos + max(most, 0)
        n = RUN.match(self.input, self.pos, end).end() - self.pos
        self.pos += n
        return n

    def raws(self, most):
        """The same for raw pages."""
        n = 0
        while n < most and self.size - self.pos > KB and \
                self.input[self.pos] == RAW:
            self.pos += 1 + KB
            n += 1
        return n

    def page(self, room):
        """Read a page of room bytes. Return its flag, place and size."""
        start = self.skip(1, 'a segment')
        flag = self.input[start:start + 1]
        if flag == b'r':
            return flag, self.skip(room, 'a page'), room
        if flag == b'z':
            return flag, 0, room
        if flag == b'm' or flag == b't':
            pid, offset = self.reference()
            seg, i = self.find(start, flag, pid, offset, room)
            return flag, seg.where[i], seg.size[i]
        self.fail(start, 'no page flag: ' + quoted(flag))

    def reference(self):
        return self.number(), self.number()

    def find(self, start, flag, pid, offset, room):
        """Follow the reference at byte start, for a page of room bytes.
        Return the segment and the number of its page.

        If segments overlap, the front one that describes the page counts.
        """
        proc = self.procs.get(pid)
        if not proc:
            self.fail(start, 'a reference to process %d, unknown yet' % pid)
        image = proc.text if flag == b't' else proc.mem
        if flag == b't' and image:
            offset += image[0].base
        for seg in self.front(image):
            if seg.covers(offset):
                break
        else:
            self.fail(start, 'a reference to what is not described yet')
        i, rest = divmod(offset - seg.base, KB)
        if rest:
            self.fail(start, 'a reference into the middle of a page')
        if seg.size[i] != room:
            self.fail(start, 'a reference from a page of %d bytes '
                'to one of %d' % (room, seg.size[i]))
        return seg, i

    def front(self, image):
        """Return the segments from front to back: later sections first, and
        in a section earlier segments first."""
        if not image or image[0].section == image[-1].section:
            return image
        return sorted(image, key=lambda seg: -seg.section)

    # What was read.

    def content(self, seg, i):
        where, size = seg.where[i], min(seg.size[i], seg.room(i))
        return self.input[where:where + size] if where else ZEROS[:size]

    def dump(self):
        """Yield the lines of the listing."""
        yield b'header ' + self.header
        for pid, proc in self.procs.items():
            yield b'process %d' % pid
            for name, (where, size) in sorted(proc.files.items()):
                crc = zlib.crc32(self.input[where:where + size])
                yield b'file %s %d %08x' % (name, size, crc)
            for name, image in (b'text', proc.text), (b'mem', proc.mem):
                for seg in image:
                    crc = 0
                    for part in PARTS.finditer(seg.flag):
                        first, end = part.span()
                        data = self.content(seg, first)
                        if end > first + 1:
                            data = bytes(min(end * KB, seg.length) -
                                first * KB)
                        crc = zlib.crc32(data, crc)
                    yield b'%s %x %d %08x' % (name, seg.base, seg.length, crc)

    def memory(self, pid, address, length):
        """Return length bytes of a process's memory, or None."""
        picture, mapped = bytearray(length), bytearray(length)
        proc = self.procs.get(pid, Process())
        for seg in reversed(self.front(proc.mem)):
            first = max(0, (address - seg.base) // KB)
            last = (address + length - seg.base + KB - 1) // KB
            for i in range(first, min(last, len(seg.where))):
                page = self.content(seg, i)
                at = seg.base + i * KB - address
                page = page[max(0, -at):max(0, length - at)]
                at = max(0, at)
                picture[at:at + len(page)] = page
                mapped[at:at + len(page)] = b'y' * len(page)
        return None if 0 in mapped else picture
