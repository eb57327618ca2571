/*
 * Write the notes of an ELF core (core(5)) as the kernel does, in its order
 * (fs/binfmt_elf.c, include/linux/elfcore.h).
 *
 *	first thread	PRSTATUS PRPSINFO SIGINFO AUXV FILE FPREGSET XSTATE
 *	the others	PRSTATUS FPREGSET XSTATE
 *
 * SIGINFO is left out if there was no signal: lldb 21 waits forever for a
 * process with signal 0 to stop.
 */
#include "write.h"
#include "digits.h"
#include "record/record.h"

#include <elf.h>

enum { USER_HZ = 100, SET_FIRST = 0x100, SET_END = 0x1000 };

static void
note_add(struct buf *b, const char *name, uint32_t type, const void *data,
    size_t len)
{
	static const uint8_t zero[4];
	size_t n;

	n = strlen(name) + 1;
	num_add(b, n, 4);
	num_add(b, len, 4);
	num_add(b, type, 4);
	buf_add(b, name, n);
	buf_add(b, zero, -n % 4);
	buf_add(b, data, len);
	buf_add(b, zero, -len % 4);
}

/*
 * Store pr_pid, pr_ppid, pr_pgrp and pr_sid at s.
 */
static void
pids_put(uint8_t *s, const struct taskstate *st, uint64_t ppid)
{
	num_put(s, st->pid, 4);
	num_put(s + 4, ppid, 4);
	num_put(s + 8, st->pgrp, 4);
	num_put(s + 12, st->session, 4);
}

/*
 * Append the NT_PRSTATUS note of a thread; for its layout see
 * core/read/facts.c. sig is the siginfo of the signal that the thread or its
 * process received, or NULL. ppid is the ID of the process's parent, which is
 * the same for all threads.
 */
static void
prstatus_add(struct buf *b, const struct machine *a,
    const struct taskstate *st, const struct coreregs *regs,
    const uint8_t *sig, uint64_t ppid)
{
	uint8_t s[512] = { 0 }, *t;
	size_t i, w = a->word;
	uint64_t time;

	if (sig != NULL) {
		num_put(s, num_get(sig, 4), 4);		/* si_signo */
		num_put(s + 12, num_get(sig, 4), 2);	/* pr_cursig */
	}
	/* signal in the core from which the snapshot was made */
	if (st->has_cursig) {
		num_put(s, st->cursig, 4);
		num_put(s + 12, st->cursig, 2);
	}
	num_put(s + 16, st->pending, w);
	num_put(s + 16 + w, st->blocked, w);
	pids_put(s + 16 + 2 * w, st, ppid);
	t = s + 32 + 2 * w;
	for (i = 0; i < 4; i++, t += 2 * w) {
		time = st->stat.v[STAT_UTIME + i];
		num_put(t, time / USER_HZ, w);
		num_put(t + w, time % USER_HZ * (1000000 / USER_HZ), w);
	}
	memcpy(t, regs->gp, regs->ngp);
	t += regs->ngp;
	num_put(t, regs->nfp > 0, 4);			/* pr_fpvalid */
	t += 4;
	note_add(b, "CORE", NT_PRSTATUS, s, ((size_t)(t - s) + w - 1) / w * w);
}

/*
 * Store the name and the arguments of a process in the format of NT_PRPSINFO.
 */
static void
names_put(const struct taskstate *st, uint8_t *fname, uint8_t *psargs)
{
	enum { FNAME = 16, PSARGS = 80 };
	const struct recfile *args = &st->cmdline;
	size_t i, n;

	n = strlen(st->name);
	memcpy(fname, st->name, n < FNAME ? n : FNAME - 1);
	if (args->data == NULL) {
		memcpy(psargs, st->name, n);
		return;
	}
	for (i = 0; i < args->len && i < PSARGS - 1; i++)
		psargs[i] = args->data[i] == '\0' ? ' ' : args->data[i];
}

/*
 * Append the NT_PRPSINFO note, built as the kernel's fill_psinfo() does.
 */
static void
prpsinfo_add(struct buf *b, const struct machine *a,
    const struct taskstate *st)
{
	static const char letters[] = "RSDTZW";
	size_t w = a->word;
	uint8_t s[256] = { 0 };
	const char *c;
	char state;

	state = st->stat.state == 't' ? 'T' : st->stat.state;
	c = strchr(letters, state);
	s[0] = c == NULL ? 6 : (uint8_t)(c - letters);
	s[1] = (uint8_t)(c == NULL ? '.' : state);
	s[2] = state == 'Z';
	s[3] = (uint8_t)st->stat.v[STAT_NICE];
	num_put(s + w, st->stat.v[STAT_FLAGS], w);
	num_put(s + 2 * w, st->uid[0], w / 2);
	num_put(s + 2 * w + w / 2, st->gid[0], w / 2);
	pids_put(s + 3 * w, st, st->ppid);
	names_put(st, s + 3 * w + 16, s + 3 * w + 32);
	note_add(b, "CORE", NT_PRPSINFO, s, 3 * w + 112);
}

static bool
is_file(const struct vma *v)
{
	return v->name[0] == '/' ||
	    ((v->dev != 0 || v->ino != 0) && v->name[0] != '[');
}

/*
 * Append the file name s and a NUL to b. s is from /proc/PID/maps: replace each
 * "\012" in it with a newline (see proc_pid_maps(5)).
 */
