/*
 * Find the Python frames of the threads of a process that runs CPython 3.11 to
 * 3.13, and the holder of the global interpreter lock.
 */
#include "python.h"
#include "bisect.h"

enum {
	INTERPRETERS = 256,	/* maximum number of interpreters */
	SPARE = 1024, /* maximum number of thread states, in addition to four
			 for each thread */
	MAX_COST = 4 * KB * KB, /* limit on reads from a process: 4 Mi
				   accesses, or 128 MiB */
	OWNED_BY_C = 3, /* a value of enum _frameowner in pycore_frame.h */
	GIL_LAST = 8, /* offset of last_holder in struct _gil_runtime_state */
	GIL_LOCKED = 16,
	GIL_SIZE = 256 /* size of the lock with its condition and mutex */
};

struct interpreter {
	uint64_t	 id;
	uint64_t	 gil;	/* address of the interpreter's lock, or 0 */
	uint64_t	 last;	/* address of the thread state that last held
				   the lock */
	bool		 locked; /* the interpreter's lock is still held */
	bool		 collects; /* the interpreter is collecting garbage */
};

struct search {			/* addresses of two symbols of CPython, or 0 */
	uint64_t	 runtime;
	uint64_t	 version;
};

/*
 * Return true if path is a Python interpreter or its library, rather than an
 * extension module.
 */
bool
python_is(const char *path)
{
	const char *base = path_base(path);

	if (strncmp(base, "libpython", 9) == 0)
		return true;
	return strncmp(base, "python", 6) == 0 && (base[6] == '\0' ||
	    base[6] == ' ' || (base[6] >= '0' && base[6] <= '9'));
}

/*
 * If module m is a Python interpreter or its library, look up the interpreter's
 * symbols in it. This is a libdwfl callback.
 */
