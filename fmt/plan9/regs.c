/*
 * Registers as Plan 9 has them, from those of Linux, and back: as the tables
 * of the machine say.
 */
#include "num.h"
#include "plan9.h"

#include <string.h>

static const struct {
	const char	*machine;
	const struct uregs *uregs;
} known[] = {
	{ "amd64", &uregs_amd64 }, { "386", &uregs_386 },
	{ "arm64", &uregs_arm64 }, { "arm", &uregs_arm },
};

enum { UREG_MOST = 280 };	/* bytes of a Ureg: that of arm64 */

static const struct uregs *
uregs_find(const struct machine *m)
{
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].machine, m->name) == 0)
			return known[i].uregs;
	(void)errstr_set("Plan 9's registers of %s are not known", m->name);
	return NULL;
}

/*
 * Set the registers of a Ureg, n parts, from the bytes gp of Linux's.
 */
static void
ureg_set(uint8_t *ureg, const uint8_t *gp, const struct uregpart *part,
    size_t n)
{
	for (; n > 0; n--, part++)
		memcpy(ureg + part->ureg, gp + part->linux,
		    (size_t)part->width * part->n);
}

/*
 * Add the registers of t, a thread, to b, as a Ureg of the machine cputype that
 * its snapshot is of, in Plan 9's words.  Nothing is added when they could not
 * be had.  Return 0; -1 with errstr if Plan 9 has no such machine.
 */
int
plan9_regs(struct buf *b, const char *cputype, const struct task *t)
{
	const struct machine *m = machine_named(cputype), *narrow;
	const struct bytes *r = &t->reg[REGSET_PRSTATUS];
	const struct uregs *u;
	uint8_t ureg[UREG_MOST] = { 0 };
	size_t orig;

	if ((u = uregs_find(m)) == NULL)
		return -1;
	narrow = machine_named(m->narrow == NULL ? "" : m->narrow);
	if (r->data == NULL || r->len == 0)
		return 0;
	orig = u->orig;
	if (r->len == m->regs) {
		ureg_set(ureg, r->data, u->part, u->npart);
		orig += m->word - 1U;
	} else if (r->len == narrow->regs && u->nnarrow > 0) {
		ureg_set(ureg, r->data, u->narrow, u->nnarrow);
		orig = uregs_find(narrow)->orig + narrow->word - 1U;
	} else
		return 0;
	/* the top byte of -1 and of any system call's number differ */
	if (u->trap != 0 && r->data[orig] != 0xff)
		ureg[u->type] = u->trap;
	buf_add(b, ureg, m->ureg);
	return 0;
}

/*
 * Add the floating point registers of t, a thread, to b, as Plan 9 has them on
 * the machine cputype; nothing when they could not be had.  Return 0; -1 with
 * errstr if Plan 9 has no such machine.
 */
int
plan9_fpregs(struct buf *b, const char *cputype, const struct task *t)
{
	const struct uregs *u;

	if ((u = uregs_find(machine_named(cputype))) == NULL)
		return -1;
	u->fpregs(b, t);
	return 0;
}

/*
 * Set the general registers gp as Linux has them in a core, m->regs bytes that
 * are 0, to those of a Ureg, m->ureg bytes.  A machine that Plan 9 does not
 * have has no Ureg.  There is no system call.
 */
void
ureg_linux(const struct machine *m, const uint8_t *ureg, uint8_t *gp)
{
	const struct uregpart *part;
	const struct uregs *u;
	size_t i;

	if ((u = uregs_find(m)) == NULL)
		return;
	for (i = 0, part = u->part; i < u->npart; i++, part++)
		memcpy(gp + part->linux, ureg + part->ureg,
		    (size_t)part->width * part->n);
	if (u->orig != 0)
		num_put(gp + u->orig, UINT64_MAX, m->word);
}
