/*
 * Read the registers of a process that dumps core from the pipe to which the
 * kernel writes the core: they are ELF notes and come before the memory
 * (elf(5), core(5); fs/binfmt_elf.c). As long as the rest of the pipe is not
 * read, the kernel keeps the process as it was when it crashed.
 */
#include "machine.h"
#include "set.h"
#include "vec.h"

#include <elf.h>
#include <unistd.h>

enum {
	MAX_NOTES = 512 << 20,	/* maximum length of the notes, in bytes; one
				   thread takes up to 20,000 */
	MAX_GAP = 64 << 20	/* maximum number of bytes between the ELF
				   header and the notes: each program header
				   takes 56, and there may be one for each
				   mapping */
};

/*
 * Byte offsets in the kernel's struct elf_prstatus, for 64-bit and for 32-bit
 * processes. tail is the size of the member pr_fpvalid, which follows the
 * registers.
 */
static const struct layout {
	size_t	 blocked, pid, regs, tail;
} layouts[] = { { 24, 32, 112, 8 }, { 20, 24, 72, 4 } };

struct coredump {
	uint8_t		*notes;	/* owned */
	size_t		 len;
	const struct layout *layout;
};

/*
 * Read exactly len bytes from pipe fd into buf, or discard them if buf is NULL.
 */
