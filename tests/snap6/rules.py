"""A reader that checks the rules for writing.

Our writer keeps them; other valid streams may not. With them, the readers of
Plan 9 accept the stream, and it is not longer than necessary.
"""

import re

import trailer
from reader import FILES, KB, RAW, ZEROS, Fault, Process, Reader, quoted

HARMFUL = re.compile('[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e'
                     '\u2066-\u2069]')
SAME = b'mt'
TOP = 1 << 64


def harmless(name):
    """Return whether name is UTF-8 without terminal controls."""
    try:
        return not HARMFUL.search(name.decode())
    except UnicodeDecodeError:
        return False


class Checker(Reader):
    ORDER = FILES + [b'text', b'mem']   # kregs only if it came from Plan 9
    LINUX = re.compile(rb'linux [^\0- ]+ 1')

    def __init__(self, stream, origin=0):
        super().__init__(stream, origin)
        self.breaches = set()
        self.digests = set()        # of all raw pages of full size
        self.threads = []           # (byte, process id of the process)
        self.pid, self.rank = None, -1

    def breach(self, at, what):
        self.breaches.add((self.origin + at, what))

    def read(self):
        super().read()
        if len(self.header) + 1 >= 200:
            self.breach(0, 'a first line of 200 bytes or more')
        for at, pid in self.threads:
            if pid in self.procs:
                self.breach(at, 'a thread before its process')
        if self.trailer is not None:
            found = self.input[self.trailer:]
            before = self.input[:self.trailer]
            if found != trailer.write(before) and \
                    found != trailer.write(before, False):
                self.breach(self.trailer, 'not the trailer of what is '
                    'before it')
        return self

    def number(self):
        start = self.pos
        n = super().number()
        if self.input[start:self.pos] != b'%11d ' % n:
            self.breach(start, 'a number not right-justified')
        return n

    def count(self):
        start = self.pos
        n = self.number()
        if n == 0:
            self.breach(start, 'no segments')
        return n

    def head(self):
        """Records are grouped by process, and in order."""
        start = self.pos
        pid, name = super().head()
        if pid != self.pid:
            if pid in self.procs:
                self.breach(start, 'more of process %d' % pid)
            self.pid, self.rank = pid, -1
        if name in self.ORDER:
            rank = self.ORDER.index(name)
            last = len(self.ORDER) - 1
            if name == b'proc' and self.rank == last:
                rank = last + 1     # a list of missing memory
            if rank <= self.rank:
                self.breach(start, quoted(name) + ' not in its place')
            self.rank = rank
        else:
            self.breach(start, 'record type ' + quoted(name))
        return pid, name

    def mark(self, start):
        super().mark(start)
        if self.trailer is None:
            self.breach(start, 'a trailer among the records')

    def section(self, proc, name):
        image = proc.mem if name == b'mem' else proc.text
        old = len(image)
        super().section(proc, name)
        for seg in image[old:]:
            for i, flag in enumerate(seg.flag):
                last = seg is image[-1] and i == seg.pages - 1
                if flag == RAW:
                    self.raw(seg, i, last)
                elif last and flag in SAME:
                    self.breach(self.item, 'a section ends in a reference')

    def segment(self, image):
        start, old = self.pos, len(image)
        super().segment(image)
        if len(image) == old:
            self.breach(start, 'an empty segment')
            return
        seg = image[-1]
        if seg.length >= 1 << 39:
            self.breach(start, 'a segment of 2^39 bytes or more')

    def page(self, room):
        self.item = self.pos
        return super().page(room)

    def raw(self, seg, i, last):
        """Check that this page had to be raw: it is the first with its
        content, or a reference would end the section."""
        page = self.content(seg, i)
        start = seg.where[i] - 1
        if page == ZEROS[:len(page)]:
            self.breach(start, 'zeros written raw')
        elif len(page) == KB:
            digest = hash(page)
            if digest in self.digests and not last:
                self.breach(start, 'a page written raw again')
            if seg.base + seg.length < TOP:
                self.digests.add(digest)

    def find(self, start, flag, pid, offset, room):
        seg, i = super().find(start, flag, pid, offset, room)
        if seg.flag[i] != RAW:
            self.breach(start, 'a reference to a page not written raw')
        if flag == b'm' and seg.base + seg.length == TOP:
            self.breach(start, 'a reference that Plan 9 does not find')
        return seg, i

    def file(self, proc, name):
        super().file(proc, name)
        where, size = proc.files[name]
        body = self.input[where:where + size]
        if name == b'proc' and body.startswith(b'linux ') and \
                not body.startswith(self.INDEX):
            record = Checker(body, self.origin + where)
            try:
                record.linux(self.procs)
            except Fault as fault:
                record.breaches.add((fault.at, 'Linux record: ' + fault.what))
            self.breaches |= record.breaches
            self.threads += record.threads

    def linux(self, procs):
        """Read a Linux record; procs are the processes begun so far."""
        if not self.LINUX.fullmatch(self.line(0, 'a line')):
            self.fail(0, 'not the first line of a Linux record')
        names = Process()
        while self.pos < self.size:
            start = self.pos
            name = self.line(start, 'a name')
            if {b'', b'.', b'..'} & set(name.split(b'/')):
                self.breach(start, 'the name ' + quoted(name))
            if name in names.files or any(
                    n.startswith(name + b'/') or name.startswith(n + b'/')
                    for n in names.files):
                self.breach(start, 'again the name ' + quoted(name))
            if len(name) > 4095 or not harmless(name) or any(
                    len(part) > 255 for part in name.split(b'/')):
                self.breach(start, 'not a name: ' + quoted(name))
            super().file(names, name)
            if name == b'thread':
                self.thread(start, names.files[name], procs)

    def thread(self, start, file, procs):
        where, size = file
        body = self.input[where:where + size]
        if not re.fullmatch(rb'[1-9]\d{0,19}\n', body):
            self.breach(start, 'thread is not a number and a newline')
        elif int(body) not in procs:
            self.threads.append((self.origin + start, int(body)))
