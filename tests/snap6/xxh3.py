"""XXH3, 64 bits, seed 0, by its specification: slow, but short.

For long data, libxxhash is used if it is installed, which is a thousand times
as fast. trailer.t compares the two.
"""

import ctypes
import struct

SECRET = bytes.fromhex(
    'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f'
    'cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c'
    '3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8'
    'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364'
    'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e'
    '2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e')
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
P32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
       0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
LANES = struct.Struct('<8Q')
KEYS = [LANES.unpack_from(SECRET, 8 * n) for n in range(17)]
LAST = LANES.unpack_from(SECRET, 192 - 64 - 7)


def word(data, at, size=8):
    return int.from_bytes(data[at:at + size], 'little')


def fold(a, b):
    product = a * b
    return product & M64 ^ product >> 64


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def avalanche64(h):
    h ^= h >> 33
    h = h * P64[1] & M64
    h ^= h >> 29
    h = h * P64[2] & M64
    return h ^ h >> 32


def rotl(h, n):
    return (h << n | h >> 64 - n) & M64


def short(data):
    """Return the hash of at most 16 bytes."""
    n = len(data)
    if n == 0:
        return avalanche64(word(SECRET, 56) ^ word(SECRET, 64))
    if n < 4:
        h = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche64(h ^ word(SECRET, 0, 4) ^ word(SECRET, 4, 4))
    if n <= 8:
        h = word(data, n - 4, 4) + (word(data, 0, 4) << 32)
        h ^= word(SECRET, 8) ^ word(SECRET, 16)
        h ^= rotl(h, 49) ^ rotl(h, 24)
        h = h * 0x9FB21C651E98DF25 & M64
        h ^= (h >> 35) + n
        h = h * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    low = word(data, 0) ^ word(SECRET, 24) ^ word(SECRET, 32)
    high = word(data, n - 8) ^ word(SECRET, 40) ^ word(SECRET, 48)
    swapped = int.from_bytes(low.to_bytes(8, 'little'), 'big')
    return avalanche(n + swapped + high + fold(low, high) & M64)


def mix(data, at, key):
    return fold(word(data, at) ^ word(SECRET, key),
                word(data, at + 8) ^ word(SECRET, key + 8))


def middle(data):
    """Return the hash of 17 to 240 bytes."""
    n = len(data)
    h = n * P64[0]
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += mix(data, 16 * i, 32 * i)
            h += mix(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & M64)
    for i in range(8):
        h += mix(data, 16 * i, 16 * i)
    h = avalanche(h & M64)
    for i in range(8, n // 16):
        h += mix(data, 16 * i, 16 * (i - 8) + 3)
    return avalanche(h + mix(data, n - 16, 136 - 17) & M64)


def stripe(acc, lanes, keys):
    for i in range(8):
        key = lanes[i] ^ keys[i]
        acc[i ^ 1] += lanes[i]
        acc[i] += (key & M32) * (key >> 32)


def long(data):
    n = len(data)
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    for at in range(0, n - 1 - (n - 1) % 64, 64):
        stripe(acc, LANES.unpack_from(data, at), KEYS[at // 64 % 16])
        if at % 1024 == 960:
            for i in range(8):
                a = acc[i] & M64
                acc[i] = (a ^ a >> 47 ^ KEYS[16][i]) * P32[0] & M64
    stripe(acc, LANES.unpack_from(data, n - 64), LAST)
    h = n * P64[0]
    for i in range(0, 8, 2):
        h += fold(acc[i] & M64 ^ word(SECRET, 11 + 8 * i),
                  acc[i + 1] & M64 ^ word(SECRET, 19 + 8 * i))
    return avalanche(h & M64)


def library():
    """Return the function of libxxhash, or None."""
    try:
        function = ctypes.CDLL('libxxhash.so.0').XXH3_64bits
    except OSError:
        return None
    function.argtypes = ctypes.c_char_p, ctypes.c_size_t
    function.restype = ctypes.c_uint64
    return function


FAST = library()


def slow(data):
    if len(data) <= 16:
        return short(data)
    return middle(data) if len(data) <= 240 else long(data)


def xxh3(data):
    data = bytes(data)
    if FAST and len(data) > 1 << 16:
        return FAST(data, len(data))
    return slow(data)
