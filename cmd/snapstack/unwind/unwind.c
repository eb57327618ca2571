/*
 * Find the frames of a thread with libdwfl, which uses unwind tables
 * (.eh_frame, .debug_frame), or frame pointers if there are none. If that
 * fails, search the stack for what looks like a return address, and continue
 * from there. Frames that were not found by tables are marked as guesses.
 */
#include "snapstack/snapstack.h"

#include <elfutils/version.h>

#include <elf.h>

enum { STEPS = 64 }; /* maximum number of guessed frames and signal handlers */

struct walk {			/* state while one thread is unwound */
	struct unwinder	*u;
	struct stack	*st;
	bool		 begun;	/* the first frame has been seen */
	bool		 left_code; /* the next frame is not in code */
	bool		 skip_first; /* the stack already has the first frame */
	uint64_t	 low;	/* stack pointer of the guess from which this
				   began; the next frames are above it */
	bool		 below;	/* the next frame is not above low */
};

static pid_t
next_thread(Dwfl *d, void *arg, void **thread)
{
	(void)d;
	(void)arg;
	(void)thread;
	return 0;
}

static bool
get_thread(Dwfl *d, pid_t tid, void *arg, void **thread)
{
	(void)d;
	(void)tid;
	*thread = arg;
	return true;
}

static bool
memory_read(Dwfl *d, Dwarf_Addr addr, Dwarf_Word *v, void *arg)
{
	struct unwinder *u = arg;
	uint64_t word;

	(void)d;
	if (!target_word(u->target, addr, u->now.word, &word)) {
		u->unread = true;
		return false;
	}
	*v = word;
	return true;
}

static bool
set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct registers *r = &((struct unwinder *)arg)->now;
	Dwarf_Word v[REGS_MAX];
	unsigned int i;

	for (i = 0; i < r->n; i++)
		v[i] = r->v[i];
	if (!dwfl_thread_state_registers(thread, 0, r->n, v))
		return false;
	if (r->machine == EM_AARCH64)
		dwfl_thread_state_register_pc(thread, r->pc);
	return true;
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/*
 * Return an ELF file with only a header, from which libdwfl learns the machine.
 * Return NULL on failure.
 */
static Elf *
head_make(uint16_t machine, unsigned int word)
{
	static union {
		Elf64_Ehdr	 wide;
		Elf32_Ehdr	 narrow;
	} h;

	memset(&h, 0, sizeof h);
	memcpy(h.wide.e_ident, ELFMAG, SELFMAG);
	h.wide.e_ident[EI_CLASS] = word == 8 ? ELFCLASS64 : ELFCLASS32;
	h.wide.e_ident[EI_DATA] = ELFDATA2LSB;
	h.wide.e_ident[EI_VERSION] = EV_CURRENT;
	h.wide.e_type = ET_CORE;
	h.wide.e_machine = machine;
	h.wide.e_version = EV_CURRENT;
	if (word == 8)
		h.wide.e_ehsize = sizeof h.wide;
	else
		h.narrow.e_ehsize = sizeof h.narrow;
	return elf_memory((char *)&h, word == 8 ? sizeof h.wide :
	    sizeof h.narrow);
}

static int
attach(struct unwinder *u)
{
	if (u->head != NULL)
		return 0;
	u->head = head_make(u->now.machine, u->now.word);
	if (u->head == NULL || !dwfl_attach_state(u->dwfl, u->head, 1,
	    &callbacks, u))
		return errstr_set("libdw: %s", dwfl_errmsg(-1));
	return 0;
}

/*
 * Free what u owns.
 */
void
unwinder_close(struct unwinder *u)
{
	dwfl_end(u->dwfl);
	elf_end(u->head);
}

static struct frame *
frame_add(struct unwinder *u, struct stack *st, uint64_t pc)
{
	struct frame *f;

	if (st->n >= FRAMES_MAX ||
	    POOL_ROOM(&u->target->pool, st->frame, st->n) == -1)
		return NULL;
	f = &st->frame[st->n++];
	memset(f, 0, sizeof *f);
	f->pc = pc;
	return f;
}

/*
 * Return what the unwind tables say about the code of frame f, to be passed to
 * free(). Return NULL if no table describes it.
 */
