/*
 * Files of a Linux record, made of what another format tells, so that its
 * processes look like those that were taken live.
 */
#include "make.h"
#include "space.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Add a file, whose bytes are taken over.
 */
void
record_take(struct record *r, const char *name, struct buf *b)
{
	struct file *f;
	size_t cap;

	r->failed |= b->failed;
	if (r->n == r->cap) {
		cap = r->cap == 0 ? 32 : r->cap * 2;
		if ((f = reallocarray(r->file, cap, sizeof *f)) == NULL) {
			r->failed = true;
			buf_free(b);
			return;
		}
		r->file = f;
		r->cap = cap;
	}
	f = &r->file[r->n++];
	f->name = strdup(name);
	f->data = b->data;
	f->len = b->len;
	r->failed |= f->name == NULL;
	memset(b, 0, sizeof *b);
}

void
record_bytes(struct record *r, const char *name, const void *data, size_t n)
{
	struct buf b = { 0 };

	buf_add(&b, data, n);
	record_take(r, name, &b);
}

void
record_printf(struct record *r, const char *name, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) == -1)
		r->failed = true;
	else {
		buf_puts(&b, s);
		free(s);
		record_take(r, name, &b);
	}
	va_end(ap);
}

/*
 * stat: the 52 fields of proc_pid_stat(5), 0 where nothing is known.
 */
void
record_stat(struct record *r, const struct task *t,
    const struct procfacts *f)
{
	enum { TICK = 10, PAGE = 4096 };	/* milliseconds, bytes */
	struct buf b = { 0 };

	/* 1 to 13 */
	buf_printf(&b, "%d (%s) %c %d %d %d 0 -1 %u 0 0 0 0 ", t->tid,
	    t->comm, t->state, t->ppid, t->pgrp, f->sid, f->flags);
	/* 14 to 22 */
	buf_printf(&b, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %d %d %zu 0 0 ", t->utime / TICK, t->stime / TICK,
	    t->cutime / TICK, t->cstime / TICK, 20 + t->nice, t->nice,
	    f->nthread);
	/* 23 to 30; an rss without limit */
	buf_printf(&b, "%" PRIu64 " %" PRIu64 " %ju %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", f->vmbytes,
	    f->membytes / PAGE, (uintmax_t)UINT64_MAX, f->startcode,
	    f->endcode, f->startstack, f->sp, f->pc);
	/* 31 to 44 */
	buf_printf(&b, "%" PRIu64 " %" PRIu64 " 0 0 0 0 0 17 0 0 0 0 0 0 ",
	    f->pending, f->blocked);
	/* 45 to 52 */
	buf_printf(&b, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", f->startdata,
	    f->enddata, f->startbrk, f->argstart, f->argend, f->envstart,
	    f->envend, f->exitcode);
	record_take(r, "stat", &b);
}

/*
 * status, as much of proc_pid_status(5) as is known.
 */
void
record_status(struct record *r, const struct task *t,
    const struct procfacts *f)
{
	struct buf b = { 0 };

	buf_printf(&b, "Name:\t%s\n", t->comm);
	if (f->has_umask)
		buf_printf(&b, "Umask:\t%04o\n", f->umask);
	buf_printf(&b, "State:\t%c\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\n",
	    t->state, t->pid, t->tid, t->ppid);
	buf_printf(&b, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n",
	    f->uid[0], f->uid[1], f->uid[2], f->uid[3], f->gid[0], f->gid[1],
	    f->gid[2], f->gid[3]);
	buf_printf(&b, "Threads:\t%zu\nSigPnd:\t%016" PRIx64 "\nSigBlk:\t%016"
	    PRIx64 "\n", f->nthread, f->pending, f->blocked);
	record_take(r, "status", &b);
}

/*
 * maps, as proc_pid_maps(5) has it.
 */
void
record_maps(struct record *r, const struct vmas *l)
{
	enum { COLUMN = 73 };	/* of names: fs/proc/task_mmu.c */
	struct buf b = { 0 };
	const struct vma *v;
	char perm[5];
	const char *s;
	size_t i, at;

	for (i = 0; i < l->n; i++) {
		v = &l->v[i];
		at = b.len;
		vma_perms(v, perm);
		buf_printf(&b, "%08" PRIx64 "-%08" PRIx64 " %s %08" PRIx64
		    " %02x:%02x %" PRIu64 " ", v->start, v->end, perm, v->off,
		    major(v->dev), minor(v->dev), v->ino);
		while (*v->name != '\0' && b.len - at < COLUMN && !b.failed)
			buf_puts(&b, " ");
		for (s = v->name; *s != '\0'; s++)
			if (*s == '\n')
				buf_puts(&b, "\\012");
			else
				buf_add(&b, s, 1);
		buf_puts(&b, "\n");
	}
	record_take(r, "maps", &b);
}

/*
 * Give a process or thread the record, and the small files of Plan 9, made
 * of a task whose registers are those of the record.
 */
int
record_pack(struct record *r, struct proc *p, const char *cputype,
    struct task *t)
{
	static const struct {
		const char	*name;
		enum regset	 set;
	} sets[] = {
		{ "regset/prstatus", REGSET_PRSTATUS },
		{ "regset/fpregs", REGSET_FPREGS },
		{ "regset/xstate", REGSET_XSTATE },
	};
	size_t i, k;

	if (r->failed)
		return errstr_set("out of memory");
	for (i = 0; i < r->n; i++)
		for (k = 0; k < sizeof sets / sizeof *sets; k++)
			if (strcmp(r->file[i].name, sets[k].name) == 0) {
				t->reg[sets[k].set].data = r->file[i].data;
				t->reg[sets[k].set].len = r->file[i].len;
			}
	if (plan9_files(p, t) == -1)
		return -1;
	return linuxrec_pack(p, cputype, r->file, r->n);
}

void
record_free(struct record *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		free(r->file[i].name);
		free(r->file[i].data);
	}
	free(r->file);
	memset(r, 0, sizeof *r);
}
