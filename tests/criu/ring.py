#!/usr/bin/env python3
"""ring.py LOG [try]: have a ring of io_setup(2) whose head and tail are not 0,
with events in it; count in the log while it is mapped and events go through it.
Exits 2 if there is no io_setup.  try: exit 0 if there is.
"""
import ctypes
import os
import struct
import sys
import time

# by machine: io_setup, io_getevents, io_submit
CALLS = {'x86_64': (206, 208, 209), 'aarch64': (0, 4, 2)}
PWRITE = 1
libc = ctypes.CDLL(None, use_errno=True)
setup, getevents, submit = CALLS.get(os.uname().machine, (-1, -1, -1))
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
null = os.open('/dev/null', os.O_WRONLY)
ring = ctypes.c_ulong(0)
if libc.syscall(setup, 4000, ctypes.byref(ring)) != 0:
    sys.exit(2)
if len(sys.argv) > 2:
    sys.exit(0)
byte = ctypes.create_string_buffer(1)


def put(data):
    """Submit a request that ends at once; its event has the data."""
    request = ctypes.create_string_buffer(struct.pack(
        '<QIiHhIQQqQII', data, 0, 0, PWRITE, 0, null,
        ctypes.addressof(byte), 1, 0, 0, 0, 0))
    list_ = (ctypes.c_void_p * 1)(ctypes.addressof(request))
    return libc.syscall(submit, ring, 1, list_) != 1


def get():
    """Return the data of the next event; -1 if there is none."""
    event = ctypes.create_string_buffer(32)
    zero = ctypes.create_string_buffer(16)
    n = libc.syscall(getevents, ring, ctypes.c_long(0), ctypes.c_long(1),
                     event, zero)
    return struct.unpack_from('<Q', event)[0] if n == 1 else -1


n = 0
while n < 5:
    n += 1
    put(n)
last = 0
while True:
    n += 1
    wrong = put(n)
    last += 1
    wrong += get() != last
    log.write('ring %d %d\n' % (last, wrong))
    time.sleep(.01)
