/*
 * Parse the lists of mounts in records: proc_pid_mountinfo(5).
 */
#include "facts.h"
#include "bisect.h"

enum { MAX_MOUNTS = 8192 };	/* maximum number of mounts in a list; each is
				   compared with all others */

/*
 * File systems that criu can mount, with their codes in images:
 * images/mnt.proto and criu/filesystems.c.
 */
static const struct type {
	const char	*name;
	unsigned int	 code;
} types[] = {
	{ "proc", MAKEPROC }, { "sysfs", 2 }, { "devtmpfs", 3 },
	{ "binfmt_misc", 4 },
	{ "tmpfs", MAKETMPFS }, { "devpts", 6 }, { "pstore", 8 },
	{ "securityfs", 9 }, { "fusectl", 10 }, { "debugfs", 11 },
	{ "cgroup", 12 }, { "mqueue", MAKEMQUEUE }, { "tracefs", 19 },
	{ "cgroup2", 23 }
};

/*
 * Options of a mount or a file system that are flags of mount(2).
 */
static const struct option {
	const char	*name;
	uint32_t	 mount;
	uint32_t	 system;
} options[] = {
	{ "rw", 0, 0 }, { "ro", 1, 1 }, { "nosuid", 2, 0 }, { "nodev", 4, 0 },
	{ "noexec", 8, 0 }, { "noatime", 1 << 10, 0 },
	{ "nodiratime", 1 << 11, 0 }, { "relatime", 1 << 21, 0 },
	{ "sync", 0, 16 }, { "dirsync", 0, 128 }, { "mand", 0, 64 }
};

enum {				/* flags of mount(2) beyond those in the
				   table */
	NOATIME = 1 << 10, UNBINDABLE = 1 << 17,
	SHARED = 1 << 20, RELATIME = 1 << 21, STRICTATIME = 1 << 24
};

/*
 * Set t->flags, t->mapped and t->lost from list, the comma-separated options of
 * the mount.
 */
static void
flags_set(struct makemount *t, char *list)
{
	const struct option *o;
	char *s;

	while ((s = strsep(&list, ",")) != NULL) {
		o = SEEK_IN(options, strcmp(x->name, s) == 0);
		if (o != NULL)
			t->flags |= o->mount;
		else if (strcmp(s, "idmapped") == 0)
			t->mapped = true;
		else
			t->lost = s;
	}
	if ((t->flags & (RELATIME | NOATIME)) == 0)
		t->flags |= STRICTATIME;
}

/*
 * Set t->system from list, the options of a file system. Move the options that
 * are not flags to the front of list. Point t->options to them.
 */
static void
system_set(struct makemount *t, char *list)
{
	const struct option *o;
	char *s, *next, *out;
	size_t n;

	for (out = list, next = list; (s = strsep(&next, ",")) != NULL;) {
		o = SEEK_IN(options, strcmp(x->name, s) == 0 &&
		    (x->mount == 0 || x->system != 0));
		if (o != NULL) {
			t->system |= o->system;
			continue;
		}
		n = strlen(s);
		if (out != list)
			*out++ = ',';
		memmove(out, s, n);
		out += n;
	}
	*out = '\0';
	t->options = list;
}

/*
 * Parse line, a line of mountinfo, into t. The line has six fields, then
 * optional fields up to a hyphen, then three fields. The line is modified, and
 * t points into it. Return false if the line is malformed.
 */
static bool
line_parse(struct makemount *t, char *line)
{
	const struct type *type;
	unsigned int major, minor;
	char *f[6], *s;
	size_t i;

	memset(t, 0, sizeof *t);
	for (i = 0; i < 6; i++)
		if ((f[i] = strsep(&line, " ")) == NULL)
			return false;
	if (sscanf(f[0], "%" SCNu32, &t->id) != 1 ||
	    sscanf(f[1], "%" SCNu32, &t->parent) != 1 ||
	    sscanf(f[2], "%u:%u", &major, &minor) != 2)
		return false;
	t->dev = (uint64_t)major << 20 | (minor & 0xfffff);
	snprintf(t->archive, sizeof t->archive, "mounts/tmpfs/%x:%x", major,
	    minor);
	t->root = text_unescape(f[3]);
	t->point = text_unescape(f[4]);
	flags_set(t, f[5]);
	while ((s = strsep(&line, " ")) != NULL && strcmp(s, "-") != 0)
		if (sscanf(s, "shared:%" SCNu32, &t->shared) == 1)
			t->flags |= SHARED;
		else if (sscanf(s, "master:%" SCNu32, &t->master) == 1)
			t->flags |= MAKESLAVE;
		else if (strcmp(s, "unbindable") == 0)
			t->flags |= UNBINDABLE;
	for (i = 0; i < 3; i++)
		if ((f[i] = strsep(&line, " ")) == NULL)
			return false;
	t->type = f[0];
	t->source = text_unescape(f[1]);
	system_set(t, text_unescape(f[2]));
	type = SEEK_IN(types, strcmp(x->name, t->type) == 0);
	t->code = type == NULL ? 0 : type->code;
	/* the root of a mount of nsfs is a name such as net:[4026531840] */
	return (*t->root == '/' || strcmp(t->type, "nsfs") == 0) &&
	    *t->point == '/';
}

/*
 * Append the list of mounts in the file called name in t's record to *l. Return
 * 0, or -1 with errstr set.
 */
int
makemounts_read(struct criumake *m, struct makemounts *l, struct maketask *t,
    const char *name)
{
	const size_t before = l->n;
	char *line, *next;

	if ((next = words_text(&m->pool, &t->rec, name)) == NULL)
		return errstr_set("process %" PRIu64 ": no %s", t->proc->pid,
		    name);
	while ((line = strsep(&next, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		if (POOL_ROOM(&m->pool, l->v, l->n) == -1)
			return -1;
		if (l->n == MAX_MOUNTS)
			return errstr_set("process %" PRIu64 ": %s: more than "
			    "%d mounts", t->proc->pid, name, MAX_MOUNTS);
		if (!line_parse(&l->v[l->n++], line))
			return errstr_set("process %" PRIu64 ": %s: line %zu: "
			    "not a mount", t->proc->pid, name, l->n - before);
		l->v[l->n - 1].in = t;
	}
	return 0;
}
