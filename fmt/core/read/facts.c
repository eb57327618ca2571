/*
 * Read the facts about threads in the notes of a core.
 *
 *	struct elf_prstatus	w: bytes of a long, 4 or 8
 *		0	si_signo, si_code, si_errno, cursig (2 bytes)
 *		16	sigpend, sighold			w each
 *		16+2w	pid, ppid, pgrp, sid			4 each
 *		32+2w	utime, stime, cutime, cstime		2w each
 *		32+10w	general registers, fpvalid
 *
 *	struct elf_prpsinfo
 *		0	state, sname, zomb, nice		1 each
 *		w	flag					w
 *		2w	uid, gid				w/2 each
 *		3w	pid, ppid, pgrp, sid			4 each
 *		3w+16	fname[16], psargs[80]
 *
 * (linux/elfcore.h)
 */
#include "read.h"
#include "bisect.h"

#include <elf.h>

/*
 * Return the byte offset of the registers in an NT_PRSTATUS note for machine m
 * (struct elf_prstatus of linux/elfcore.h).
 */
size_t
prstatus_regs(const struct machine *m)
{
	return 32 + 10 * (size_t)m->word;
}

/*
 * Return the minimum size in bytes of an NT_PRSTATUS note for machine m.
 */
size_t
prstatus_size(const struct machine *m)
{
	return prstatus_regs(m) + m->regs + 4;
}

static int
get_int(const uint8_t *p)
{
	return (int)(int32_t)num_get(p, 4);
}

/*
 * Return the thread ID of thread t in core c.
 */
int
corethread_pid(const struct elfcore *c, const struct corethread *t)
{
	return get_int(t->status + 16 + 2 * c->mach->word);
}

/*
 * Return the value of the auxiliary vector entry of the given type (see
 * getauxval(3)). Return 0 if c has no such entry.
 */
uint64_t
elfcore_auxv(const struct elfcore *c, uint64_t type)
{
	return auxv_get(c->mach, c->auxv.data, c->auxv.len, c->mach->word,
	    type);
}

/*
 * Set the PID, UID and GID of c from the NT_PRPSINFO note. If the core lacks
 * that note, take the PID from the first thread, and the UID and GID from the
 * auxiliary vector (see getauxval(3)).
 */
void
elfcore_identify(struct elfcore *c)
{
	const size_t w = c->mach->word;
	const uint8_t *p = c->psinfo;

	c->pid = p != NULL ? get_int(p + 3 * w) :
	    corethread_pid(c, &c->thread[0]);
	c->uid = (unsigned int)(p != NULL ? num_get(p + 2 * w, w / 2) :
	    elfcore_auxv(c, AT_UID));
	c->gid = (unsigned int)(p != NULL ? num_get(p + 2 * w + w / 2, w / 2) :
	    elfcore_auxv(c, AT_GID));
}

/*
 * Return the first thread of the process, or NULL if that thread had ended.
 */
const struct corethread *
core_leader(const struct elfcore *c)
{
	return SEEK(c->thread, c->nthread, corethread_pid(c, x) == c->pid);
}

/*
 * Read the struct timeval at p, which consists of two numbers of w bytes each.
 * Return its value in milliseconds.
 */
static uint64_t
get_time(const uint8_t *p, size_t w)
{
	return num_get(p, w) % (UINT64_MAX / 2000) * 1000 +
	    num_get(p + w, w) / 1000;
}

/*
 * Store in *f the facts that the NT_PRSTATUS note gives about thread f->th.
 */
static void
thread_facts(const struct elfcore *c, struct facts *f)
{
	const uint8_t *p = f->th->status;
	struct taskstate *st = &f->st;
	struct task *t = &f->task;
	size_t w = c->mach->word;

	st->has_cursig = true;
	st->cursig = (unsigned int)num_get(p + 12, 2);
	st->pending = num_get(p + 16, w);
	st->blocked = num_get(p + 16 + w, w);
	t->tid = get_int(p + 16 + 2 * w);
	t->ppid = get_int(p + 20 + 2 * w);
	t->pgrp = get_int(p + 24 + 2 * w);
	st->stat.v[STAT_SESSION] = (uint64_t)get_int(p + 28 + 2 * w);
	t->utime = get_time(p + 32 + 2 * w, w);
	t->stime = get_time(p + 32 + 4 * w, w);
	t->cutime = get_time(p + 32 + 6 * w, w);
	t->cstime = get_time(p + 32 + 8 * w, w);
	p += prstatus_regs(c->mach);
	st->stat.v[STAT_PC] = num_get(p + c->mach->pc, w);
	st->stat.v[STAT_SP] = num_get(p + c->mach->sp, w);
}

/*
 * Return the state letter of the thread that f describes. leads is true if that
 * thread is the first of its process. A core records only the first thread's
 * state, in NT_PRPSINFO; for other threads the letter is a guess.
 */
static char
state_letter(const struct elfcore *c, const struct facts *f, bool leads)
{
	static const char known[] = "RSDTtZXIPW";

	if (f->th == NULL)
		return 'Z';
	if (leads && c->psinfo != NULL && c->psinfo[1] != '\0' &&
	    strchr(known, c->psinfo[1]) != NULL)
		return (char)c->psinfo[1];
	return f->th == &c->thread[0] ? 'R' : 'S';
}

/*
 * Set *f to everything that r knows about thread th. leads is true if th is the
 * first thread of its process. th may be NULL: *f then describes a process
 * whose first thread had already ended.
 */
void
corefacts_find(const struct corereader *r, const struct corethread *th,
    bool leads, struct facts *f)
{
	const struct elfcore *c = &r->core;
	const uint8_t *ps = c->psinfo;
	struct task *t = &f->task;
	size_t i, w = c->mach->word;

	memset(f, 0, sizeof *f);
	f->th = th;
	t->pid = c->pid;
	if (th != NULL)
		thread_facts(c, f);
	else {
		t->tid = t->pid;
		t->ppid = get_int(ps + 3 * w + 4);
		t->pgrp = get_int(ps + 3 * w + 8);
		f->st.stat.v[STAT_SESSION] = (uint64_t)get_int(ps + 3 * w +
		    12);
	}
	t->state = state_letter(c, f, leads);
	if (ps != NULL || c->auxv.data != NULL)
		snprintf(t->user, sizeof t->user, "%u", c->uid);
	else
		strlcpy(t->user, "-", sizeof t->user);
	if (ps == NULL)
		return;
	t->nice = (int8_t)ps[3];
	for (i = 0; i < 16 && ps[3 * w + 16 + i] != '\0'; i++) {
		t->comm[i] = (char)ps[3 * w + 16 + i];
		if ((uint8_t)t->comm[i] < ' ')
			t->comm[i] = '?';
	}
}

/*
 * Pass a warning, formatted as by printf(3) and prefixed with the core's name,
 * to r->opts->warn, unless that is NULL.
 */
void
core_warn(struct corereader *r, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	if (r->opts->warn == NULL)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		return;
	warn_tell(r->opts->warn, r->opts->arg, "%s: %s", r->name, text);
	free(text);
}