static int
pipe_read(int fd, uint8_t *buf, size_t len)
{
	uint8_t spare[4096] = { 0 };
	size_t want;
	ssize_t n;

	while (len > 0) {
		want = buf == NULL && len > sizeof spare ? sizeof spare : len;
		n = read(fd, buf == NULL ? spare : buf, want);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return errstr_sys("core");
		if (n == 0)
			return errstr_set("core: truncated before the end of "
			    "its notes");
		buf = buf == NULL ? NULL : buf + n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * Read the ELF header and the first program header of a core. In a core that
 * the kernel writes, the first program header is the one for the notes. Set
 * *skip to the number of bytes between this header and the notes, and *len to
 * the size of the notes.
 */
static int
head_read(struct coredump *c, int fd, size_t *skip, size_t *len)
{
	union {
		uint8_t		 ident[EI_NIDENT];
		Elf64_Ehdr	 e64;
		Elf32_Ehdr	 e32;
	} h;
	Elf64_Phdr p64;
	Elf32_Phdr p32;
	uint64_t seg, type, off, size;
	size_t at;
	bool wide;

	if (pipe_read(fd, h.ident, EI_NIDENT) == -1)
		return -1;
	wide = h.ident[EI_CLASS] == ELFCLASS64;
	if (memcmp(h.ident, ELFMAG, SELFMAG) != 0 ||
	    (!wide && h.ident[EI_CLASS] != ELFCLASS32))
		return errstr_set("core: not an ELF file");
	c->layout = &layouts[!wide];
	at = wide ? sizeof h.e64 : sizeof h.e32;
	if (pipe_read(fd, h.ident + EI_NIDENT, at - EI_NIDENT) == -1)
		return -1;
	seg = wide ? h.e64.e_phoff : h.e32.e_phoff;
	if ((wide ? h.e64.e_type : h.e32.e_type) != ET_CORE || seg != at)
		return errstr_set("core: not written by the kernel");
	if (pipe_read(fd, wide ? (uint8_t *)&p64 : (uint8_t *)&p32,
	    wide ? sizeof p64 : sizeof p32) == -1)
		return -1;
	at += wide ? sizeof p64 : sizeof p32;
	type = wide ? p64.p_type : p32.p_type;
	off = (wide ? p64.p_offset : p32.p_offset) - at;
	size = wide ? p64.p_filesz : p32.p_filesz;
	*skip = (size_t)off;
	*len = (size_t)size;
	return type == PT_NOTE && off <= MAX_GAP && size <= MAX_NOTES ?
	    0 : errstr_set("core: invalid program header for the "
	    "notes (PT_NOTE)");
}

/*
 * Read from pipe fd the part of a core that precedes the memory. Return this
 * part, or NULL with errstr set. The caller frees it with coredump_free().
 */
struct coredump *
coredump_read(int fd)
{
	struct coredump *c;
	size_t skip = 0, len = 0;

	if ((c = mem_new(1, sizeof *c)) == NULL)
		return NULL;
	if (head_read(c, fd, &skip, &len) == 0 &&
	    pipe_read(fd, NULL, skip) == 0 &&
	    (c->notes = mem_new(len, 1)) != NULL &&
	    pipe_read(fd, c->notes, len) == 0) {
		c->len = len;
		return c;
	}
	coredump_free(c);
	return NULL;
}

/*
 * Free core c, which may be NULL.
 */
void
coredump_free(struct coredump *c)
{
	if (c != NULL)
		free(c->notes);
	free(c);
}

/*
 * Return the note at offset *at, and advance *at to the next note. At the end,
 * return a note with NULL data.
 */
static struct dumpnote
note_next(const struct coredump *c, size_t *at)
{
	struct dumpnote n = { 0 };
	Elf64_Nhdr h;		/* same layout as Elf32_Nhdr */
	size_t name, desc, left;

	left = c->len - *at;
	if (left < sizeof h)
		return n;
	memcpy(&h, c->notes + *at, sizeof h);
	left -= sizeof h;
	name = ((size_t)h.n_namesz + 3) / 4 * 4;
	desc = ((size_t)h.n_descsz + 3) / 4 * 4;
	if (name > left || desc > left - name)
		return n;
	n = (struct dumpnote){ h.n_type, c->notes + *at + sizeof h + name,
	    h.n_descsz };
	*at += sizeof h + name + desc;
	return n;
}

/*
 * Return the thread ID in n, a note of type NT_PRSTATUS. The ID is the one in
 * the thread's own PID namespace. Return 0 if n is of another type.
 */
static pid_t
note_thread(const struct coredump *c, const struct dumpnote *n)
{
	int32_t pid;

	if (n->type != NT_PRSTATUS || n->data == NULL ||
	    n->len < c->layout->regs + c->layout->tail)
		return 0;
	memcpy(&pid, n->data + c->layout->pid, sizeof pid);
	return pid;
}

/*
 * Find the NT_PRSTATUS note of a thread, and fill *d from it. inner is the
 * thread's ID in its own PID namespace. coredump_note() then returns the other
 * notes of the thread. Return false if there is no such note.
 */
bool
coredump_find(const struct coredump *c, pid_t inner, struct dumpthread *d)
{
	const struct layout *l = c->layout;
	struct dumpnote n;
	uint32_t half[2] = { 0, 0 };
	int16_t sig;

	d->at = 0;
	do {
		n = note_next(c, &d->at);
		if (n.data == NULL)
			return false;
	} while (note_thread(c, &n) != inner || inner == 0);
	d->general = (struct bytes){ n.data + l->regs,
	    n.len - l->regs - l->tail };
	memcpy(&sig, n.data + 12, sizeof sig);
	d->signal = sig;
	if (l == layouts)
		memcpy(&d->blocked, n.data + l->blocked, sizeof d->blocked);
	else {		/* a 32-bit core has only signals 1 to 32 */
		memcpy(half, n.data + l->blocked, sizeof *half);
		d->blocked = half[0];
	}
	return true;
}

/*
 * Set *n to the next note of the thread that coredump_find() described in *d.
 * Return false if there are no more.
 */
bool
coredump_note(const struct coredump *c, struct dumpthread *d,
    struct dumpnote *n)
{
	*n = note_next(c, &d->at);
	return n->data != NULL && n->type != NT_PRSTATUS;
}

/*
 * Call fn for each general register of each thread in core c. fn gets arg, the
 * value of the register, and true if it is the stack pointer.
 */
void
coredump_regs(const struct coredump *c, void (*fn)(void *, uint64_t, bool),
    void *arg)
{
	const struct machine *m = machine_here();
	const struct layout *l = c->layout;
	struct dumpnote n;
	size_t i, at = 0;

	if (l != layouts && m->narrow != NULL)
		m = machine_named(m->narrow);
	while ((n = note_next(c, &at)).data != NULL)
		for (i = 0; note_thread(c, &n) != 0 &&
		    i + m->word <= n.len - l->regs - l->tail; i += m->word)
			fn(arg, machine_get(m, n.data + l->regs + i, m->word),
			    i == m->sp && m->sp != 0);
}