static Dwarf_Frame *
tables_find(const struct unwinder *u, const struct frame *f)
{
	/* as in libdwfl, the instruction before a return address counts */
	const uint64_t pc = f->exact && !f->signal ? f->pc : f->pc - 1;
	Dwfl_Module *m = dwfl_addrmodule(u->dwfl, pc);
	Dwarf_Frame *found;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (m == NULL)
		return NULL;
	cfi = dwfl_module_eh_cfi(m, &bias);
	if (cfi != NULL && dwarf_cfi_addrframe(cfi, pc - bias, &found) == 0)
		return found;
	cfi = dwfl_module_dwarf_cfi(m, &bias);
	return cfi != NULL && dwarf_cfi_addrframe(cfi, pc - bias,
	    &found) == 0 ? found : NULL;
}

/*
 * Return true if a table describes how to unwind frame f. Otherwise libdwfl
 * uses the frame pointer, and misses callers if the code of f has none.
 */
static bool
has_table(const struct unwinder *u, const struct frame *f)
{
	Dwarf_Frame *found = tables_find(u, f);

	free(found);
	return found != NULL;
}

/*
 * Set u->now to the registers of frame state. Unknown ones become 0. Return the
 * stack pointer, or 0 if it is not known. first is true if state is the
 * innermost frame.
 */
static uint64_t
registers_keep(struct unwinder *u, Dwfl_Frame *state, bool first)
{
#if _ELFUTILS_PREREQ(0, 188)
	unsigned int i;
	Dwarf_Word v;

	(void)first;
	for (i = 0; i < u->now.n; i++)
		u->now.v[i] = dwfl_frame_reg(state, i, &v) == 0 ? v : 0;
	return u->now.v[u->now.spnum];
#else
	(void)state;
	return first ? u->now.sp : 0;
#endif
}

/*
 * Add a frame to the stack; this is a libdwfl callback. A frame whose address
 * is outside code ends the stack, unless it is the first: the thread may have
 * jumped to an invalid address.
 */
static int
on_frame(Dwfl_Frame *state, void *arg)
{
	struct walk *w = arg;
	struct stack *st = w->st;
	struct frame *f;
	Dwarf_Addr pc;
	uint64_t sp;
	bool exact;

	w->u->unread = false;
	if (!dwfl_frame_pc(state, &pc, &exact))
		return DWARF_CB_ABORT;
	if (w->begun && pc == 0)
		return DWARF_CB_ABORT;
	if (w->begun && target_code(w->u->target,
	    exact ? pc : pc - 1) == NULL) {
		w->left_code = true;
		return DWARF_CB_ABORT;
	}
	if (w->skip_first && !w->begun) {
		w->begun = true;
		return DWARF_CB_OK;
	}
	/* two exact frames in a row: the first returns from a signal handler,
	   which may have had its own stack */
	if (exact && st->n > 1 && st->frame[st->n - 1].exact) {
		st->frame[st->n - 1].signal = true;
		w->low = 0;
	}
	sp = registers_keep(w->u, state, st->n == 0);
	if (sp != 0 && sp <= w->low) {
		w->below = true;
		return DWARF_CB_ABORT;
	}
	if ((f = frame_add(w->u, st, pc)) == NULL)
		return DWARF_CB_ABORT;
	f->exact = exact;
	f->sp = sp;
	f->guess = st->n > 1 && !has_table(w->u, f - 1);
	w->begun = true;
	/* a stack that loops would never end */
	if (st->n > 1 && f->sp != 0 && f->sp == f[-1].sp && f->pc == f[-1].pc)
		return DWARF_CB_ABORT;
	/* signal_add() continues from here */
	return st->n > 1 && sigframe_is(w->u->target, w->u->now.machine, pc) ?
	    DWARF_CB_ABORT : DWARF_CB_OK;
}

/*
 * Guess the next frame: search the stack with scan_next(), from *sp upwards,
 * for a return address. Add the frame to st, and set u->now to continue from
 * it. Return false if none is found.
 */
static bool
guess_add(struct unwinder *u, struct stack *st, uint64_t *sp)
{
	struct frame *f;
	uint64_t pc;

	if (!scan_next(u->target, &u->now, sp, &pc) ||
	    (f = frame_add(u, st, pc)) == NULL)
		return false;
	f->guess = true;
	f->sp = *sp;
	/* libdwfl takes the first pc for the next instruction, not a return
	   address */
	u->now.pc = pc - 1;
	u->now.sp = *sp;
	u->now.v[u->now.spnum] = *sp;
	if (u->now.machine == EM_X86_64 || u->now.machine == EM_386 ||
	    u->now.machine == EM_ARM)
		u->now.v[u->now.n - 1] = pc - 1;
	return true;
}

/*
 * If the last frame of st is in the code that signal handlers return to, add
 * the frame that the signal interrupted, set u->now to the registers of that
 * frame, and return true. Otherwise return false.
 */
