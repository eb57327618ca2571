/*
 * The frames of Python code in the threads of a process, as far as CPython 3.11
 * to 3.13 has them in its memory, and who holds the global interpreter lock.
 */
#include "python.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	INTERPRETERS = 256,	/* more are not believed */
	SPARE = 1024,		/* states of threads beyond those there are */
	COST_MOST = 4 * KB * KB, /* of a process: 128 MiB, or words */
	OWNED_BY_C = 3,		/* of enum _frameowner, pycore_frame.h */
	GIL_LAST = 8,		/* in struct _gil_runtime_state */
	GIL_LOCKED = 16,
	GIL_SIZE = 256		/* its condition and mutex are in it */
};

struct search {			/* for symbols */
	uint64_t	 runtime;
	uint64_t	 version;
};

/*
 * Return whether path is that of an interpreter, or its library, and not of
 * a module for it.
 */
bool
python_is(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base == NULL ? path : base + 1;
	if (strncmp(base, "libpython", 9) == 0)
		return true;
	return strncmp(base, "python", 6) == 0 && (base[6] == '\0' ||
	    base[6] == ' ' || (base[6] >= '0' && base[6] <= '9'));
}

/*
 * Look for the interpreter's state, and its version, in a module.
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
 * Look for the interpreter's state: in memory, and in the files of a snapshot.
 * Those of a live process are not read, for it is stopped, and the program is
 * not confined.
 */
static void
search(struct unwinder *u, struct search *f)
{
	struct target *t = u->target;
	const struct vma *v;
	size_t i;

	for (i = 0; i < t->vma.n && f->runtime == 0; i++) {
		v = &t->vma.v[i];
		if (v->name[0] != '/' || v->off != 0 || !python_is(v->name) ||
		    !dynsym_find(t, v->start, "_PyRuntime", &f->runtime))
			continue;
		(void)dynsym_find(t, v->start, "Py_Version", &f->version);
	}
	if (f->runtime == 0 && !t->live)
		(void)dwfl_getmodules(u->dwfl, on_module, f, 0);
}

/*
 * Take what the frame at addr tells, if it has code.
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
	    VEC_ROOM(st->python, st->npython) == -1)
		return false;
	f = &st->python[st->npython];
	memset(f, 0, sizeof *f);
	if (!pycode_get(f, t, o, code, instruction)) {
		free(f->function);
		free(f->file);
		return false;
	}
	st->npython++;
	if (u->locals)
		pylocals_get(f, t, o, addr, code);
	if (o->frame_entry != UINT64_MAX &&
	    target_word(t, addr + o->frame_entry, 1, &entry))
		f->entry = entry != 0;
	return true;
}

/*
 * Put the Python frames of a thread, from that at addr on, until they go in a
 * circle: one is met again of which the number is a power of two (Brent).
 */
static void
frames_add(struct unwinder *u, struct stack *st, const struct pyoffsets *o,
    uint64_t addr)
{
	struct target *t = u->target;
	uint64_t owner, met;
	unsigned int n;

	for (n = 1, met = 0; addr != 0 && addr != met && n <= FRAMES_MAX &&
	    t->cost < COST_MOST; n++) {
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

static struct stack *
stack_of(struct unwinder *u, uint64_t tid)
{
	const struct stack *st = thread_find(u, u->inner, tid);

	return st == NULL ? NULL : &u->stack[st - u->stack];
}

/*
 * Take the threads of an interpreter, *left states of threads at most.
 */
static void
interpreter_take(struct unwinder *u, const struct pyoffsets *o,
    uint64_t interp, uint64_t gil, size_t *left)
{
	struct target *t = u->target;
	uint64_t addr, tid, frame, locked, last, id, collecting;
	struct stack *st;

	if (!target_word(t, interp + o->interp_threads, 8, &addr) ||
	    !target_word(t, interp + o->interp_id, 8, &id) ||
	    !target_word(t, interp + o->interp_collecting, 4, &collecting))
		return;
	if (gil == 0 || !target_word(t, gil + GIL_LOCKED, 4, &locked) ||
	    !target_word(t, gil + GIL_LAST, 8, &last))
		locked = last = 0;
	for (; addr != 0 && *left > 0; --*left) {
		if (!target_word(t, addr + o->thread_native, 8, &tid) ||
		    !target_word(t, addr + o->thread_frame, 8, &frame))
			return;
		if (o->cframe_frame != UINT64_MAX && !target_word(t,
		    frame + o->cframe_frame, 8, &frame))
			frame = 0;
		st = stack_of(u, tid);
		if (st != NULL && st->npython == 0) {
			frames_add(u, st, o, frame);
			st->interpreter = id;
			st->gil = locked == 1 && last == addr ? GIL_HELD :
			    gil != 0 && st->futex >= gil &&
			    st->futex < gil + GIL_SIZE ? GIL_WANTED :
			    GIL_NONE;
			st->collects = collecting != 0;
		}
		if (!target_word(t, addr + o->thread_next, 8, &addr))
			return;
	}
}

/*
 * Find the Python frames of all threads of a process, if Python runs in it.
 */
void
python_find(struct unwinder *u)
{
	struct search f = { 0 };
	struct target *t = u->target;
	uint64_t interp, gil, version;
	struct pyoffsets o;
	unsigned int n;
	size_t left;

	if (u->n == 0 || u->stack[0].regs.word != 8)
		return;
	search(u, &f);
	version = 0;
	if (f.runtime == 0)
		return;
	if (f.version != 0)
		(void)target_word(t, f.version, 4, &version);
	if (!pyoffsets_get(&o, t, f.runtime, (unsigned int)version) ||
	    !target_word(t, f.runtime + o.runtime_head, 8, &interp))
		return;
	left = 4 * u->n + SPARE;
	t->cost = 0;
	for (n = 0; interp != 0 && n < INTERPRETERS; n++) {
		gil = f.runtime + o.runtime_gil;
		if (o.interp_gil != UINT64_MAX &&
		    !target_word(t, interp + o.interp_gil, 8, &gil))
			gil = 0;
		interpreter_take(u, &o, interp, gil, &left);
		if (!target_word(t, interp + o.interp_next, 8, &interp))
			return;
	}
}
