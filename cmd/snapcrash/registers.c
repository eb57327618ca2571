/*
 * The registers of who dumps core, as the core has them that comes on standard
 * input.  Another program is to read that, so it is only looked at: no byte is
 * taken away.
 */
#include "crash.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PEEK_MOST = 1 << 20,	/* bytes of the core */
	PATIENCE = 50,		/* times that more of it is waited for, */
	WAIT = 10000		/* so many microseconds each */
};

/*
 * Wait until the kernel has written what there is room for in the pipe.
 */
static void
pipe_settle(int fd)
{
	int i, same, have = 0, had = -1;

	for (i = same = 0; i < PATIENCE && same < 3 && have < PEEK_MOST; i++) {
		if (ioctl(fd, FIONREAD, &have) == -1)
			return;
		same = have == had && have > 0 ? same + 1 : 0;
		had = have;
		usleep(WAIT);
	}
}

/*
 * Look at what is in a pipe; return how many bytes that are.
 */
static size_t
pipe_peek(int fd, uint8_t *buf, size_t size)
{
	size_t n = 0;
	ssize_t got;
	int copy[2];

	if (pipe2(copy, O_CLOEXEC) == -1)
		return 0;
	(void)fcntl(fd, F_SETPIPE_SZ, (int)size);
	(void)fcntl(copy[1], F_SETPIPE_SZ, (int)size);
	pipe_settle(fd);
	got = tee(fd, copy[1], size, SPLICE_F_NONBLOCK);
	close(copy[1]);
	while (got > 0 && n < size &&
	    (got = read(copy[0], buf + n, size - n)) > 0)
		n += (size_t)got;
	close(copy[0]);
	return n;
}

static size_t
core_peek(int fd, uint8_t *buf, size_t size)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == -1)
		return 0;
	if (S_ISFIFO(st.st_mode))
		return pipe_peek(fd, buf, size);
	n = S_ISSOCK(st.st_mode) ?
	    recv(fd, buf, size, MSG_PEEK | MSG_DONTWAIT) : 0;
	return n > 0 ? (size_t)n : 0;
}

/*
 * Set *at and *end to where the notes of a core are, as far as it is there.
 */
static bool
notes_find(const uint8_t *p, size_t n, size_t *at, size_t *end)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	size_t i;

	if (n < sizeof eh)
		return false;
	memcpy(&eh, p, sizeof eh);
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof ph)
		return false;
	for (i = 0; i < eh.e_phnum && eh.e_phoff <= n &&
	    (n - eh.e_phoff) / sizeof ph > i; i++) {
		memcpy(&ph, p + eh.e_phoff + i * sizeof ph, sizeof ph);
		if (ph.p_type != PT_NOTE || ph.p_offset >= n)
			continue;
		*at = ph.p_offset;
		*end = ph.p_filesz < n - *at ? *at + ph.p_filesz : n;
		return true;
	}
	return false;
}

/*
 * Call fn, with arg, with each general register of each thread whose registers
 * are in fd, the pipe or socket, yet: that of who fell is the first.  Cores of
 * 32 bits have none here.
 */
void
registers_each(int fd, void (*fn)(void *, uint64_t), void *arg)
{
	enum { REGS = 112 };	/* where they are in struct elf_prstatus */
	size_t at, end, i, name, desc;
	uint64_t v;
	uint8_t *p;
	Elf64_Nhdr nh;

	if ((p = malloc(PEEK_MOST)) == NULL)
		return;
	if (!notes_find(p, core_peek(fd, p, PEEK_MOST), &at, &end))
		end = at = 0;
	for (; end - at >= sizeof nh; at += name + desc) {
		memcpy(&nh, p + at, sizeof nh);
		at += sizeof nh;
		name = ((size_t)nh.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)nh.n_descsz + 3) & ~(size_t)3;
		if (name > end - at || desc > end - at - name)
			break;
		for (i = REGS; nh.n_type == NT_PRSTATUS && i + 8 <= desc;
		    i += 8) {
			memcpy(&v, p + at + name + i, sizeof v);
			fn(arg, v);
		}
	}
	free(p);
}
