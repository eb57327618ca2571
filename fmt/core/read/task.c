/*
 * Write the threads of a core as Plan 9's small files and as files of the Linux
 * record, so that they look like those of a live process that was captured.
 */
#include "elf/elf.h"
#include "read.h"
#include "record/record.h"

#include <elf.h>

/*
 * Add the registers and signals of the thread that f describes to rec. The
 * first thread in a core is the one that caused the dump. If the core has no
 * NT_SIGINFO for that thread, add a siginfo with only its signal number.
 */
static void
core_regs(struct filelist *rec, const struct elfcore *c,
    const struct facts *f)
{
	const struct corethread *th = f->th;
	uint8_t info[128] = { 0 };
	char name[32];
	size_t i;

	filelist_copy(rec, "regset/prstatus", th->status +
	    prstatus_regs(c->mach), c->mach->regs);
	for (i = 0; i < th->nset; i++) {
		if (th->set[i].type == NT_PRFPREG)
			strlcpy(name, "regset/fpregs", sizeof name);
		else if (th->set[i].type == NT_X86_XSTATE)
			strlcpy(name, "regset/xstate", sizeof name);
		else
			snprintf(name, sizeof name, "regset/%" PRIx32,
			    th->set[i].type);
		filelist_copy(rec, name, th->set[i].data, th->set[i].len);
	}
	filelist_text(rec, "cursig", "%u\n", f->st.cursig);
	info[0] = (uint8_t)f->st.cursig;
	if (th->siginfo != NULL)
		filelist_copy(rec, "siginfo", th->siginfo, sizeof info);
	else if (th == c->thread && f->st.cursig != 0)
		filelist_copy(rec, "siginfo", info, sizeof info);
	filelist_nums(rec, "sigmask", &f->st.blocked, 1);
}

/*
 * Add the command line from NT_PRPSINFO to rec. That note has blanks in place
 * of the NULs between arguments.
 */
static void
core_cmdline(struct filelist *rec, const struct elfcore *c)
{
	const char *args;
	char text[81] = "";
	size_t i, n;

	args = (const char *)c->psinfo + 3 * c->mach->word + 32;
	for (n = 0; n < 80 && args[n] != '\0'; n++)
		text[n] = args[n];
	while (n > 0 && text[n - 1] == ' ')
		n--;
	for (i = 0; i < n; i++)
		if (text[i] == ' ')
			text[i] = '\0';
	text[n] = '\0';
	filelist_copy(rec, "cmdline", text, n == 0 ? 0 : n + 1);
}

/*
 * Add to rec the files that a process has but a thread does not.
 */
static void
core_proc(struct filelist *rec, const struct corereader *r)
{
	const struct elfcore *c = &r->core;
	const char *exe = r->exe != NULL ? r->exe : r->opts->exe;

	if (c->psinfo != NULL)
		core_cmdline(rec, c);
	if (c->auxv.data != NULL)
		filelist_copy(rec, "auxv", c->auxv.data, c->auxv.len);
	record_maps(rec, &r->vma);
	if (exe != NULL)
		filelist_copy(rec, "exe", exe, strlen(exe));
}

/*
 * Store in *st the facts that all threads of the process share.
 */
static void
core_state(const struct corereader *r, struct taskstate *st)
{
	const struct elfcore *c = &r->core;
	uint64_t *v = st->stat.v;
	int i;

	strlcpy(st->cputype, c->mach->name, sizeof st->cputype);
	v[STAT_FLAGS] = c->psinfo == NULL ? 0 : num_get(c->psinfo +
	    c->mach->word, c->mach->word) & UINT32_MAX;
	v[STAT_THREADS] = r->nthread;
	v[STAT_VSIZE] = r->vmbytes;
	v[STAT_RSS] = r->membytes / r->page;
	v[STAT_STARTSTACK] = r->stack;
	for (i = 0; i < 4; i++) {
		st->uid[i] = c->uid;
		st->gid[i] = c->gid;
	}
}

/*
 * Create the small files and the Linux record of p, which is a process or a
 * thread.
 */
static int
make_files(const struct corereader *r, struct proc *p, struct facts *f)
{
	struct task *t = &f->task;
	struct filelist rec = { 0 };
	int rc;

	core_state(r, &f->st);
	record_state(&rec, p, t, &f->st);
	if (f->th != NULL)
		core_regs(&rec, &r->core, f);
	if (p == r->proc)
		core_proc(&rec, r);
	t->vma = p == r->proc ? r->vma : (struct vmas){ 0 };
	t->memkb = r->membytes / KB;
	rc = record_pack(&rec, p, &f->st, t);
	filelist_free(&rec);
	return rc;
}

/*
 * Add a process or thread with ID pid to the snapshot. Use a different ID if
 * pid is taken or not positive.
 */
static struct proc *
add_proc(struct corereader *r, int pid)
{
	if (pid > 0 && snap_find(r->snap, (uint64_t)pid) == NULL)
		return snap_add(r->snap, (uint64_t)pid);
	if (r->spare == 0)
		r->spare = PID_MAX_LIMIT + 1;
	while (snap_find(r->snap, r->spare) != NULL)
		r->spare++;
	return snap_add(r->snap, r->spare);
}

static int
add_threads(struct corereader *r, const struct corethread *leader)
{
	const struct elfcore *c = &r->core;
	struct facts f;
	struct proc *p;
	size_t i, moved;
	int pid;

	for (i = moved = 0; i < c->nthread; i++) {
		if (&c->thread[i] == leader)
			continue;
		pid = corethread_pid(c, &c->thread[i]);
		if ((p = add_proc(r, pid)) == NULL)
			return -1;
		moved += p->pid != (uint64_t)pid;
		p->leader = r->proc->pid;
		corefacts_find(r, &c->thread[i], false, &f);
		if (make_files(r, p, &f) == -1)
			return -1;
	}
	if (moved > 0)
		core_warn(r, "%zu threads get new IDs in the snapshot: their "
		    "own are already in use", moved);
	return 0;
}

/*
 * Add the process of r to the snapshot, without its memory, text and files.
 * Return 0, or -1 with errstr set.
 */
int
core_process(struct corereader *r)
{
	int pid = r->core.pid;

	if ((r->proc = add_proc(r, pid)) == NULL)
		return -1;
	if (r->proc->pid != (uint64_t)pid)
		core_warn(r, "process %d becomes %" PRIu64 " in the snapshot: "
		    "its ID is already in use", pid, r->proc->pid);
	return 0;
}

/*
 * Create the files of the process of r, and add its threads. The caller must
 * have called core_memory(). Return 0, or -1 with errstr set.
 */
int
core_tasks(struct corereader *r)
{
	const struct corethread *leader;
	struct facts f;
	size_t i;

	leader = core_leader(&r->core);
	r->nthread = r->core.nthread + (leader == NULL);
	for (i = 0; i < r->vma.n; i++)
		r->vmbytes += r->vma.v[i].end - r->vma.v[i].start;
	r->membytes = image_bytes(r->proc->mem);
	corefacts_find(r, leader, true, &f);
	if (make_files(r, r->proc, &f) == -1)
		return -1;
	return add_threads(r, leader);
}
