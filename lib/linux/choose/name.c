/*
 * Choose processes by their names, as ps(1) shows them, and by their users.
 */
#include "choose.h"
#include "linux/proxy/proxy.h"

#include <pwd.h>
#include <unistd.h>

struct byname {
	const char	*name;		/* name to look for; NULL: any name */
	struct chosen	 to;
};

/*
 * Parse s, the name or number of a user, and set *uid to the user ID. Return 0,
 * or -1 with errstr set.
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
 * Return the users whose processes are to be chosen. If user is not NULL,
 * choose only *user. Otherwise choose all users if we are root or have
 * CAP_SYS_PTRACE; if not, choose only our own user.
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
 * Return 1 if the effective user of process pid is one of w, otherwise 0.
 * Return -1 if the process does not exist or is a kernel thread.
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
 * Choose or skip process pid, which a search has found. The argument chosen
 * points to a struct chosen. If the process belongs to a chosen user, increment
 * the member "found" of that struct, call its callback, and return the
 * callback's result. If the process belongs to another user, increment
 * "foreign", and return 0. Also return 0 for our own process, our proxies, and
 * kernel threads.
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
 * Set errstr to say that no process was found. Include the number of processes
 * that belong to other users. verb and object end the message, for example "is
 * called" and "nginx". Return -1.
 */
int
chosen_none(const struct chosen *c, const char *verb, const char *object)
{
	char user[32], others[64];

	*others = '\0';
	if (c->foreign > 0)
		snprintf(others, sizeof others, " (%zu of others)",
		    c->foreign);
	if (c->whose.asked) {
		user_name(c->whose.uid, user, sizeof user);
		return errstr_set("no process of %s %s %s%s", user, verb,
		    object, others);
	}
	return errstr_set("no process %s%s %s%s", c->foreign > 0 ? "of yours " :
	    "", verb, object, others);
}

enum { COMMLEN = 15 };		/* maximum length of the kernel's name of a
				   process, in bytes */

/*
 * Return true if the comm file of process pid contains name, cut to COMMLEN
 * bytes, and a newline. Reading stat could wait for execve(2).
 */
static bool
has_comm(pid_t pid, const char *name)
{
	const size_t len = strnlen(name, COMMLEN);
	struct bytes b;
	bool is;

	if (proc_read(pid, 0, "comm", &b) == -1)
		return false;
	is = b.len == len + 1 && memcmp(b.data, name, len) == 0;
	free(b.data);
	return is;
}

/*
 * Return true if process pid is called name. The kernel keeps only 15 bytes of
 * a name, so a longer name is compared with the command line.
 */
static bool
is_called(pid_t pid, const char *name)
{
	struct bytes b;
	char *path, *last;
	bool is;

	if (!has_comm(pid, name))
		return false;
	if (strlen(name) <= COMMLEN)
		return true;
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
 * Call fn(arg, pid) for each process called name, or for each process if name
 * is NULL. Skip this process and kernel threads. Stop when fn returns -1. If
 * user is not NULL, choose only processes of *user. If user is NULL, choose the
 * processes of all users if we are root or have CAP_SYS_PTRACE; if not, choose
 * only those of our own user. Return 0. Return -1 with errstr set on failure,
 * or if there is no such process.
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
