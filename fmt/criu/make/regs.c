/*
 * Fill in the registers of a thread for core-N.img, by the machine on which it
 * ran.
 */
#include "criumake.h"
#include "bisect.h"

static const struct known {
	const char	*name;	/* name of the machine */
	uint32_t	 mtype;	/* value of mtype in core images */
	makeregs_fn	*get;
	size_t		 auxv;	/* maximum number of words in the auxiliary
				   vector: see AT_VECTOR_SIZE in criu */
} known[] = {
	{ "amd64", CRIU_AMD64, makeregs_amd64, MAX_AUXV },
	{ "arm64", CRIU_ARM64, makeregs_arm64, 40 },
};

/*
 * Return the machine on which t ran, or NULL if known[] does not have it.
 */
static const struct known *
machine_of(const struct maketask *t)
{
	char name[32];

	(void)linuxrec_cputype(proc_file(t->proc, "proc"), name, sizeof name);
	return SEEK_IN(known, strcmp(x->name, name) == 0);
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
	const struct known *k;
	struct recfile regs;

	if (!linuxrec_find(&t->rec, "regset/prstatus", &regs))
		return make_never(m, t, "its registers are not in the "
		    "snapshot: another process traces it, or it did not stop");
	if ((k = machine_of(t)) == NULL)
		return make_never(m, t, "neither x86-64 nor arm64: cannot be "
		    "restored");
	return k->get(m, p, t, &regs, rseq, core);
}

/*
 * Return how many words criu accepts in the auxiliary vector of process t. The
 * number depends on the machine; criu refuses an image with more.
 */
size_t
makeregs_auxv(const struct maketask *t)
{
	const struct known *k = machine_of(t);

	return (k == NULL ? known : k)->auxv;
}

/*
 * Set the machine type in core to that of thread t.
 */
void
makeregs_machine(Criu__Core *core, const struct maketask *t)
{
	const struct known *k = machine_of(t);

	core->mtype = (k == NULL ? known : k)->mtype;
}
