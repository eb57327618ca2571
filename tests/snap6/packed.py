"""Decompress a snapshot, as the section COMPRESSION of snap(6) describes.

It was written from that page alone, with unsnap.py.
"""

import subprocess
import zlib

BLOCK = 1 << 20


class Bad(Exception):
    """The byte AT is wrong, or the input ends there too early (CUT)."""

    def __init__(self, at, why, cut=False):
        super().__init__(at, why)
        self.at = at
        self.why = why
        self.cut = cut


def little(raw, at, size):
    return int.from_bytes(raw[at:at + size], 'little')


def expand(raw):
    if raw[:2] == b'\x1f\x8b':
        out = []
        try:
            gunzip(raw, out)
        except Bad as bad:
            return b''.join(out), bad
        return b''.join(out), None
    if raw[:4] == b'\x28\xb5\x2f\xfd':
        run = subprocess.run(['zstd', '-dcq'], input=raw, check=False,
                             capture_output=True)
        return run.stdout, Bad(len(raw), 'zstd') if run.returncode else None
    return raw, None


def indexed(raw, at):
    """Return whether a member of the form of `-z` begins at AT."""
    return (raw[at:at + 10] == bytes.fromhex('1f8b0804000000000403')
            and raw[at + 12:at + 16] == b'SN\x08\x00')


def gunzip(raw, out):
    """Append the bytes of the gzip members to OUT."""
    at, form, sizes, held = 0, indexed(raw, 0), [], None
    while at < len(raw):
        if indexed(raw, at) != form or (form and held == 0):
            raise Bad(at, 'this member cannot follow the one before it')
        engine, member, end = zlib.decompressobj(31), [], at
        try:
            while not engine.eof and end < len(raw):
                member.append(engine.decompress(raw[end:end + BLOCK]))
                end += BLOCK
        except zlib.error as error:
            raise Bad(at, str(error)) from None
        finally:
            if not form:
                out.extend(member)
        if not engine.eof:
            raise Bad(len(raw), 'the last member ends early')
        end = min(end, len(raw)) - len(engine.unused_data)
        if form:
            sizes.append(end - at)
            short = held is not None and held < BLOCK
            held = sum(map(len, member))
            if not good_member(raw[at:end], held, sizes, short):
                raise Bad(at, 'a member of the form of -z is wrong')
            out.extend(member)
        at = end
    if form and held:
        raise Bad(at, 'the last member of the form of -z is absent')


def good_member(raw, held, sizes, short):
    """Return whether this member is right. SHORT: the previous is short."""
    if (little(raw, 16, 4) != len(raw) or little(raw, 20, 4) != held
            or not 34 <= len(raw) <= 2 * BLOCK or held > BLOCK):
        return False
    if held:
        return not short and little(raw, 10, 2) == 12
    listed = b''
    if 16 <= len(sizes) - 1 <= 16378:
        listed = b'ST' + (4 * len(sizes)).to_bytes(2, 'little')
        listed += b''.join(n.to_bytes(4, 'little') for n in sizes)
    return (little(raw, 10, 2) == 12 + len(listed)
            and raw[24:] == listed + b'\x03\x00' + bytes(8))
