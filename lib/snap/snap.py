"""snap - read process snapshots

A snapshot has the memory and the state of processes at one instant.  This
module reads snapshots, ELF cores and directories of CRIU images with libsnap:

    with snap.open('x.snap') as s:
        for process in s.processes:
            print(process.id, process.name, hex(process.registers['pc']))

A snapshot may be used by one thread at a time.  snap-python(3) has examples.
"""

from __future__ import annotations

import collections.abc
import ctypes
import dataclasses
import errno
import mmap
import os
import stat
import struct
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, \
    c_ssize_t, c_uint64, c_void_p
from typing import Any, NamedTuple

__all__ = ['Error', 'Mapping', 'Records', 'Snapshot', 'Task', 'open']

_lib = ctypes.CDLL('libsnap.so.1')
_P = c_void_p
for _names, _result, *_args in (
        ('errstr', c_char_p),
        ('open_moment', _P, c_char_p, c_char_p),
        ('close', None, _P),
        ('time', c_int64, _P),
        ('moments moment', c_size_t, _P),
        ('header task_name task_machine mapping_perms mapping_name '
         'record_name', c_char_p, _P),
        ('task_id mapping_start mapping_end mapping_offset', c_uint64, _P),
        ('error task_state', c_int, _P),
        ('task_process', _P, _P),
        ('process_next thread_next mapping_next record_next', _P, _P, _P),
        ('task_find', _P, _P, c_uint64),
        ('moment_get', _P, _P, c_size_t),
        ('record_find', _P, _P, c_char_p),
        ('record_data', _P, _P, POINTER(c_size_t)),
        ('register', c_int, _P, c_char_p, POINTER(c_uint64)),
        ('register_name', c_char_p, _P, c_size_t),
        ('memory_next', c_int, _P, c_uint64, POINTER(c_uint64),
         POINTER(c_uint64)),
        ('read', c_ssize_t, _P, c_uint64, _P, c_size_t)):
    for _name in _names.split():
        _f = getattr(_lib, 'snap_' + _name)
        _f.restype, _f.argtypes = _result, _args

_CHUNK = 1 << 20                # bytes that find() reads at once
_DEBUG = '/usr/lib/debug/.build-id/%s/%s.debug'


class Error(Exception):
    """An error of libsnap, with its message."""

    def __init__(self) -> None:
        super().__init__(os.fsdecode(_lib.snap_errstr()))


class Mapping(NamedTuple):
    """A mapping of a process: a line of proc_pid_maps(5)."""

    start: int
    end: int                    # the address after the last one
    offset: int                 # in the mapped file
    perms: str                  # such as "r-xp"
    name: str