static int
on_module(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr start,
    void *arg)
{
	struct search *f = arg;
	const char *s;
	GElf_Addr addr;
	GElf_Sym sym;
	int i, n;

	(void)user;
	(void)start;
	if (!python_is(name))
		return DWARF_CB_OK;
	n = dwfl_module_getsymtab(m);
	for (i = 1; i < n; i++) {
		s = dwfl_module_getsym_info(m, i, &sym, &addr, NULL, NULL,
		    NULL);
		if (s == NULL || sym.st_shndx == SHN_UNDEF)
			continue;
		if (strcmp(s, "_PyRuntime") == 0)
			f->runtime = addr;
		else if (strcmp(s, "Py_Version") == 0)
			f->version = addr;
	}
	return f->runtime != 0 ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/*
 * Look up the interpreter's symbols in memory and, if they are not there, in
 * files of the snapshot. If the process is live, do not read files: it is being
 * held stopped, and this program is not confined yet.
 */
static void
search(struct unwinder *u, struct search *f)
{
	struct target *t = u->target;
	const struct vma *v;
	size_t i;

	for (i = 0; i < t->vma.n && f->runtime == 0; i++) {
		v = &t->vma.v[i];
		if (v->name[0] != '/' || v->off != 0 || !python_is(v->name))
			continue;
		u->nolocals = "the state of Python was not found";
		if (dynsym_find(t, v->start, "_PyRuntime", &f->runtime))
			(void)dynsym_find(t, v->start, "Py_Version",
			    &f->version);
	}
	if (f->runtime == 0 && !t->live)
		(void)dwfl_getmodules(u->dwfl, on_module, f, 0);
}

/*
 * Add the Python frame at address addr to st. Return false if it has no code
 * object.
 */
static bool
frame_add(struct unwinder *u, struct stack *st, const struct pyoffsets *o,
    uint64_t addr)
{
	struct target *t = u->target;
	uint64_t code, instruction, entry;
	struct pyframe *f;

	if (!target_word(t, addr + o->frame_code, 8, &code) ||
	    !target_word(t, addr + o->frame_instruction, 8, &instruction) ||
	    POOL_ROOM(&t->pool, st->python, st->npython) == -1)
		return false;
	f = &st->python[st->npython];
	memset(f, 0, sizeof *f);
	if (!pycode_get(f, t, o, code, instruction))
		return false;
	st->npython++;
	if (u->locals)
		pylocals_get(f, t, o, addr, code);
	if (o->frame_entry != UINT64_MAX &&
	    target_word(t, addr + o->frame_entry, 1, &entry))
		f->entry = entry != 0;
	return true;
}

/*
 * Add the Python frames of a thread to st, beginning with the one at address
 * addr. Stop if the frames form a loop. Brent's algorithm detects a loop: it
 * remembers the last frame whose number is a power of two, and meets that frame
 * again.
 */
static void
frames_add(struct unwinder *u, struct stack *st, const struct pyoffsets *o,
    uint64_t addr)
{
	struct target *t = u->target;
	uint64_t owner, met;
	unsigned int n;

	for (n = 1, met = 0; addr != 0 && addr != met && n <= FRAMES_MAX &&
	    t->cost < MAX_COST; n++) {
		if (!target_word(t, addr + o->frame_owner, 1, &owner))
			return;
		if (owner == OWNED_BY_C && o->frame_entry == UINT64_MAX) {
			if (st->npython > 0)
				st->python[st->npython - 1].entry = true;
		} else if (!frame_add(u, st, o, addr))
			return;
		if ((n & (n - 1)) == 0)
			met = addr;
		if (!target_word(t, addr + o->frame_previous, 8, &addr))
			return;
	}
	if (st->npython > 0)
		st->python[st->npython - 1].entry = true;
}

/*
 * Find the innermost call of the interpreter in a thread. frame is the address
 * stored in the thread state. Return the call's address on the stack, or 0 if
 * it is not known.
 */
static uint64_t
call_find(struct target *t, const struct pyoffsets *o, uint64_t frame)
{
	uint64_t owner;
	unsigned int n;

	if (o->cframe_frame != UINT64_MAX)
		return frame;
	for (n = 0; n < FRAMES_MAX && frame != 0 && t->cost < MAX_COST; n++) {
		if (!target_word(t, frame + o->frame_owner, 1, &owner))
			break;
		if (owner == OWNED_BY_C)
			return frame;
		if (!target_word(t, frame + o->frame_previous, 8, &frame))
			break;
	}
	return 0;
}

/*
 * Return the thread that runs the code of a Python thread state. call is the
 * address of the interpreter's call on a stack. The result is the thread with
 * that stack, because threads other than the creator of the state may use it.
 * If there is no such thread, return the thread with ID tid, or NULL if there
 * is none.
 */
static struct stack *
stack_of(struct unwinder *u, uint64_t call, uint64_t tid)
{
	const struct stack *st = thread_find(u, u->inner, tid);
	const struct vma *v = vmas_find(&u->target->vma, call);
	const struct stack *best = NULL;
	uint64_t sp;
	size_t i;

	if (v != NULL && st != NULL && st->regs.sp >= v->start &&
	    st->regs.sp <= call)
		best = st;
	if (v != NULL && best == NULL && u->target->cost < MAX_COST) {
		u->target->cost += u->n;
		for (i = 0; i < u->n; i++) {
			sp = u->stack[i].regs.sp;
			if (u->stack[i].regs.n > 0 && sp >= v->start &&
			    sp <= call &&
			    (best == NULL || sp > best->regs.sp))
				best = &u->stack[i];
		}
	}
	if (best == NULL)
		best = st;
	return best == NULL ? NULL : &u->stack[best - u->stack];
}

/*
 * Insert the frames of src into st, before those of earlier calls. p has both.
 * Return false if memory ran out.
 */
static bool
frames_insert(struct pool *p, struct stack *st, const struct stack *src)
{
	const size_t size = sizeof *st->python;
	size_t at, i;

	for (i = 0; i < src->npython; i++)
		if (POOL_ROOM(p, st->python, st->npython + i) == -1)
			return false;
	for (at = 0; at < st->npython && st->python[at].call <
	    src->python->call;)
		at++;
	memmove(st->python + at + src->npython, st->python + at,
	    (st->npython - at) * size);
	memcpy(st->python + at, src->python, src->npython * size);
	st->npython += src->npython;
	return true;
}

/*
 * Add the frames of a Python thread state to the thread that it belongs to. The
 * state is at address addr, in interpreter interp. Return false if it cannot be
 * read.
 */
static bool
state_take(struct unwinder *u, const struct pyoffsets *o,
    const struct interpreter *interp, uint64_t addr)
{
	struct target *t = u->target;
	struct stack *st, more = { 0 };
	uint64_t tid, frame, call;
	size_t i;

	if (!target_word(t, addr + o->thread_native, 8, &tid) ||
	    !target_word(t, addr + o->thread_frame, 8, &frame))
		return false;
	call = call_find(t, o, frame);
	if (o->cframe_frame != UINT64_MAX && !target_word(t,
	    frame + o->cframe_frame, 8, &frame))
		frame = 0;
	/* st may have the frames of this call already; 0: any call */
	if ((st = stack_of(u, call, tid)) == NULL || SEEK(st->python,
	    st->npython, call == 0 || x->call == call) != NULL)
		return true;
	if (interp->locked && interp->last == addr)
		st->gil = GIL_HELD;
	else if (st->gil == GIL_NONE && interp->gil != 0 &&
	    st->futex >= interp->gil && st->futex < interp->gil + GIL_SIZE)
		st->gil = GIL_WANTED;
	frames_add(u, &more, o, frame);
	for (i = 0; i < more.npython; i++)
		more.python[i].call = call;
	if (more.npython > 0 && frames_insert(&t->pool, st, &more) &&
	    st->python->call == call) {
		st->interpreter = interp->id;
		st->collects = interp->collects;
	}
	return true;
}

/*
 * Read the thread states of the Python interpreter at address addr. interp->gil
 * must be the address of the interpreter's lock, or 0. Read at most *left
 * states, and reduce *left by the number read.
 */
static void
interpreter_take(struct unwinder *u, const struct pyoffsets *o, uint64_t addr,
    struct interpreter *interp, size_t *left)
{
	struct target *t = u->target;
	uint64_t state, locked, collecting;

	if (!target_word(t, addr + o->interp_threads, 8, &state) ||
	    !target_word(t, addr + o->interp_id, 8, &interp->id) ||
	    !target_word(t, addr + o->interp_collecting, 4, &collecting))
		return;
	interp->collects = collecting != 0;
	interp->locked = interp->gil != 0 &&
	    target_word(t, interp->gil + GIL_LOCKED, 4, &locked) &&
	    locked == 1 &&
	    target_word(t, interp->gil + GIL_LAST, 8, &interp->last);
	for (; state != 0 && *left > 0; --*left)
		if (!state_take(u, o, interp, state) ||
		    !target_word(t, state + o->thread_next, 8, &state))
			return;
}

/*
 * Find the Python frames of all threads of u, if the process runs Python.
 */
void
python_find(struct unwinder *u)
{
	struct search f = { 0 };
	struct target *t = u->target;
	struct interpreter in = { 0 };
	uint64_t interp, version;
	struct pyoffsets o;
	unsigned int n;
	size_t left;

	if (u->n == 0)
		return;
	search(u, &f);
	version = 0;
	if (f.runtime == 0)
		return;
	if (f.version != 0)
		(void)target_word(t, f.version, 4, &version);
	u->nolocals = "only 64-bit CPython 3.11 to 3.13 is supported";
	if (u->stack[0].regs.word != 8 ||
	    !pyoffsets_get(&o, t, f.runtime, (unsigned int)version) ||
	    !target_word(t, f.runtime + o.runtime_head, 8, &interp))
		return;
	u->nolocals = NULL;
	left = 4 * u->n + SPARE;
	t->cost = 0;
	for (n = 0; interp != 0 && n < INTERPRETERS; n++) {
		in.gil = f.runtime + o.runtime_gil;
		if (o.interp_gil != UINT64_MAX &&
		    !target_word(t, interp + o.interp_gil, 8, &in.gil))
			in.gil = 0;
		interpreter_take(u, &o, interp, &in, &left);
		if (!target_word(t, interp + o.interp_next, 8, &interp))
			return;
	}
}
