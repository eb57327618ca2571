# Run snapstack on damaged snapshots: damage.py SNAPSTACK SNAPSHOT N.  N fixed
# seeds select which bytes of the executable, the records and the memory are
# changed. snapstack must not be killed, or run for long.
import gzip
import os
import random
import subprocess
import sys

program, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
whole = gzip.open(path).read()
begin = whole.index(b' segment\n')
elf = whole.index(b'\x7fELF')
for seed in range(rounds):
    random.seed(seed)
    data = bytearray(whole)
    first, end = (begin, len(data)) if seed % 4 == 0 else (elf, elf + 3600)
    for _ in range(random.choice([1, 3, 10, 40])):
        at = random.randrange(first, end)
        data[at] = random.choice([0, 1, 0x7f, 0x80, 0xff,
                                  random.randrange(256)])
    # libdw leaks memory after an error
    rc = subprocess.run([program, '-j'], input=data, timeout=60,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE,
                        env=dict(os.environ, ASAN_OPTIONS='detect_leaks=0'))
    if rc.returncode not in (0, 1) or b'Sanitizer' in rc.stderr:
        print('seed', seed, rc.returncode, rc.stderr[-2000:].decode())