class Records(collections.abc.Mapping):
    """The records of a task (snap-linux(6)): a map from names to bytes."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __getitem__(self, name: str) -> bytes:
        record = _lib.snap_record_find(self._task._handle, _text(name))
        if not record:
            self._task.snapshot._check()
            raise KeyError(name)
        size = c_size_t()
        data = _lib.snap_record_data(record, byref(size))
        return ctypes.string_at(data, size.value) if size.value else b''

    def __iter__(self) -> Iterator[str]:
        record = None
        while record := _lib.snap_record_next(self._task._handle, record):
            yield os.fsdecode(_lib.snap_record_name(record))
        self._task.snapshot._check()

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclasses.dataclass(frozen=True, repr=False)
class Task:
    """A process or a thread of a snapshot."""

    snapshot: Snapshot
    _pointer: int

    @property
    def _handle(self) -> int:
        self.snapshot._file     # raises ValueError if it is closed
        return self._pointer

    def __repr__(self) -> str:
        return f'<snap.Task {self.id} {self.name!r}>'

    @property
    def id(self) -> int:
        """The ID of the process or thread."""
        return _lib.snap_task_id(self._handle)

    @property
    def name(self) -> str:
        """The name, or "" if it is not recorded."""
        return os.fsdecode(_lib.snap_task_name(self._handle))

    @property
    def state(self) -> str:
        """A letter of proc_pid_stat(5), or "" if it is not recorded."""
        return chr(_lib.snap_task_state(self._handle)).strip('\0')

    @property
    def machine(self) -> str:
        """Plan 9's name of the processor, such as "amd64", or ""."""
        return os.fsdecode(_lib.snap_task_machine(self._handle))

    @property
    def process(self) -> Task:
        """The process of a thread; the task itself if it is a process."""
        return Task(self.snapshot, _lib.snap_task_process(self._handle))

    @property
    def threads(self) -> list[Task]:
        """The threads of the process, which is the first of them."""
        return [Task(self.snapshot, t) for t in
                _each(_lib.snap_thread_next, self.process._handle)]

    @property
    def registers(self) -> dict[str, int]:
        """The general registers by the kernel's names, and "pc" and "sp".

        Empty if the snapshot has no registers of this thread.
        """
        names = ['pc', 'sp']
        while name := _lib.snap_register_name(self._handle, len(names) - 2):
            names.append(name.decode())
        values, value = {}, c_uint64()
        for name in names:
            if _lib.snap_register(self._handle, name.encode(),
                                  byref(value)) == 0:
                values[name] = value.value
        return values

    @property
    def records(self) -> Records:
        """The records of the task: records['maps'] is the file's bytes."""
        return Records(self)

    @property
    def mappings(self) -> list[Mapping]:
        """The mappings of the process, in the order of addresses."""
        mappings = [Mapping(_lib.snap_mapping_start(m),
                            _lib.snap_mapping_end(m),
                            _lib.snap_mapping_offset(m),
                            os.fsdecode(_lib.snap_mapping_perms(m)),
                            os.fsdecode(_lib.snap_mapping_name(m)))
                    for m in _each(_lib.snap_mapping_next, self._handle)]
        self.snapshot._check()
        return mappings

    def mapping(self, address: int) -> Mapping | None:
        """Return the mapping that contains an address."""
        for m in self.mappings:
            if m.start <= address < m.end:
                return m
        return None

    @property
    def memory(self) -> Iterator[tuple[int, int]]:
        """The ranges of memory in the snapshot: address, size in bytes."""
        address, size, end = c_uint64(), c_uint64(), 0
        while end < 1 << 64 and _lib.snap_memory_next(
                self._handle, end, byref(address), byref(size)):
            yield address.value, size.value
            end = address.value + size.value

    def readinto(self, address: int, buffer: Any) -> int:
        """Read memory into a writable buffer, such as a NumPy array.

        Return the number of bytes read, which is less than the size of the
        buffer if a later page is not in the snapshot.  Raise Error if the
        first one is not.
        """
        if not 0 <= address < 1 << 64:
            raise ValueError(f'{address:#x} is not an address')
        view = memoryview(buffer)
        if not view.nbytes:
            return 0
        place = ctypes.addressof(ctypes.c_char.from_buffer(view))
        n = _lib.snap_read(self._handle, address, place, view.nbytes)
        if n == -1:
            raise Error
        return n

    def read(self, address: int, n: int) -> bytes:
        """Return n bytes of memory.  Raise Error if one is missing."""
        buffer = bytearray(n)
        got = 0
        while got < n:          # the second call raises the error
            got += self.readinto(address + got, memoryview(buffer)[got:])
        return bytes(buffer)

    def array(self, address: int, n: int, dtype: Any = 'u1') -> Any:
        """Return n elements of memory as a NumPy array.

        The library reads into the array.  Raise Error if a byte is missing.
        """
        import numpy
        array = numpy.empty(n, dtype)
        got = self.readinto(address, array)
        if got < array.nbytes:
            self.read(address + got, 1)
        return array

    def word(self, address: int, size: int = 8) -> int:
        """Return an unsigned little-endian number of size bytes."""
        return int.from_bytes(self.read(address, size), 'little')

    def string(self, address: int, most: int = 4096) -> str:
        """Return the string at an address, up to its NUL or most bytes."""
        buffer = bytearray(most)
        n = self.readinto(address, buffer)
        if n < most and b'\0' not in buffer[:n]:
            self.read(address + n, 1)   # raises the error
        return os.fsdecode(bytes(buffer[:n]).split(b'\0')[0])

    def find(self, pattern: bytes) -> Iterator[int]:
        """Return the addresses of all occurrences of pattern in memory."""
        more = len(pattern) - 1
        for start, size in self.memory:
            for at in range(0, size, _CHUNK):
                data = self.read(start + at, min(_CHUNK + more, size - at))
                i = data.find(pattern)
                while i != -1:
                    yield start + at + i
                    i = data.find(pattern, i + 1)

    @property
    def build_ids(self) -> dict[str, str]:
        """The build IDs of the ELF files that the process has mapped.

        They are read from memory: files by name, IDs in hexadecimal.
        """
        return {m.name: build_id for m, build_id in self._files()}

    def symbol(self, name: str, file: str = '') -> int:
        """Return the address of a symbol.  Raise KeyError if there is none.

        Symbols come from the files on this machine that have the build IDs of
        the mapped files, and from their debug files.  If file is given, search
        only files whose names end in it.  32-bit and big-endian files are not
        searched.
        """
        for m, build_id in self._files():
            if not m.name.endswith(file):
                continue
            for path in m.name, _DEBUG % (build_id[:2], build_id[2:]):
                symbols = self.snapshot._symbols(path, build_id)
                if name in symbols:
                    return m.start + symbols[name] & (1 << 64) - 1
        raise KeyError(name)

    def _files(self) -> Iterator[tuple[Mapping, str]]:
        for m in self.mappings:
            if m.offset == 0 and m.name.startswith('/'):
                head = bytearray(4096)
                try:
                    n = self.readinto(m.start, head)
                except Error:
                    continue
                if build_id := _build_id(bytes(head[:n])):
                    yield m, build_id


