/*
 * The state of a process, from its Linux record or, for a process of Plan 9,
 * from its small files.
 */
#include "record.h"
#include "vec.h"

#include <pthread.h>

const char *const regset_file[REGSET_MAX] = {
	[REGSET_PRSTATUS] = "regset/prstatus",
	[REGSET_FPREGS] = "regset/fpregs",
	[REGSET_XSTATE] = "regset/xstate"
};

/*
 * Set the members of st that borrow from record r.
 */
static void
state_borrow(struct taskstate *st, const struct linuxrec *r)
{
	size_t i;

	(void)linuxrec_find(r, "siginfo", &st->siginfo);
	(void)linuxrec_find(r, "cmdline", &st->cmdline);
	(void)linuxrec_find(r, "auxv", &st->auxv);
	st->page = auxv_page(machine_named(st->cputype), st->auxv.data,
	    st->auxv.len);
	for (i = 0; i < REGSET_MAX; i++)
		(void)linuxrec_find(r, regset_file[i], &st->reg[i]);
}

/*
 * Set *v to the number in the file called name of record r. Set *v to 0 if the
 * file does not begin with a number. Return false if there is no such file.
 */
static bool
file_number(const struct linuxrec *r, const char *name, uint64_t *v)
{
	struct recfile f;
	struct scan t;

	if (!linuxrec_find(r, name, &f))
		return false;
	t = scan_begin(f.data, f.len);
	if (!scan_number(&t, 10, v))
		*v = 0;
	return true;
}

/*
 * Replace the process IDs in st with those that the process itself sees in its
 * PID namespace. Debuggers need these: they compare them with the process ID
 * that the C library keeps in memory. The kernel does the same in a core (see
 * fill_prstatus() in fs/binfmt_elf.c).
 */
static void
state_inside(struct taskstate *st, const struct linuxrec *r,
    const struct recfile *status)
{
	if (status_inner(status->data, status->len, "NSpid", &st->pid) > 1 &&
	    !file_number(r, "nsppid", &st->ppid))
		st->ppid = 0;
	(void)status_inner(status->data, status->len, "NSpgid", &st->pgrp);
	(void)status_inner(status->data, status->len, "NSsid", &st->session);
}

/*
 * Return the signal set in the 8 bytes at p, from a process of machine m. The
 * set is the kernel's sigset_t: words in the byte order of the machine, the
 * word with the lowest signals first.
 */
static uint64_t
state_signals(const struct machine *m, const uint8_t *p)
{
	if (m->word == 8)
		return machine_get(m, p, 8);
	return machine_get(m, p, 4) | machine_get(m, p + 4, 4) << 32;
}

/*
 * Set the members of st that are in the files status and sigmask of the record.
 * Prefer the signal mask in sigmask: SigBlk in status may be the temporary mask
 * of a waiting system call.
 */
static void
state_status(struct taskstate *st, const struct linuxrec *r)
{
	struct recfile f, mask;
	uint64_t umask;

	if (linuxrec_find(r, "status", &f)) {
		if ((st->has_umask = status_list(f.data, f.len, "Umask", 8,
		    &umask, 1) > 0))
			st->umask = (unsigned int)umask;
		st->tgid = status_first(f.data, f.len, "Tgid", 10);
		st->tracer = status_first(f.data, f.len, "TracerPid", 10);
		(void)status_list(f.data, f.len, "Uid", 10, st->uid, 4);
		(void)status_list(f.data, f.len, "Gid", 10, st->gid, 4);
		st->pending = status_first(f.data, f.len, "SigPnd", 16);
		st->blocked = status_first(f.data, f.len, "SigBlk", 16);
	}
	if (linuxrec_find(r, "sigmask", &mask) && mask.len == 8)
		st->blocked = state_signals(machine_named(st->cputype),
		    mask.data);
}

/*
 * Set the members of st that are in the small files of Plan 9 (see Plan 9's
 * proc(3)).
 */
static void
state_plan9(struct taskstate *st, const struct proc *p)
{
	enum { STATE = 56 };
	const struct file *f;
	struct scan t;

	if ((f = proc_file(p, "status")) != NULL && f->len > STATE + 5 &&
	    memcmp(f->data + STATE, "Runni", 5) == 0)
		st->stat.state = 'R';
	if ((f = proc_file(p, "noteid")) != NULL) {
		t = scan_begin(f->data, f->len);
		(void)scan_number(&t, 10, &st->stat.v[STAT_PGRP]);
	}
}

