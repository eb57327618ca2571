/*
 * Fill in the registers of a thread for core-N.img, by the machine on which it
 * ran.
 */
#include "criumake.h"

static const struct {
	const char	*name;	/* name of the machine */
	uint32_t	 mtype;	/* value of mtype in core images */
	makeregs_fn	*get;
	size_t		 auxv;	/* maximum number of words in the auxiliary
				   vector: see AT_VECTOR_SIZE in criu */
} known[] = {
	{ "amd64", CRIU_AMD64, makeregs_amd64, MAX_AUXV },
	{ "arm64", CRIU_ARM64, makeregs_arm64, 40 },
};

enum { NKNOWN = sizeof known / sizeof *known };

/*
 * Return the index in known[] of the machine on which t ran, or NKNOWN if
 * known[] does not have it.
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
 * Set the registers in core to those with which thread t of process p resumes.
 * rseq[0] is the address of the thread's rseq(2) area; rseq is NULL if the
 * thread has none. Return 1 on success, 0 if there are no usable registers (the
 * reason is recorded), or -1 with errstr set.
 */
int
makeregs_get(struct criumake *m, struct maketask *p, struct maketask *t,
    const uint64_t *rseq, Criu__Core *core)
{
	struct recfile regs;
	size_t i;

	if (!linuxrec_find(&t->rec, "regset/prstatus", &regs))
		return make_never(m, t, "its registers are not in the "
		    "snapshot: another process traces it, or it did not stop");
	if ((i = machine_of(t)) == NKNOWN)
		return make_never(m, t, "neither x86-64 nor arm64: cannot be "
		    "restored");
	return known[i].get(m, p, t, &regs, rseq, core);
}

/*
 * Return how many words criu accepts in the auxiliary vector of process t. The
 * number depends on the machine; criu refuses an image with more.
 */
size_t
makeregs_auxv(const struct maketask *t)
{
	size_t i;

	i = machine_of(t);
	return known[i == NKNOWN ? 0 : i].auxv;
}

/*
 * Set the machine type in core to that of thread t.
 */
void
makeregs_machine(Criu__Core *core, const struct maketask *t)
{
	size_t i;

	i = machine_of(t);
	core->mtype = known[i == NKNOWN ? 0 : i].mtype;
}
