/*
 * Parse an ELF core: core(5), elf(5), and the kernel's fs/binfmt_elf.c.
 *
 *	ELF header
 *	program headers: PT_NOTE, then a PT_LOAD for each mapping
 *	notes: NT_PRSTATUS of the first thread, NT_PRPSINFO, NT_SIGINFO,
 *	    NT_AUXV, NT_FILE, more of the first thread; NT_PRSTATUS of the
 *	    second thread, more of it; ...
 *	the bytes of the PT_LOADs
 *
 * Numbers from libelf are as the file has them, so sums and lengths are checked
 * here.
 */
#include "bisect.h"
#include "elf/elf.h"
#include "read.h"
#include "vec.h"

#include <elf.h>
#include <unistd.h>

/* no core has more bytes of notes: 60,000 threads with 16 KB each */
static const uint64_t max_notes = (uint64_t)1 << 30;

enum { MAX_HEADERS = 2 * MAX_MAPPINGS };	/* maximum number of program
						   headers */

#define NITEMS(v)	(sizeof(v) / sizeof *(v))

/*
 * Set errstr to say that an ELF file of the given type (e_type) is not a core.
 * Return -1.
 */
static int
no_core(unsigned int type)
{
	static const char *const word[] = {
		[ET_REL] = "a relocatable file",
		[ET_EXEC] = "an executable",
		[ET_DYN] = "an executable or a library",
	};

	return errstr_set("an ELF file, but not a core: %s", type < NITEMS(word)
	    && word[type] != NULL ? word[type] : "of a type without a name");
}

/*
 * Open descriptor fd as an ELF file, read its header into *h, and check that it
 * is a core of a known machine.
 */
static int
open_elf(struct elfcore *c, int fd, GElf_Ehdr *h)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return errstr_set("libelf is too old");
	if (elf_sections(fd) == -1)
		return -1;
	if ((c->elf = elf_begin(fd, ELF_C_READ, NULL)) == NULL ||
	    elf_kind(c->elf) != ELF_K_ELF || gelf_getehdr(c->elf, h) == NULL)
		return errstr_set("not a valid ELF file: %s", elf_errmsg(-1));
	if (h->e_type != ET_CORE)
		return no_core(h->e_type);
	return (c->mach = coremach_find(h)) == NULL ? -1 : 0;
}

/*
 * Add the PT_LOAD header ph to c->load, unless the segment is empty.
 */
static int
add_load(struct elfcore *c, const GElf_Phdr *ph)
{
	struct coreseg *l;
	uint64_t end;

	if (VEC_ROOM(c->load, c->nload) == -1)
		return -1;
	l = &c->load[c->nload];
	memset(l, 0, sizeof *l);
	l->addr = ph->p_vaddr;
	l->len = ph->p_memsz > ph->p_filesz ? ph->p_memsz : ph->p_filesz;
	l->off = ph->p_offset;
	l->claim = ph->p_filesz;
	l->flags = ph->p_flags;
	if (l->len == 0)
		return 0;
	if (__builtin_add_overflow(l->addr, l->len, &end) ||
	    __builtin_add_overflow(l->off, l->claim, &end))
		return errstr_set("the segment at %jx ends beyond 2^64",
		    (uintmax_t)l->addr);
	l->there = l->off >= c->size ? 0 : c->size - l->off;
	if (l->there > l->claim)
		l->there = l->claim;
	c->ncut += l->there < l->claim;
	c->nload++;
	return 0;
}

/*
 * Add register set n to thread t, unless the thread already has a set of that
 * type.
 */
static void
add_set(struct corethread *t, const struct corenote *n)
{
	if (t->nset < CORE_SETS &&
	    SEEK(t->set, t->nset, x->type == n->type) == NULL)
		t->set[t->nset++] = *n;
}

/*
 * Add note n, whose owner is CORE or LINUX, to c. Notes after an NT_PRSTATUS
 * belong to the thread of that note. If a note about the whole process occurs
 * twice, use the first.
 */
static int
add_note(struct elfcore *c, const struct corenote *n)
{
	struct corethread *t;

	t = c->nthread == 0 ? NULL : &c->thread[c->nthread - 1];
	switch (n->type) {
	case NT_PRSTATUS:
		if (n->len < prstatus_size(c->mach))
			return errstr_set("NT_PRSTATUS: found %zu bytes, "
			    "expected at least %zu for %s", n->len,
			    prstatus_size(c->mach), c->mach->name);
		return VEC_ADD(c->thread, c->nthread, (struct corethread){
		    .status = n->data });
	case NT_PRPSINFO:
		/* size of struct elf_prpsinfo: facts.c */
		if (c->psinfo == NULL && n->len >= 3 * (size_t)c->mach->word +
		    112)
			c->psinfo = n->data;
		return 0;
	case NT_AUXV:
		if (c->auxv.data == NULL)
			c->auxv = *n;
		return 0;
	case NT_FILE:
		if (c->files.data == NULL)
			c->files = *n;
		return 0;
	case NT_SIGINFO:
		if (t != NULL && t->siginfo == NULL && n->len == 128)
			t->siginfo = n->data;
		return 0;
	case NT_TASKSTRUCT:
		return 0;
	default:
		if (t != NULL)
			add_set(t, n);
		return 0;
	}
}

static bool
owner_is(const char *name, size_t len, const char *want)
{
	size_t n;

	n = strlen(want);
	return (len == n || (len == n + 1 && name[n] == '\0')) &&
	    memcmp(name, want, n) == 0;
}

/*
 * Read all complete notes of ph, a PT_NOTE program header.
 */
