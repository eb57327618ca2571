#!/usr/bin/env python3
"""unsnap - read a snapshot by the manual page, and print its contents

It was written from snap(6) alone, by an author who had not seen the library or
the other programs here. It reads a stream from its beginning to its end, and
does not use the index. It prints JSON, in the form that README of "make
corpus" describes. packed.py decompresses; xxh3.py makes checksums.

usage: unsnap.py FILE
"""

import bisect
import hashlib
import json
import re
import sys

sys.dont_write_bytecode = True

from packed import Bad, expand
from xxh3 import xxh3

PAGE = 1024
BLOCK = 1 << 20
TOP = 1 << 64
MAX_LINE = 8192
MAX_NUMBER = 64
MAX_DATA = 1 << 30
MAX_FILES = 4194304
MAX_RANGES = 2097152
INDEX = b'linux index 1\n'
SNAPEND = b'SNAPEND\n'
TYPE = re.compile(rb'[!-~]+')
HARMFUL = re.compile('[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e'
                     '\u2066-\u2069]')
ZEROS = re.compile(rb'z+')


class Segment:
    """A segment and its pages, as runs of pages.

    A run has the number of its first page, and the place of this page in
    the stream, or None if it is a run of zeros.  The pages of a run are
    1025 bytes apart in the stream.
    """

    def __init__(self, base, length):
        self.base = base
        self.length = length
        self.have = 0           # bytes that have been read
        self.starts = []
        self.places = []

    def add(self, count, place):
        number = self.have // PAGE
        if not number or place != self.place(number):
            self.starts.append(number)
            self.places.append(place)
        self.have = min(self.have + count * PAGE, self.length)

    def place(self, number):
        """Return the place of a page; the last run has no end."""
        run = bisect.bisect_right(self.starts, number) - 1
        if self.places[run] is None:
            return None
        return self.places[run] + (number - self.starts[run]) * (PAGE + 1)

    def size(self, number):
        return min(PAGE, self.length - number * PAGE)

    def bytes(self, stream, start, end):
        """Yield the bytes from START to END, counted from the base."""
        while start < end:
            number, skip = divmod(start, PAGE)
            count = min(self.size(number) - skip, end - start)
            place = self.place(number)
            if place is None:
                yield bytes(count)
            else:
                yield stream[place + skip:place + skip + count]
            start += count


class Process:
    def __init__(self, pid):
        self.pid = pid
        self.files = {}         # the data records by type
        self.linux = None       # the files of the Linux record by name
        self.bad = None         # what is wrong with the Linux record
        self.text = []          # a list of segments for each record
        self.mem = []

    def target(self, kind, address):
        """Return the segment that a reference leads to, and where."""
        if kind == b'm':
            return self.supplier(self.mem, address), address
        for record in self.text:
            for seg in record:
                if seg.length:
                    address += seg.base
                    return self.supplier(self.text, address), address
        return None, address

    @staticmethod
    def supplier(records, address):
        """Return the segment that now supplies the byte at ADDRESS."""
        for record in reversed(records):
            for seg in record:
                if seg.base <= address < seg.base + seg.have:
                    return seg
        return None


