/*
 * Processes by their names, as ps(1) shows them, and by their users.
 */
#include "choose.h"
#include "linux/proxy/proxy.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct byname {
	const char	*name;		/* NULL: any */
	struct chosen	 to;
};

/*
 * Set *uid to the user that s names, or is the number of.  Return 0, or -1
 * with errstr.
 */
int
user_parse(const char *s, uid_t *uid)
{
	const struct passwd *pw;
	const char *why;

	if ((pw = getpwnam(s)) != NULL) {
		*uid = pw->pw_uid;
		return 0;
	}
	*uid = (uid_t)strtonum(s, 0, (uid_t)-2, &why);
	return why == NULL ? 0 : errstr_set("there is no user \"%s\"", s);
}

/*
 * Return whose processes are meant: those of *user, or where user is NULL,
 * those that we may look at.
 */
struct whose
whose_begin(const uid_t *user)
{
	struct whose w = { .asked = user != NULL };

	w.all = user == NULL && (geteuid() == 0 || proc_ismighty());
	w.uid = user != NULL ? *user : geteuid();
	return w;
}

/*
 * Return 1 if process pid is of whom w tells, by its effective user, and 0 if
 * not; -1 if there is none, or it is a thread of the kernel.
 */
int
whose_has(const struct whose *w, pid_t pid)
{
	struct bytes b;
	struct task t;
	uint64_t uid[2];
	size_t n;

	if (proc_stat(pid, 0, &t) == -1 || t.kernel)
		return -1;
	if (w->all)
		return 1;
	if (proc_read(pid, 0, "status", &b) == -1)
		return -1;
	n = status_list(b.data, b.len, "Uid", 10, uid, 2);
	free(b.data);
	return n < 2 ? -1 : uid[1] == w->uid;
}

/*
 * Tell fn of chosen, a struct chosen, of process pid, and count it as found,
 * or, if that does not mean it, count it as foreign; pass over this process and
 * its own.  Return what fn returned, or 0.
 */
int
chosen_found(void *chosen, pid_t pid)
{
	struct chosen *c = chosen;
	int has;

	if (pid == getpid() || proxy_isours(pid) ||
	    (has = whose_has(&c->whose, pid)) == -1)
		return 0;
	if (has == 0) {
		c->foreign++;
		return 0;
	}
	c->found++;
	return c->fn(c->arg, pid);
}

/*
 * Set errstr: there is no process of those that c means, though of others;
 * does is what it would do, "is called", and what its name.  Return -1.
 */
int
chosen_none(const struct chosen *c, const char *does, const char *what)
{
	char user[32], others[64];

	*others = '\0';
	if (c->foreign > 0)
		snprintf(others, sizeof others, " (%zu of others)",
		    c->foreign);
	if (c->whose.asked) {
		user_name(c->whose.uid, user, sizeof user);
		return errstr_set("no process of %s %s %s%s", user, does, what,
		    others);
	}
	return errstr_set("no process %s%s %s%s", c->foreign > 0 ? "of yours " :
	    "", does, what, others);
}

/*
 * Return true if a process has a name.  The kernel keeps 15 bytes of it; a
 * longer one is compared with what the process was started as.
 */
static bool
is_called(pid_t pid, const char *name)
{
	enum { COMMLEN = 15 };
	struct task t;
	struct bytes b;
	char *path, *last;
	bool is;

	if (proc_stat(pid, 0, &t) == -1 ||
	    strncmp(t.comm, name, COMMLEN) != 0)
		return false;
	if (strlen(name) <= COMMLEN)
		return strcmp(t.comm, name) == 0;
	if (proc_read(pid, 0, "cmdline", &b) == -1)
		return false;
	is = false;
	if (b.len > 0 && memchr(b.data, '\0', b.len) != NULL) {
		path = (char *)b.data;
		last = strrchr(path, '/');
		is = strcmp(last == NULL ? path : last + 1, name) == 0;
	}
	free(b.data);
	return is;
}

static int
byname_pid(void *arg, long pid)
{
	struct byname *by = arg;

	return by->name != NULL && !is_called((pid_t)pid, by->name) ? 0 :
	    chosen_found(&by->to, (pid_t)pid);
}

/*
 * Call fn, with arg before it, for each process of that name, or of any if it
 * is NULL, but for this one and threads of the kernel, until it returns -1:
 * those of *user, or where user is NULL, all for root and for others their own.
 * Return 0; -1 with errstr, also if there is none.
 */
int
proc_named(const char *name, const uid_t *user, choose_fn fn, void *arg)
{
	struct byname by = { name, { whose_begin(user), fn, arg, 0, 0 } };
	char quoted[80], owner[32];

	if (proc_list(0, NULL, byname_pid, &by) == -1)
		return -1;
	if (by.to.found > 0)
		return 0;
	if (name == NULL) {
		user_name(by.to.whose.uid, owner, sizeof owner);
		return errstr_set("user %s has no processes", owner);
	}
	snprintf(quoted, sizeof quoted, "\"%s\"", name);
	return chosen_none(&by.to, "is called", quoted);
}