static bool
signal_add(struct unwinder *u, struct stack *st)
{
	struct frame *f;

	if (st->n == 0 || !sigframe_step(u->target, &st->frame[st->n - 1],
	    &u->now) || (f = frame_add(u, st, u->now.pc)) == NULL)
		return false;
	f->exact = f[-1].exact = f[-1].signal = true;
	f->sp = u->now.sp;
	return true;
}

/*
 * Return true if the last frame is the entry point of the program. Nothing
 * calls the entry point, and it may have no unwind tables.
 */
static bool
is_entry(const struct unwinder *u, const struct stack *st)
{
	enum { NEAR = 64 };
	const uint64_t entry = target_entry(u->target);

	return st->n > 0 && entry != 0 &&
	    st->frame[st->n - 1].pc - entry < NEAR;
}

/*
 * Return true if frame f belongs to Go's runtime. Its stacks begin with a
 * return address of 0.
 */
static bool
is_go(const struct unwinder *u, const struct frame *f)
{
	static const char prefix[] = "runtime.";
	Dwfl_Module *m = dwfl_addrmodule(u->dwfl, f->pc - 1);
	const char *name = m == NULL ? NULL :
	    dwfl_module_addrname(m, f->pc - 1);

	return name != NULL && strncmp(name, prefix, sizeof prefix - 1) == 0;
}

/*
 * Return true if the last frame has no caller: its unwind table says that the
 * return address is undefined. libdwfl also ends a stack at a return address of
 * 0, which may be due to an overwritten stack. In Go and on Arm, a stack begins
 * with 0.
 */
static bool
is_outermost(const struct unwinder *u, const struct stack *st)
{
	Dwarf_Op mem[3], *ops;
	Dwarf_Frame *found;
	bool undefined;
	size_t n;
	int ra;

	if (st->n == 0)
		return false;
	if (u->now.machine == EM_AARCH64 || u->now.machine == EM_ARM ||
	    is_go(u, &st->frame[st->n - 1]))
		return true;
	if ((found = tables_find(u, &st->frame[st->n - 1])) == NULL)
		return false;
	ra = dwarf_frame_info(found, NULL, NULL, NULL);
	undefined = ra >= 0 &&
	    dwarf_frame_register(found, ra, mem, &ops, &n) == 0 &&
	    n == 0 && ops == mem;
	free(found);
	return undefined;
}

/*
 * Add to st the frames that libdwfl finds from the registers u->now. skip_first
 * is true if the first of them was already added. Return NULL if the outermost
 * frame was reached, and otherwise the reason why not. The text is valid until
 * the next call.
 */
static const char *
frames_find(struct unwinder *u, struct stack *st, bool skip_first)
{
	struct walk w = { .u = u, .st = st, .skip_first = skip_first };
	const char *why;
	int rc;

	if (attach(u) == -1)
		return snap_errstr();
	if (skip_first && !st->frame[st->n - 1].exact)
		w.low = st->frame[st->n - 1].sp;
	(void)dwfl_errno();
	rc = dwfl_getthread_frames(u->dwfl, 1, on_frame, &w);
	if (st->n >= FRAMES_MAX)
		return "there are more";
	if (is_entry(u, st))
		return NULL;
	if (rc == 0 && u->unread)
		return "its stack is missing";
	if (w.below)
		return "the next frame is not above this one";
	if (w.left_code)
		return "the return address is not in code";
	if (rc == 0)
		return is_outermost(u, st) ? NULL :
		    "the return address is 0";
	why = dwfl_errmsg(-1);
	return why == NULL ? "it ends there" : why;
}

/*
 * Find the frames of thread st of u, whose registers are known. If the
 * outermost frame cannot be reached, set st->why to the reason.
 */
void
stack_unwind(struct unwinder *u, struct stack *st)
{
	unsigned int steps;
	const char *why;
	uint64_t sp;

	u->now = st->regs;
	for (steps = 0;; steps++) {
		why = frames_find(u, st, steps > 0);
		if (st->n == 0 && frame_add(u, st, u->now.pc) != NULL)
			st->frame[0].exact = true;
		if (st->n >= FRAMES_MAX || steps == STEPS)
			break;
		if (signal_add(u, st)) {
			if (target_code(u->target, u->now.pc) != NULL)
				continue;
			why = "it jumped to an invalid address";
		} else if (why == NULL)
			break;
		sp = st->n > 0 && st->frame[st->n - 1].sp != 0 ?
		    st->frame[st->n - 1].sp : u->now.sp;
		if (!guess_add(u, st, &sp))
			break;
	}
	st->whole = why == NULL;
	if (!st->whole)
		st->why = pool_string(&u->target->pool, why);
}
