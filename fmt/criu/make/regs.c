/*
 * The registers of a thread, as core-N.img has them: by the machine that the
 * process was on.
 */
#include "criumake.h"

#include <string.h>

static const struct {
	const char	*name;	/* of the machine */
	uint32_t	 mtype;	/* of core */
	makeregs_fn	*get;
	size_t		 auxv;	/* AT_VECTOR_SIZE there: words that it takes */
} known[] = {
	{ "amd64", CRIU_AMD64, makeregs_amd64, MAX_AUXV },
	{ "arm64", CRIU_ARM64, makeregs_arm64, 40 },
};

enum { NKNOWN = sizeof known / sizeof *known };

/*
 * Return which of the machines a process was on; NKNOWN if none.
 */
static size_t
machine_of(const struct maketask *t)
{
	char name[32];
	size_t i;

	(void)linuxrec_cputype(proc_file(t->proc, "proc"), name, sizeof name);
	for (i = 0; i < NKNOWN; i++)
		if (strcmp(known[i].name, name) == 0)
			break;
	return i;
}

/*
 * Set in core the registers of thread t of process p, as they are to be when it
 * goes on. rseq has the address of its area first, or is NULL.  Return 1; 0
 * when it is noted that they cannot be had; or -1 with errstr.
 */
int
makeregs_get(struct criumake *m, struct maketask *p, struct maketask *t,
    const uint64_t *rseq, Criu__Core *core)
{
	struct recfile regs;
	size_t i;

	if (!linuxrec_find(&t->rec, "regset/prstatus", &regs))
		return make_never(m, t, "it has no registers here, for another "
		    "traces it, or it did not stop");
	if ((i = machine_of(t)) == NKNOWN)
		return make_never(m, t, "neither of x86-64 nor of arm64: "
		    "cannot be restored");
	return known[i].get(m, p, t, &regs, rseq, core);
}

/*
 * Return how many words of the auxiliary vector of process t criu takes; it
 * refuses images that have more.
 */
size_t
makeregs_auxv(const struct maketask *t)
{
	size_t i;

	i = machine_of(t);
	return known[i == NKNOWN ? 0 : i].auxv;
}

/*
 * Let core be of the machine that thread t was on.
 */
void
makeregs_machine(Criu__Core *core, const struct maketask *t)
{
	size_t i;

	i = machine_of(t);
	core->mtype = known[i == NKNOWN ? 0 : i].mtype;
}
