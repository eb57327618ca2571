#!/usr/bin/env python3
"""members.py - check the members of a compressed snapshot (snap(6))

usage: members.py file.gz plain

Reads each member by itself, as in RFC 1952, and writes the contents to plain.
"""

import struct
import sys
import zlib

HEAD = bytes.fromhex('1f8b0804000000000403') + b'\x0c\x00SN\x08\x00'
MIB = 1 << 20


def main():
    with open(sys.argv[1], 'rb') as f:
        data = f.read()
    at = 0
    raws = []
    with open(sys.argv[2], 'wb') as out:
        while at < len(data):
            assert data[at:at + 16] == HEAD, f'header at {at}'
            size, raw = struct.unpack_from('<II', data, at + 16)
            assert 34 <= size <= 2 * MIB and raw <= MIB, f'lengths at {at}'
            inflate = zlib.decompressobj(-15)
            held = inflate.decompress(data[at + 24:at + size])
            assert inflate.eof and len(held) == raw, f'deflate at {at}'
            tail = inflate.unused_data
            assert tail == struct.pack('<II', zlib.crc32(held), raw), \
                f'tail at {at}'
            raws.append(raw)
            out.write(held)
            at += size
    assert raws[-1] == 0 and data[-34:-8].endswith(b'\x03\x00')
    assert all(raw == MIB for raw in raws[:-2])
    assert all(raw > 0 for raw in raws[:-1])


main()
