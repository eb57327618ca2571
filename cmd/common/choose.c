/*
 * Which live processes are meant: numbers and names as operands, -u and -c.
 */
#include "common.h"
#include "vec.h"

#include <err.h>
#include <stdlib.h>

/*
 * Have only processes of a user in c: s is the argument of -u.  Exit with 2 if
 * there is none.
 */
void
choosing_user(struct choosing *c, const char *s)
{
	if (user_parse(s, &c->uid) == -1)
		errx(2, "-u: %s", snap_errstr());
	c->user = true;
}

/*
 * Have those in a cgroup in c, too: s, the argument of an option, is borrowed.
 */
void
choosing_cgroup(struct choosing *c, char *s)
{
	if (VEC_ROOM(c->cgroup, c->n) == -1)
		errx(1, "%s", snap_errstr());
	c->cgroup[c->n++] = s;
}

/*
 * Return the user of -u in c, or NULL.
 */
const uid_t *
choosing_whose(const struct choosing *c)
{
	return c->user ? &c->uid : NULL;
}

struct telling {
	choosing_fn	 fn;
	void		*arg;
};

static int
tell(void *arg, pid_t pid)
{
	const struct telling *t = arg;

	return t->fn(t->arg, pid, true);
}

/*
 * Call fn, with arg before it, for the process that operand s is the number of,
 * which may not be there, or for those of that name, of the user of c, until it
 * returns -1.  Return 0, or -1 with errstr.
 */
int
choosing_one(const struct choosing *c, const char *s, choosing_fn fn,
    void *arg)
{
	struct telling t = { fn, arg };
	const char *why;
	pid_t pid;

	if (*s == '\0')
		return errstr_set("an empty name");
	if (!program_isnumber(s))
		return proc_named(s, choosing_whose(c), tell, &t);
	pid = (pid_t)strtonum(s, 1, INT32_MAX, &why);
	return why != NULL ? errstr_set("%s is not a process id", s) :
	    fn(arg, pid, false);
}

/*
 * Call fn, with arg before it, for the processes in the cgroups of c and,
 * without any and without operands, for all of its user.  What fails is told;
 * return false then.
 */
bool
choosing_rest(const struct choosing *c, bool operands, choosing_fn fn,
    void *arg)
{
	struct telling t = { fn, arg };
	bool good = true;
	size_t i;

	for (i = 0; i < c->n; i++)
		if (proc_grouped(c->cgroup[i], choosing_whose(c), tell,
		    &t) == -1) {
			program_warn("%s", snap_errstr());
			good = false;
		}
	if (c->user && c->n == 0 && !operands &&
	    proc_named(NULL, choosing_whose(c), tell, &t) == -1) {
		program_warn("%s", snap_errstr());
		good = false;
	}
	return good;
}