class Snapshot:
    """An open snapshot; as a context manager, it closes itself."""

    _open = _of = None

    def __init__(self, path: str | os.PathLike[str] = '-',
                 moment: int | str = 'last', *,
                 _of: Snapshot | None = None) -> None:
        self._of = _of          # what has opened this moment as well
        self._open = _lib.snap_moment_get(_of._file, moment) if _of else \
            _lib.snap_open_moment(_text(path), _text(str(moment)))
        self._tables: dict[tuple[str, str], dict[str, int]] = {}
        if not self._open:
            raise Error

    @property
    def _file(self) -> int:
        if not self._open or self._of and not self._of._file:
            raise ValueError('the snapshot is closed')
        return self._open

    def _check(self) -> None:
        """Raise Error if a list ended early."""
        if _lib.snap_error(self._file):
            raise Error

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the snapshot, after which its tasks cannot be used."""
        if not self._of:
            _lib.snap_close(self._open)
        self._open = None

    @property
    def time(self) -> int | None:
        """The time of the snapshot in seconds since the Epoch."""
        time = _lib.snap_time(self._file)
        return None if time == -1 else time

    @property
    def header(self) -> str:
        """The first line."""
        return os.fsdecode(_lib.snap_header(self._file))

    @property
    def moment(self) -> int | None:
        """The number of this moment of a series, from 1."""
        return _lib.snap_moment(self._file) or None

    @property
    def moments(self) -> list[Snapshot]:
        """All moments of the series, if it is one; closed with this one."""
        return [Snapshot(moment=n + 1, _of=self._of or self)
                for n in range(_lib.snap_moments(self._file))]

    @property
    def processes(self) -> list[Task]:
        """The processes, in the order of the snapshot."""
        return [Task(self, p) for p in
                _each(_lib.snap_process_next, self._file)]

    def task(self, id: int) -> Task:
        """Return a process or thread.  Raise KeyError if there is none."""
        handle = _lib.snap_task_find(self._file, id)
        if not handle or _lib.snap_task_id(handle) != id:
            raise KeyError(id)
        return Task(self, handle)

    def _symbols(self, path: str, build_id: str) -> dict[str, int]:
        key = path, build_id
        if key not in self._tables:
            self._tables[key] = _symbols(path, build_id)
        return self._tables[key]


def open(path: str | os.PathLike[str],
         moment: int | str = 'last') -> Snapshot:
    """Open a snapshot, an ELF core or a directory of CRIU images.

    The file may be compressed; "-" is standard input.  moment chooses a moment
    of a series: a number, a time ("14:30:05"), or "first".  Raise Error.
    """
    return Snapshot(path, moment)


def _text(name: str | os.PathLike[str]) -> bytes:
    """Return a string of C.  Raise ValueError if name has a NUL."""
    text = os.fsencode(name)
    if b'\0' in text:
        raise ValueError('embedded NUL')
    return text


def _each(function: Any, of: int) -> Iterator[int]:
    handle = function(of, None)
    while handle:
        yield handle
        handle = function(of, handle)


def _segments(elf: Any) -> Iterator[tuple[int, int, int, int]]:
    """Return type, offset, address and size of each segment of a file."""
    if elf[:6] != b'\x7fELF\x02\x01' or len(elf) < 64:
        return
    at, = struct.unpack_from('<Q', elf, 32)
    size, n = struct.unpack_from('<HH', elf, 54)
    for i in range(n):
        if at + i * size + 56 > len(elf):
            return
        kind, _, *rest = struct.unpack_from('<IIQQQQ', elf, at + i * size)
        yield kind, rest[0], rest[1], rest[3]


def _build_id(elf: Any) -> str:
    """Return the build ID of a file whose beginning is elf, or ""."""
    for kind, at, _, size in _segments(elf):
        end = min(at + size, len(elf))
        while kind == 4 and at + 12 <= end:             # PT_NOTE
            name, n, note = struct.unpack_from('<III', elf, at)
            at += 12 + (name + 3 & ~3)
            if note == 3 and elf[at - 4:at] == b'GNU\0' and at + n <= end:
                return elf[at:at + n].hex()
            at += n + 3 & ~3
    return ''


def _symbols(path: str, build_id: str) -> dict[str, int]:
    """Return the symbols of a file that has this build ID.

    They are relative to the address where its first byte is mapped.
    """
    symbols: dict[str, int] = {}
    try:
        fd = _open_regular(path)
    except OSError:
        return symbols
    try:
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as elf:
            if _build_id(elf) == build_id:
                _tables(elf, symbols)
    except (OSError, ValueError, IndexError, OverflowError, struct.error):
        pass                                            # empty, or damaged
    finally:
        os.close(fd)
    return symbols


def _open_regular(path: str) -> int:
    """Open a regular file for reading; opening a device can have effects."""
    at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(at).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        return os.open(f'/proc/self/fd/{at}', os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(at)


def _tables(elf: mmap.mmap, symbols: dict[str, int]) -> None:
    """Add the symbol tables of an ELF file to symbols."""
    base = next((address - at for kind, at, address, _ in _segments(elf)
                 if kind == 1), None)                   # PT_LOAD
    if base is None:
        return
    most = 1 << 28              # of names in bytes, which may overlap
    table, = struct.unpack_from('<Q', elf, 40)
    size, n = struct.unpack_from('<HH', elf, 58)
    parts = [struct.unpack_from('<IIQQQQI', elf, table + i * size)
             for i in range(n)]
    for _, kind, _, _, at, length, link in parts:
        if kind not in (2, 11):                 # SHT_SYMTAB, SHT_DYNSYM
            continue
        names = elf[parts[link][4]:parts[link][4] + parts[link][5]]
        end = at + length - length % 24
        for name, info, _, section, value, _ in struct.iter_unpack(
                '<IBBHQQ', elf[at:end]):
            if section and info & 15 != 6:              # not STT_TLS
                stop = names.find(b'\0', name, name + 4096)
                most -= max(stop - name, 0)
                if most < 0:
                    return
                if stop != -1:
                    symbols.setdefault(os.fsdecode(names[name:stop]),
                                       value - base)