/*
 * Set the name of the program. It is in comm or, if that is missing, the first
 * word of Plan 9's status.
 */
static void
state_name(struct taskstate *st, const struct proc *p,
    const struct linuxrec *r)
{
	enum { COMM = 16 };	/* TASK_COMM_LEN of linux/sched.h */
	const struct file *f;
	struct recfile comm;
	size_t n;

	if (linuxrec_find(r, "comm", &comm)) {
		/* the name itself may have newlines */
		if (comm.len > 0 && comm.data[comm.len - 1] == '\n')
			comm.len--;
		for (n = 0; n < comm.len && n < COMM && comm.data[n] != '\0';
		    n++)
			st->name[n] = (char)comm.data[n];
		return;
	}
	f = proc_file(p, "status");
	for (n = 0; f != NULL && n < f->len && n + 1 < sizeof st->name &&
	    f->data[n] > ' '; n++)
		st->name[n] = (char)f->data[n];
}

static void
state_set(struct taskstate *st, const struct proc *p,
    const struct linuxrec *r)
{
	struct recfile f;
	uint64_t cursig;
	int last;

	memset(st, 0, sizeof *st);
	(void)linuxrec_cputype(proc_file(p, "proc"), st->cputype,
	    sizeof st->cputype);
	(void)linuxrec_find(r, "stat", &f);
	last = stat_parse(&st->stat, f.data, f.len);
	if (st->stat.state == '\0')
		st->stat.state = 'S';
	if (last == 0) {
		st->stat.v[STAT_PID] = p->pid;
		state_plan9(st, p);
	}
	st->pid = st->stat.v[STAT_PID];
	st->ppid = st->stat.v[STAT_PPID];
	st->pgrp = st->stat.v[STAT_PGRP];
	st->session = st->stat.v[STAT_SESSION];
	(void)linuxrec_find(r, "status", &f);
	if (last > 0)
		state_inside(st, r, &f);
	state_status(st, r);
	state_name(st, p, r);
	if ((st->has_cursig = file_number(r, "cursig", &cursig)))
		st->cursig = (unsigned int)cursig;
	state_borrow(st, r);
}

/*
 * Return the state of p, a process or thread, from its record. p owns the
 * state, which is valid until a file of p changes. Several threads may call
 * this for the same p at the same time: snapfs may read the cores of two
 * processes, each of which needs the page size of all processes. Return NULL
 * with errstr set if the record is damaged.
 */
const struct taskstate *
state_get(struct proc *p)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct linuxrec r;

	pthread_mutex_lock(&lock);
	if (p->state == NULL) {
		if (linuxrec_open(&r, proc_file(p, "proc")) == 0 &&
		    (p->state = mem_new(1, sizeof *p->state)) != NULL)
			state_set(p->state, p, &r);
		linuxrec_close(&r);
	}
	pthread_mutex_unlock(&lock);
	return p->state;
}

/*
 * Return the page size in bytes of the machine of p, a process of s or an
 * embedded file. It comes from the auxiliary vector of p, or of another process
 * of the same machine type. If no undamaged record has one, return the smallest
 * page size of that type.
 */
uint64_t
snap_page(struct snap *s, struct proc *p)
{
	const struct taskstate *st, *first;
	size_t i;

	st = first = state_get(p);
	if (st != NULL && st->page != 0)
		return st->page;
	for (i = 0; i < s->nproc; i++) {
		if (s->proc[i]->embedded != NULL ||
		    (st = state_get(s->proc[i])) == NULL)
			continue;
		if (first == NULL || *first->cputype == '\0')
			first = st;
		if (st->page != 0 && strcmp(st->cputype, first->cputype) == 0)
			return st->page;
	}
	return machine_page(machine_named(first == NULL ? "" :
	    first->cputype), 0);
}

/*
 * Give process p a copy of the state st, which the reader of p has filled in. p
 * must already have its record: members of the copy that point into the record
 * are set here. Return 0, or -1 with errstr set.
 */
int
state_give(struct proc *p, const struct taskstate *st)
{
	struct linuxrec r;
	int rc;

	if ((rc = linuxrec_open(&r, proc_file(p, "proc"))) == 0) {
		free(p->state);
		if ((p->state = mem_new(1, sizeof *p->state)) == NULL)
			rc = -1;
		else {
			*p->state = *st;
			state_borrow(p->state, &r);
		}
	}
	linuxrec_close(&r);
	return rc;
}
