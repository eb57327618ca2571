# -c: A process and one of its threads as our writer writes them.
"process snapshot 1732098765 ann@host amd64 1732000000 \"Linux 6.1.0\"\n"
record 812 segment
data {
"Stack     7ffc1f000000 7ffc1f021000    1\n"
"Text      555555554000 555555555000    1\n"
}
record 812 fd
data {
"/home/ann\n"
"  0 r  M    1 (0000000000001a2b 0 00)  4096      512 /home/ann/notes\n"
}
record 812 fpregs
data fp812 512
record 812 noteid
data "        812 "
record 812 ns
data {
"mount  /dev/sda1 / \n"
"cd /home/ann\n"
}
record 812 proc
data {
"linux amd64 1\n"
"cmdline\n"
data "cat\0notes\0"
"environ\n"
data ""
"exe\n"
data "/usr/bin/cat"
"fd/0\n"
data "/home/ann/notes"
"fdinfo/0\n"
data "pos:\t512\nflags:\t0100000\nmnt_id:\t27\n"
"regset/prstatus\n"
data prstatus 216
"missing\n"
data "7ffff7fc1000-7ffff7fc5000 vvar\n"
"a name with blanks\n"
data "kept and shown"
}
record 812 regs
data u812 184
record 812 status
data {
"cat                         ann                         Await       "
"         40          10       93000           0           0           0"
"        1184          10          10\n"
}
record 812 text
segment 0 2600
r text0
r text1
r text2 552
record 812 mem
number 3
segment 0x555555554000 4096
t 812 0
t 812 1024
r texttail
z
segment 0x7ffc1f01f000 8192
z 5
r stack5
m 812 0x7ffc1f020400
r stack7
segment 0xffffffffff600000 4096
r vsyscall
z 3
record 813 noteid
data "        812 "
record 813 proc
data {
"linux amd64 1\n"
"thread\n"
data "812\n"
"comm\n"
data "cat worker\n"
}
record 813 regs
data u813 184