class Snapshot:
    """A stream, read from its beginning to its end."""

    def __init__(self, raw):
        self.data, self.fault = expand(raw)
        self.pos = 0
        self.start = 0          # of the record that is read now
        self.records = []       # (start, pid, type, body, end)
        self.processes = {}
        self.checksums = False

    def read(self):
        self.first = self.line(0, 'first line')
        if not self.first.startswith(b'process snapshot'):
            raise Bad(0, 'the first line')
        while self.pos < len(self.data):
            self.record()
        if self.records:
            self.last(*self.records[-1])

    def cut(self, what):
        return Bad(len(self.data), 'the input ends in a ' + what, True)

    def fits(self, count, each, what):
        if count * each > len(self.data) - self.pos:
            raise self.cut(what)

    def take(self, count, what):
        """Pass COUNT bytes; return the place of the first."""
        self.fits(count, 1, what)
        self.pos += count
        return self.pos - count

    def line(self, start, what):
        """Take the rest of a line that began at START."""
        end = self.data.find(b'\n', self.pos, start + MAX_LINE)
        if end < 0 and len(self.data) - start < MAX_LINE:
            raise self.cut(what)
        if end < 0:
            raise Bad(start, 'too long a ' + what)
        at, self.pos = self.pos, end + 1
        return self.data[at:end]

    def number(self, what):
        start, digits, ended = self.pos, 0, False
        while self.pos < start + 12 or not ended:
            at = self.take(1, what)
            if self.data[at] == 32:
                ended = digits > 0
                if at >= start + 11 and not ended:
                    raise Bad(start, 'no digits in a ' + what)
            elif 48 <= self.data[at] <= 57 and not ended:
                digits += 1
                if at >= start + MAX_NUMBER - 1:
                    raise Bad(start, 'too many digits in a ' + what)
            else:
                raise Bad(at, 'not a number: ' + what)
        number = int(self.data[start:self.pos])
        if number >= TOP:
            raise Bad(start, 'too large a ' + what)
        return number

    def record(self):
        start = self.start = self.pos
        pid = self.number('process ID')
        at = self.pos
        kind = self.line(start, 'record header')
        if not TYPE.fullmatch(kind):
            raise Bad(at, 'the record type')
        if kind in (b'text', b'mem'):
            body = self.pos
            self.segments(self.process(pid), kind)
        else:
            length = self.number('length')
            body = self.take(length, 'file')
            if length > MAX_DATA:
                raise Bad(body, 'too large a file')
            if not self.is_trailer(pid, kind, body):
                self.file(self.process(pid), kind, body)
            elif body - start != 29:
                raise Bad(start, 'a long number before a trailer')
        self.records.append((start, pid, kind, body, self.pos))

    def process(self, pid):
        return self.processes.setdefault(pid, Process(pid))

    def is_trailer(self, pid, kind, body):
        """Return whether this record is a trailer, or was one."""
        return (pid == 0 and kind == b'proc'
                and self.data.startswith(INDEX, body))

    def file(self, process, kind, body):
        data = process.files[kind] = self.data[body:self.pos]
        if kind == b'proc':
            process.linux, process.bad = None, None
            if data.startswith(b'linux '):
                try:
                    process.linux = archive(data)
                except Bad as bad:
                    process.bad = Bad(body + bad.at, bad.why)

    # Segments and pages

    def segments(self, process, kind):
        count, record = 1, []
        if kind == b'mem':
            count = self.number('count of segments')
            self.fits(count, 24, 'segment')
        (process.text if kind == b'text' else process.mem).append(record)
        for _ in range(count):
            base = self.number('base of a segment')
            at = self.pos
            seg = Segment(base, self.number('length of a segment'))
            if base + seg.length > TOP:
                raise Bad(at, 'a segment ends beyond 2^64')
            self.fits((seg.length + PAGE - 1) // PAGE, 1, 'segment')
            record.append(seg)
            while seg.have < seg.length:
                self.page(seg)

    def page(self, seg):
        number = seg.have // PAGE
        at = self.take(1, 'segment')
        kind = self.data[at:at + 1]
        if kind == b'z':
            end = at + (seg.length + PAGE - 1) // PAGE - number
            self.pos = ZEROS.match(self.data, at, end).end()
            seg.add(self.pos - at, None)
        elif kind == b'r':
            seg.add(1, self.take(seg.size(number), 'page'))
        elif kind in (b'm', b't'):
            pid = self.number('process ID of a page')
            address = self.number('address of a page')
            target = None
            if pid in self.processes:
                target, address = self.processes[pid].target(kind, address)
            if not target:
                raise Bad(at, 'a reference to a page that is not there')
            page, rest = divmod(address - target.base, PAGE)
            if rest:
                raise Bad(at, 'a reference to the middle of a page')
            if target.size(page) != seg.size(number):
                raise Bad(at, 'a reference to a page of another length')
            seg.add(1, target.place(page))
        else:
            raise Bad(at, 'not a page')

    # The trailer

    def last(self, start, pid, kind, body, end):
        """Check the trailer, if the last record is one."""
        if self.is_trailer(pid, kind, body):
            self.checksums = self.matches(start, body, end)
        elif (kind not in (b'text', b'mem') and end - body >= 24
              and self.data.endswith(SNAPEND, body)):
            raise Bad(start, 'the beginning of the trailer')

    def matches(self, start, body, end):
        """Return whether it is a trailer of the stream before it."""
        try:
            files = archive(self.data[body:end])
        except Bad:
            return False
        before = re.fullmatch(rb'(\d+) %d\n' % start,
                              files.get(b'before', b''))
        sums, places = files.get(b'sums', b''), range(0, start, BLOCK)
        if (not before or len(sums) != 8 * len(places)
                or self.data[start:body] != b'%11d proc\n%11d ' % (
                    0, end - body)
                or files.get(b'end') != (
                    (end - start).to_bytes(8, 'little')
                    + checksum(self.data[start:end - 16]) + SNAPEND)):
            return False
        for i, at in enumerate(places):
            if sums[8 * i:8 * i + 8] != checksum(
                    self.data[at:min(at + BLOCK, start)]):
                raise Bad(at, 'the checksum of these bytes')
        return int(before[1]) == len(self.records) - 1


def checksum(data):
    return xxh3(data).to_bytes(8, 'little')


# The Linux record

def archive(data):
    """Return the files of a Linux record, by their names."""
    files, parents = {}, set()
    at = data.find(b'\n') + 1
    if not re.fullmatch(rb'linux .+ 1\n', data[:at]):
        raise Bad(0, 'the first line')
    while at < len(data):
        stop = data.find(b'\n', at)
        if stop < 0:
            raise Bad(at, 'no name and length')
        name = data[at:stop]
        above = good_name(at, name)
        if name in files or name in parents or above & files.keys():
            raise Bad(at, 'the name is there already, as a file or directory')
        parents |= above
        at = stop + 1
        number = data[at:at + 12]
        if len(number) < 12 or not re.fullmatch(rb' *[0-9]+ +', number):
            raise Bad(at, 'the length')
        if int(number) > len(data) - at - 12:
            raise Bad(at, 'a file is longer than the record')
        files[name] = data[at + 12:at + 12 + int(number)]
        at += 12 + int(number)
        if len(files) > MAX_FILES:
            raise Bad(at, 'too many files')
        if (name in (b'maps', b'missing')
                and files[name].count(b'\n') > MAX_RANGES):
            raise Bad(at, 'too many ranges')
    return files


def good_name(at, name):
    """Check a name; return the names of the directories above it."""
    parts = name.split(b'/')
    try:
        text = name.decode()
    except UnicodeDecodeError:
        raise Bad(at, 'the name is not UTF-8') from None
    if len(name) > 4095 or HARMFUL.search(text) or any(
            part in (b'', b'.', b'..') or len(part) > 255 for part in parts):
        raise Bad(at, 'the name')
    return {b'/'.join(parts[:i]) for i in range(1, len(parts))}


# The output

def show_data(parts):
    """Return the length and the hash of a sequence of byte strings."""
    length, total = 0, hashlib.sha256()
    for part in parts:
        length += len(part)
        total.update(part)
    return {'length': length, 'sha256': total.hexdigest()}


def show_segments(stream, records):
    shown = []
    for seg in (s for record in records for s in record if s.length):
        pages = []
        for part in seg.bytes(stream, 0, seg.length):
            page = show_data([part])['sha256']
            if not pages or pages[-1][1] != page:
                pages.append([0, page])
            pages[-1][0] += 1
        shown.append({'base': hex(seg.base), 'pages': pages,
                      **show_data(seg.bytes(stream, 0, seg.length))})
    return shown


def show_visible(stream, process):
    """Return the ranges of memory; those that touch are one range."""
    ranges = []
    ends = {end for record in process.mem for seg in record
            for end in (seg.base, seg.base + seg.length)}
    ends = sorted(ends)
    for at, end in zip(ends, ends[1:]):
        seg = process.supplier(process.mem, at)
        if seg:
            if not ranges or ranges[-1][1] != at:
                ranges.append([at, end, []])
            ranges[-1][1] = end
            ranges[-1][2].append((seg, at - seg.base, end - seg.base))
    return [{'base': hex(at), **show_data(
        part for seg, low, high in pieces
        for part in seg.bytes(stream, low, high))}
        for at, end, pieces in ranges]


def show_process(stream, process):
    linux = process.linux
    if linux is not None:
        linux = [{'name': name.decode(), **show_data([data])}
                 for name, data in linux.items()]
    return {'pid': process.pid,
            'files': {kind.decode('latin-1'): show_data([data])
                      for kind, data in process.files.items()},
            'linux': linux,
            'text': show_segments(stream, process.text),
            'mem': show_segments(stream, process.mem),
            'visible': show_visible(stream, process)}


def show(raw):
    """Return the contents of the stream in RAW."""
    snap, fault = Snapshot(raw), None
    try:
        snap.read()
    except Bad as bad:
        fault = bad
    if snap.fault and (not fault or fault.cut):
        return {'refused': {'at': snap.fault.at, 'record': 0,
                            'why': snap.fault.why}}
    out = {'bytes': len(snap.data), 'refused': None,
           'sha256': hashlib.sha256(snap.data).hexdigest()}
    if fault:
        out['refused'] = {'at': fault.at, 'record': snap.start,
                          'why': fault.why}
        return out
    for process in snap.processes.values():
        if process.bad and not out['refused']:
            out['refused'] = {'pid': process.pid, 'at': process.bad.at,
                              'why': process.bad.why}
    out['header'] = snap.first.decode('latin-1')
    out['records'] = [
        {'pid': pid, 'type': kind.decode('latin-1'), 'at': start,
         'length': end - start}
        for start, pid, kind, body, end in snap.records
        if not snap.is_trailer(pid, kind, body)]
    out['checksums'] = snap.checksums
    out['processes'] = [show_process(snap.data, process)
                        for process in snap.processes.values()]
    return out


def main(args):
    if len(args) != 1 or args[0].startswith('-'):
        sys.exit(__doc__.splitlines()[-1])
    with open(args[0], 'rb') as file:
        out = show(file.read())
    print(json.dumps(out, indent=1))
    return bool(out['refused'])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
