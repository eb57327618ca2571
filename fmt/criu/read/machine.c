/*
 * The machine that a checkpoint is of: which, as all core images tell, and how
 * large its pages are, as the auxiliary vector of a process does.
 */
#include "num.h"
#include "read.h"

#include <string.h>

static const struct {
	uint32_t	 mtype;	/* of core */
	const char	*name;
	int		(*regs)(struct criutask *, const Criu__Core *);
} known[] = {
	{ CRIU_AMD64, "amd64", criuregs_amd64 },
	{ CRIU_ARM64, "arm64", criuregs_arm64 },
};

enum { NKNOWN = sizeof known / sizeof *known };

/*
 * Set *msg to the first message of an image of the directory.  Return false if
 * it cannot be had: who needs it will say why.
 */
static bool
message_peek(struct criureader *r, const char *name, uint32_t magic,
    const ProtobufCMessageDescriptor *d, void *msg)
{
	struct criuimg im;
	int rc;

	rc = criuimg_open(&im, r->images, name, magic);
	if (rc == 1)
		rc = criuimg_next(&im, d, msg);
	criuimg_close(&im);
	return rc == 1;
}

/*
 * Return the machine that a core image is of, or NULL.
 */
static const struct machine *
core_machine(struct criureader *r, const char *name)
{
	const struct machine *m = NULL;
	Criu__Core *c;
	size_t i;

	if (!message_peek(r, name, CRIU_CORE, &criu__core__descriptor, &c))
		return NULL;
	for (i = 0; i < NKNOWN; i++)
		if (c->mtype == known[i].mtype)
			m = machine_named(known[i].name);
	protobuf_c_message_free_unpacked(&c->base, NULL);
	return m;
}

/*
 * Return the bytes of a page, as the auxiliary vector of a mm image tells; 0 if
 * it does not.
 */
static uint64_t
mm_page(struct criureader *r, const char *name)
{
	struct buf b = { 0 };
	uint64_t page;
	Criu__Mm *mm;
	size_t i;

	if (!message_peek(r, name, CRIU_MM, &criu__mm__descriptor, &mm))
		return 0;
	for (i = 0; i < mm->n_mm_saved_auxv; i++)
		num_add(&b, mm->mm_saved_auxv[i], 8);
	page = b.failed ? 0 : auxv_page(r->machine, b.data, b.len);
	buf_free(&b);
	protobuf_c_message_free_unpacked(&mm->base, NULL);
	return page;
}

/*
 * Find out the machine of the checkpoint r and its pages.  What nothing tells
 * is as on amd64, and the least that pages have.  Return 0.
 */
int
criumachine_find(struct criureader *r)
{
	size_t i;

	for (i = 0; i < r->nname && r->machine == NULL; i++)
		if (strncmp(r->name[i].name, "core-", 5) == 0)
			r->machine = core_machine(r, r->name[i].name);
	if (r->machine == NULL)
		r->machine = machine_named(known[0].name);
	for (i = 0; i < r->nname && r->page == 0; i++)
		if (strncmp(r->name[i].name, "mm-", 3) == 0)
			r->page = mm_page(r, r->name[i].name);
	if (r->page == 0)
		r->page = machine_page(r->machine, 0);
	return 0;
}

/*
 * Have the registers of c in the record of t, a thread of r.  Return 0, or -1
 * with errstr.
 */
int
criuregs_add(struct criureader *r, struct criutask *t, const Criu__Core *c)
{
	size_t i;

	for (i = 0; i < NKNOWN; i++)
		if (known[i].mtype == c->mtype)
			break;
	if (i == NKNOWN)
		return errstr_set("of machine %u; only those of x86-64 (%d) "
		    "and arm64 (%d) are read", c->mtype, CRIU_AMD64,
		    CRIU_ARM64);
	if (strcmp(r->machine->name, known[i].name) != 0)
		return errstr_set("of %s, and others of %s", known[i].name,
		    r->machine->name);
	return known[i].regs(t, c);
}
