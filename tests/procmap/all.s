# Two processes: 7 has all that Linux tells, and a mapping of every sort;
# 8 has only maps, of which pages are shared with 7.  9 is a thread of 7,
# 10 a zombie.
"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"
record 7 proc
data {
"linux amd64 1\n"
"stat\n"
data "7 (prog) S 1 7 7 0 -1 4194304 10 0 0 0 1 2 0 0 20 0 2 0 99 5000000 22 18446744073709551615 94188632809472 94188632821760 140720308619264 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 94188632821760 94188632825856 94188633849856 0 0 0 0 0\n"
"status\n"
data {
"Name:\tprog\n"
"State:\tS (sleeping)\n"
"VmRSS:\t      96 kB\n"
"VmData:\t     200 kB\n"
"VmStk:\t     132 kB\n"
"VmExe:\t      12 kB\n"
"Threads:\t2\n"
}
"limits\n"
data {
"Limit                     Soft Limit           Hard Limit           Units     \n"
"Max data size             1048576              unlimited            bytes     \n"
"Max stack size            8388608              unlimited            bytes     \n"
}
"maps\n"
data {
"55aa00000000-55aa00002000 r--p 00000000 fe:00 1234                       /usr/bin/prog\n"
"55aa00002000-55aa00005000 r-xp 00002000 fe:00 1234                       /usr/bin/prog\n"
"55aa00005000-55aa00006000 rw-p 00004000 fe:00 1234                       /usr/bin/prog\n"
"55aa00100000-55aa00121000 rw-p 00000000 00:00 0                          [heap]\n"
"7f0000000000-7f0000004000 rw-p 00000000 00:00 0\n"
"7f0000004000-7f0000008000 rw-p 00000000 00:00 0                          [anon:arena]\n"
"7f0000008000-7f000000c000 rw-p 00000000 00:00 0\n"
"7f000000c000-7f0000010000 r--p 00000000 fe:00 77                         /var/lib/a name\n"
"7f0000010000-7f0000014000 r--s 00000000 fe:00 78                         /var/lib/gone (deleted)\n"
"7f0000014000-7f0000024000 ---p 00000000 00:00 0\n"
"7f0000024000-7f0000028000 rw-s 00000000 00:01 5                          /dev/zero (deleted)\n"
"7f0000028000-7f000002c000 rw-s 00000000 00:01 3                          /SYSV0000002a (deleted)\n"
"7f000002c000-7f000002d000 rw-s 00001000 00:05 9                          /dev/x\n"
"7f0000030000-7f0000032000 r--p 00000000 00:00 0\n"
"7f0000200000-7f0000600000 rw-p 00000000 00:00 0\n"
"7f0000700000-7f0000900000 rw-s 00000000 00:0f 11                         /anon_hugepage (deleted)\n"
"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
"7ffc00100000-7ffc00104000 r--p 00000000 00:00 0                          [vvar]\n"
"7ffc00104000-7ffc00106000 r-xp 00000000 00:00 0                          [vdso]\n"
"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
}
"smaps\n"
data {
"55aa00000000-55aa00002000 r--p 00000000 fe:00 1234                       /usr/bin/prog\n"
"Size:                  8 kB\n"
"Rss:                   8 kB\n"
"Shared_Clean:          8 kB\n"
"VmFlags: rd mr mw me sd \n"
"55aa00002000-55aa00005000 r-xp 00002000 fe:00 1234                       /usr/bin/prog\n"
"Size:                 12 kB\n"
"Rss:                  12 kB\n"
"Shared_Clean:          8 kB\n"
"Private_Clean:         4 kB\n"
"VmFlags: rd ex mr mw me sd \n"
"55aa00005000-55aa00006000 rw-p 00004000 fe:00 1234                       /usr/bin/prog\n"
"Size:                  4 kB\n"
"Rss:                   4 kB\n"
"Private_Dirty:         4 kB\n"
"Anonymous:             4 kB\n"
"VmFlags: rd wr mr mw me ac sd \n"
"55aa00100000-55aa00121000 rw-p 00000000 00:00 0                          [heap]\n"
"Size:                132 kB\n"
"Rss:                  16 kB\n"
"Private_Dirty:        16 kB\n"
"Anonymous:            16 kB\n"
"Swap:                  8 kB\n"
"VmFlags: rd wr mr mw me ac sd \n"
"7f0000000000-7f0000004000 rw-p 00000000 00:00 0\n"
"Size:                 16 kB\n"
"Rss:                   0 kB\n"
"VmFlags: rd wr mr mw me dc ac sd \n"
"7f0000004000-7f0000008000 rw-p 00000000 00:00 0                          [anon:arena]\n"
"Size:                 16 kB\n"
"Rss:                   4 kB\n"
"Private_Dirty:         4 kB\n"
"Anonymous:             4 kB\n"
"VmFlags: rd wr mr mw me wf ac sd \n"
"7f0000008000-7f000000c000 rw-p 00000000 00:00 0\n"
"Size:                 16 kB\n"
"Rss:                  16 kB\n"
"Private_Dirty:        16 kB\n"
"Anonymous:            16 kB\n"
"VmFlags: rd wr mr mw me lo ac sd \n"
"7f000000c000-7f0000010000 r--p 00000000 fe:00 77                         /var/lib/a name\n"
"Size:                 16 kB\n"
"Rss:                   0 kB\n"
"VmFlags: rd mr mw me rr sd \n"
"7f0000010000-7f0000014000 r--s 00000000 fe:00 78                         /var/lib/gone (deleted)\n"
"Size:                 16 kB\n"
"Rss:                   8 kB\n"
"Shared_Clean:          8 kB\n"
"VmFlags: rd mr me ms sr sd \n"
"7f0000014000-7f0000024000 ---p 00000000 00:00 0\n"
"Size:                 64 kB\n"
"Rss:                   0 kB\n"
"VmFlags: mr mw me nr sd \n"
"7f0000024000-7f0000028000 rw-s 00000000 00:01 5                          /dev/zero (deleted)\n"
"Size:                 16 kB\n"
"Rss:                   8 kB\n"
"Shared_Dirty:          8 kB\n"
"VmFlags: rd wr sh mr mw me ms sd \n"
"7f0000028000-7f000002c000 rw-s 00000000 00:01 3                          /SYSV0000002a (deleted)\n"
"Size:                 16 kB\n"
"Rss:                   4 kB\n"
"Private_Dirty:         4 kB\n"
"VmFlags: rd wr sh mr mw me ms sd \n"
"7f000002c000-7f000002d000 rw-s 00001000 00:05 9                          /dev/x\n"
"Size:                  4 kB\n"
"Rss:                   0 kB\n"
"VmFlags: rd wr sh mr mw me ms io pf sd \n"
"7f0000030000-7f0000032000 r--p 00000000 00:00 0\n"
"Size:                  8 kB\n"
"Rss:                   0 kB\n"
"VmFlags: rd mr mw me sl sd \n"
"7f0000200000-7f0000600000 rw-p 00000000 00:00 0\n"
"Size:               4096 kB\n"
"Rss:                   0 kB\n"
"VmFlags: rd wr mr mw me nr dd sd \n"
"7f0000700000-7f0000900000 rw-s 00000000 00:0f 11                         /anon_hugepage (deleted)\n"
"Size:               2048 kB\n"
"Rss:                   0 kB\n"
"Private_Hugetlb:    2048 kB\n"
"VmFlags: rd wr sh mr mw me ms de ht sd \n"
"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
"Size:                132 kB\n"
"Rss:                  12 kB\n"
"Private_Dirty:        12 kB\n"
"Anonymous:            12 kB\n"
"VmFlags: rd wr mr mw me gd ac \n"
"7ffc00100000-7ffc00104000 r--p 00000000 00:00 0                          [vvar]\n"
"Size:                 16 kB\n"
"Rss:                   0 kB\n"
"VmFlags: rd mr pf io de dd sd \n"
"7ffc00104000-7ffc00106000 r-xp 00000000 00:00 0                          [vdso]\n"
"Size:                  8 kB\n"
"Rss:                   4 kB\n"
"Shared_Clean:          4 kB\n"
"VmFlags: rd ex mr mw me de sd \n"
"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
"Size:                  4 kB\n"
"Rss:                   0 kB\n"
"VmFlags: ex \n"
}
"missing\n"
data {
"7f000000c000-7f0000014000 file\n"
"7ffc00100000-7ffc00104000 kernel\n"
"ffffffffff600000-ffffffffff601000 kernel\n"
}
}
record 7 mem
number 5
segment 0x55aa00000000 0x6000
r prog00
r prog01
z 10
r prog12
r prog13
z 10
segment 0x55aa00100000 0x4000
r heap00
r heap01
r heap02
r heap03
z 12
segment 0x7f0000004000 0x1000
r arena0
r arena1
r arena2
r arena3
segment 0x7f0000008000 0x4000
z 16
segment 0x7ffc0001e000 0x3000
r stack0
z 11
record 9 proc
data {
"linux amd64 1\nthread\n"
data "7\n"
}
record 8 proc
data {
"linux amd64 1\n"
"status\n"
data "Name:\tother\n"
"regset/prstatus\n"
data regs 216
"maps\n"
data {
"00001000-00003000 r-xp 00000000 08:01 42                                 /bin/other\n"
"00003000-00004000 rw-p 00000000 00:00 0 \n"
"7ffc0001e000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
}
}
record 8 mem
number 2
segment 0x1000 0x3000
r other0
r other1
r other2
r other3
m 7 0x55aa00100000
m 7 0x55aa00100400
m 7 0x55aa00100800
m 7 0x55aa00100c00
z 4
segment 0x7ffc0001e000 0x3000
m 7 0x7ffc0001e000
z 11
record 10 proc
data {
"linux amd64 1\nstat\n"
data "10 (z) Z 1 10 10 0 -1 0"
}
