/*
 * Check whether processes can be restored, before anything is written.
 */
#include "write.h"

/*
 * Set *o to leave out files that images do not need: small Plan 9 files whose
 * facts are also in the Linux records. A snapshot that is read just for
 * criu_check() and criu_write() then takes less memory.
 */
void
criu_readopts(struct readopts *o)
{
	static const char *const unused[] = { "cmdline", "environ", "fd",
	    "fpregs", "kregs", "mountinfo", "noteid", "ns", "perfmap", "regs",
	    "stack", "syscall", "wchan", NULL };

	o->unused = unused;
	o->nosizes = true;
}

/*
 * Check the process tree with root o->root in s, by making its images in memory
 * and discarding them. Do not read any page of memory.
 */
static int
tree_check(struct snap *s, const struct criuopts *o)
{
	struct mades l = { 0 };
	int rc;

	rc = criumake(s, o, &l);
	mades_free(&l);
	return rc;
}

/*
 * Report through o->note that there are n process trees, and list their roots.
 */
static int
trees_note(const struct criuopts *o, const uint64_t *root, size_t n)
{
	struct buf b = { 0 };
	size_t i;

	buf_printf(&b, "%zu process trees, each restored by itself: use "
	    "snapload -p with", n);
	for (i = 0; i < n; i++)
		buf_printf(&b, "%s %" PRIu64, i == 0 ? "" : ",", root[i]);
	return buf_report(&b, o->note, o->arg);
}

/*
 * Check that the processes of snapshot s can be restored. Check only o->root
 * and its descendants or, if o->root is 0, each process tree separately.
 * o->leave is as in criu_write(). Call o->warn with a line for each thing that
 * cannot be restored. If there are several trees, report them through o->note,
 * and clear CRIU_MADE in *o->need. Return 0 if everything can be restored, or
 * -1 with errstr set.
 */
int
criu_check(struct snap *s, const struct criuopts *o)
{
	struct criuopts each = *o;
	uint64_t *root;
	size_t i, n;
	int came, rc;

	each.check = true;
	if ((came = replay_can(s, o->root)) == -1)
		return -1;
	if (came)
		return 0;
	if (!criumake_can(s))
		return errstr_set("the snapshot lacks the records needed to "
		    "restore processes");
	if (o->root != 0)
		return tree_check(s, &each);
	if (criumake_roots(s, &root, &n) == -1)
		return -1;
	rc = n > 0 ? 0 : errstr_set("no process to restore");
	for (i = 0; i < n; i++) {
		each.root = root[i];
		if (tree_check(s, &each) == -1)
			rc = -1;
	}
	if (n > 1 && o->need != NULL)	/* only one tree can be restored at a
					   time */
		*o->need &= ~(unsigned int)CRIU_MADE;
	if (n > 1 && rc == 0)
		rc = trees_note(o, root, n);
	free(root);
	return rc;
}

/*
 * Append the criu(8) command that restores the images in dir to b. need has the
 * bits of enum criu_need, which select its options. words has further
 * arguments, or is NULL.
 */
void
criu_command(struct buf *b, const char *dir, unsigned int need,
    const struct buf *words)
{
	static const struct {
		unsigned int	 bit;
		const char	*option;
	} asked[] = {
		{ CRIU_SHELL_JOB, "shell-job" },
		{ CRIU_TCP_CLOSE, "tcp-close" },
		{ CRIU_TCP_ESTABLISHED, "tcp-established" },
		{ CRIU_FILE_LOCKS, "file-locks" },
		{ CRIU_EXT_UNIX_SK, "ext-unix-sk" }
	};
	size_t i;

	buf_printf(b, "criu restore %s-D ", need & CRIU_TERMINAL ? "" : "-d ");
	shell_word(b, dir);
	for (i = 0; i < sizeof asked / sizeof *asked; i++)
		if (need & asked[i].bit)
			buf_printf(b, " --%s", asked[i].option);
	if (words != NULL)
		buf_add(b, words->data, words->len);
}