static void
name_add(struct buf *b, const char *s)
{
	const char *nl;

	for (; (nl = strstr(s, "\\012")) != NULL; s = nl + 4) {
		buf_add(b, s, (size_t)(nl - s));
		buf_add(b, "\n", 1);
	}
	buf_add(b, s, strlen(s) + 1);
}

/*
 * Append the NT_FILE note, which lists the mapped files, their addresses, and
 * their offsets in pages.
 */
static int
files_add(struct buf *b, const struct corethreads *t, const struct vmas *v)
{
	const struct machine *a = t->arch;
	struct buf s = { 0 };
	size_t i, n;
	int rc;

	for (n = i = 0; i < v->n; i++)
		n += is_file(&v->v[i]);
	if (n == 0)
		return 0;
	num_add(&s, n, a->word);
	num_add(&s, t->page, a->word);
	for (i = 0; i < v->n; i++)
		if (is_file(&v->v[i])) {
			num_add(&s, v->v[i].start, a->word);
			num_add(&s, v->v[i].end, a->word);
			num_add(&s, v->v[i].off / t->page, a->word);
		}
	for (i = 0; i < v->n; i++)
		if (is_file(&v->v[i]))
			name_add(&s, v->v[i].name);
	rc = buf_check(&s);
	if (rc == 0 && s.len > UINT32_MAX)
		rc = errstr_set("the file names take too many bytes: %zu",
		    s.len);
	if (rc == 0)
		note_add(b, "CORE", NT_FILE, s.data, s.len);
	buf_free(&s);
	return rc;
}

/*
 * Append the notes about the whole process. lead is the state of the first
 * thread.
 */
static int
process_add(struct buf *b, const struct corethreads *t,
    const struct taskstate *lead, const struct vmas *v, const uint8_t *sig)
{
	prpsinfo_add(b, t->arch, lead);
	if (sig != NULL)
		note_add(b, "CORE", NT_SIGINFO, sig, SIGINFO);
	if (lead->auxv.len > 0)
		note_add(b, "CORE", NT_AUXV, lead->auxv.data, lead->auxv.len);
	return files_add(b, t, v);
}

/*
 * Return the note type of f, a file of a record. A file called regset/HEX has
 * note type HEX (see snap(6)). Return 0 for other names, and for numbers that
 * linux/elf.h does not use for register sets. Also return 0 for a number with a
 * leading zero, so that each type has one name.
 */
static uint32_t
set_type(const struct recfile *f)
{
	static const char prefix[] = "regset/";
	enum { PREFIX = sizeof prefix - 1 };
	const char *name = (const char *)f->name;
	uint64_t type;

	if (f->namelen <= PREFIX || memcmp(name, prefix, PREFIX) != 0 ||
	    name[PREFIX] == '0' ||
	    !digits_number(name + PREFIX, f->namelen - PREFIX, 16, &type) ||
	    ((type < SET_FIRST || type >= SET_END) && type != NT_PRXFPREG))
		return 0;
	return (uint32_t)type;
}

/*
 * Append the machine-specific register sets in the record of thread p. On arm64
 * these are thread-local storage, SVE, pointer authentication and so on. Skip
 * the sets in regs, which are already appended.
 */
static int
sets_add(struct buf *b, struct proc *p, const struct coreregs *regs)
{
	struct linuxrec r;
	struct recfile f;
	uint32_t type;
	size_t i;

	if (linuxrec_open(&r, proc_file(p, "proc")) == -1) {
		linuxrec_close(&r);
		return -1;
	}
	for (i = 0; i < r.n; i++) {
		linuxrec_get(&r, i, &f);
		if ((type = set_type(&f)) == 0 || f.len > UINT32_MAX ||
		    (type == NT_X86_XSTATE && regs->nx > 0) ||
		    (type == NT_PRXFPREG && regs->nxfp > 0))
			continue;
		note_add(b, "LINUX", type, f.data, f.len);
	}
	linuxrec_close(&r);
	return 0;
}

/*
 * Append the core notes of process p to b. t has its threads, as set by
 * corethreads_find(), and v its mappings. Return 0, or -1 with errstr set.
 */
int
corenote_add(struct buf *b, const struct corethreads *t, struct proc *p,
    const struct vmas *v)
{
	const struct taskstate *st, *lead, *first;
	const uint8_t *sig, *own;
	struct coreregs regs;
	size_t i;

	if ((lead = state_get(p)) == NULL ||
	    (first = state_get(t->p[0])) == NULL)
		return -1;
	sig = state_signal(first);
	for (i = 0; i < t->n; i++) {
		if ((st = state_get(t->p[i])) == NULL)
			return -1;
		(void)corearch_regs(t->arch, t->p[i], st, &regs);
		own = state_signal(st);
		prstatus_add(b, t->arch, st, &regs, own != NULL ? own : sig,
		    lead->ppid);
		if (i == 0 && process_add(b, t, lead, v, sig) == -1)
			return -1;
		if (regs.nfp > 0)
			note_add(b, "CORE", NT_PRFPREG, regs.fp, regs.nfp);
		if (regs.nxfp > 0)
			note_add(b, "LINUX", NT_PRXFPREG, regs.xfp,
			    regs.nxfp);
		if (regs.nx > 0)
			note_add(b, "LINUX", NT_X86_XSTATE, regs.x, regs.nx);
		if (sets_add(b, t->p[i], &regs) == -1)
			return -1;
	}
	return buf_check(b);
}
