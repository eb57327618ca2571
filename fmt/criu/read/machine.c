/*
 * Find the machine of a checkpoint, which every core image has, and its page
 * size, which is in the auxiliary vector of a process.
 */
#include "bisect.h"
#include "num.h"
#include "read.h"

static const struct known {
	uint32_t	 mtype;	/* value of mtype in core images */
	const char	*name;
	int		(*regs)(struct criutask *, const Criu__Core *);
} known[] = {
	{ CRIU_AMD64, "amd64", criuregs_amd64 },
	{ CRIU_ARM64, "arm64", criuregs_arm64 },
};

/*
 * Set *msg to the first message, which has type d, of the image called name.
 * Return false if the image cannot be read: the error is reported later, when
 * the image is needed.
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
 * Return the machine of the core image called name, or NULL if it is not known.
 */
static const struct machine *
core_machine(struct criureader *r, const char *name)
{
	const struct known *k;
	Criu__Core *c;

	if (!message_peek(r, name, CRIU_CORE, &criu__core__descriptor, &c))
		return NULL;
	k = SEEK_IN(known, x->mtype == c->mtype);
	protobuf_c_message_free_unpacked(&c->base, NULL);
	return k == NULL ? NULL : machine_named(k->name);
}

/*
 * Return the page size in bytes from the auxiliary vector in the mm image
 * called name. Return 0 if it is not there.
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
 * Set the machine and the page size of checkpoint r. If no image names a known
 * machine, assume amd64. If no image has the page size, assume the machine's
 * smallest one. Return 0.
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
 * Append the registers in c to the record of thread t. Return 0, or -1 with
 * errstr set.
 */
int
criuregs_add(struct criureader *r, struct criutask *t, const Criu__Core *c)
{
	const struct known *k = SEEK_IN(known, x->mtype == c->mtype);

	if (k == NULL)
		return errstr_set("machine %u is not supported; only x86-64 "
		    "(%d) and arm64 (%d) are", c->mtype, CRIU_AMD64,
		    CRIU_ARM64);
	if (strcmp(r->machine->name, k->name) != 0)
		return errstr_set("machine is %s, but other images have "
		    "machine %s", k->name, r->machine->name);
	return k->regs(t, c);
}