static int
read_notes(struct elfcore *c, const GElf_Phdr *ph)
{
	struct corenote n;
	const char *name;
	GElf_Nhdr nh;
	Elf_Data *d;
	uint64_t len;
	size_t off, next, noff, doff;

	len = ph->p_filesz;
	if (ph->p_offset >= c->size || len > c->size - ph->p_offset) {
		c->cutnotes = true;
		len = ph->p_offset >= c->size ? 0 : c->size - ph->p_offset;
	}
	if (len == 0)
		return 0;
	/* Count each byte once, because libelf keeps a copy of it. */
	c->notes += len;
	if (c->notes > c->size || c->notes > max_notes)
		return errstr_set("notes are too large: %ju bytes",
		    (uintmax_t)c->notes);
	d = elf_getdata_rawchunk(c->elf, (int64_t)ph->p_offset, (size_t)len,
	    ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	if (d == NULL)
		return errstr_set("notes at byte %ju: %s",
		    (uintmax_t)ph->p_offset, elf_errmsg(-1));
	for (off = 0; (next = gelf_getnote(d, off, &nh, &noff, &doff)) > 0;
	    off = next) {
		name = (const char *)d->d_buf + noff;
		n.type = nh.n_type;
		n.data = (const uint8_t *)d->d_buf + doff;
		n.len = nh.n_descsz;
		if ((owner_is(name, nh.n_namesz, "CORE") ||
		    owner_is(name, nh.n_namesz, "LINUX")) &&
		    add_note(c, &n) == -1)
			return errstr_wrap("note at byte %ju",
			    (uintmax_t)(ph->p_offset + off));
	}
	return 0;
}

CMP(load_cmp, struct coreseg, addr)

/*
 * Sort the segments of c by address. Return 0, or -1 with errstr set, for
 * example if two segments overlap.
 */
int
elfcore_sort(struct elfcore *c)
{
	const struct coreseg *l;
	size_t i;

	SORT(c->load, c->nload, load_cmp);
	for (i = 1; i < c->nload; i++) {
		l = &c->load[i - 1];
		if (c->load[i].addr - l->addr < l->len)
			return errstr_set("the segment at %jx overlaps the "
			    "one at %jx", (uintmax_t)c->load[i].addr,
			    (uintmax_t)l->addr);
	}
	return 0;
}

/*
 * Set *n to the number of program headers (see e_phnum and PN_XNUM in elf(5)).
 */
static int
count_headers(struct elfcore *c, const GElf_Ehdr *h, size_t *n)
{
	size_t size;

	size = gelf_fsize(c->elf, ELF_T_PHDR, 1, EV_CURRENT);
	if (h->e_phentsize != size)
		return errstr_set("each program header has %u bytes, "
		    "expected %zu", h->e_phentsize, size);
	if (elf_getphdrnum(c->elf, n) == -1 || *n == 0)
		return errstr_set("no program headers");
	if (h->e_phnum != PN_XNUM && *n < h->e_phnum)
		return errstr_set("truncated within its program headers");
	/* With PN_XNUM the number is in a section header at the end of the
	   core. */
	if (h->e_phnum == PN_XNUM && (h->e_shoff > c->size ||
	    c->size - h->e_shoff < gelf_fsize(c->elf, ELF_T_SHDR, 1,
	    EV_CURRENT)))
		return errstr_set("truncated: the number of its program "
		    "headers (65535 or more) is missing");
	/* libelf allocates memory for all of them, even in a hole. */
	return *n <= MAX_HEADERS ? 0 : errstr_set("too many program headers: "
	    "%zu", *n);
}

/*
 * Parse the core that is open as descriptor fd into c. The core has size bytes.
 * fd must stay open until elfcore_close(), which must be called even on
 * failure. Return 0, or -1 with errstr set.
 */
int
elfcore_open(struct elfcore *c, int fd, uint64_t size)
{
	GElf_Ehdr h;
	GElf_Phdr ph;
	size_t i, n;

	memset(c, 0, sizeof *c);
	c->size = size;
	if (open_elf(c, fd, &h) == -1 || count_headers(c, &h, &n) == -1)
		return -1;
	for (i = 0; i < n; i++) {
		if (gelf_getphdr(c->elf, (int)i, &ph) == NULL)
			return errstr_set("program header %zu: %s", i,
			    elf_errmsg(-1));
		if (ph.p_type == PT_LOAD && add_load(c, &ph) == -1)
			return -1;
		if (ph.p_type == PT_NOTE && read_notes(c, &ph) == -1)
			return -1;
	}
	if (c->nthread == 0)
		return errstr_set("%s", c->cutnotes ? "truncated within its "
		    "notes" : "no thread in it (NT_PRSTATUS): not a Linux "
		    "core");
	elfcore_identify(c);
	return elfcore_sort(c);
}

/*
 * Read up to n bytes at address addr into buf, all from one segment. Return the
 * number of bytes read, or 0 if the core has none at that address.
 */
size_t
elfcore_peek(const struct corereader *r, uint64_t addr, uint8_t *buf,
    size_t n)
{
	const struct elfcore *c = &r->core;
	const struct coreseg *l;
	ssize_t got;

	l = c->load + BISECT_WHILE(i, c->nload,
	    c->load[i].addr + c->load[i].len <= addr);
	if (l == c->load + c->nload || l->addr > addr ||
	    addr - l->addr >= l->there)
		return 0;
	if (n > l->there - (addr - l->addr))
		n = (size_t)(l->there - (addr - l->addr));
	got = pread(source_fd(r->src), buf, n,
	    (off_t)(l->off + (addr - l->addr)));
	return got < 0 ? 0 : (size_t)got;
}

/*
 * Free what elfcore_open() allocated in c.
 */
void
elfcore_close(struct elfcore *c)
{
	free(c->load);
	free(c->thread);
	elf_end(c->elf);
	memset(c, 0, sizeof *c);
}
