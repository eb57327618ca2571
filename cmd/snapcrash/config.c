/*
 * Read the configuration: lines of a key and a value.
 */
#include "crash.h"
#include "bisect.h"

#include <strings.h>
#include <unistd.h>

struct key {
	const char	*name;
	bool		 (*set)(const struct key *, void *, const char *);
	size_t		 at;	/* offset of the value in struct config */
	uint64_t	 least;
	uint64_t	 most;	/* maximum value of a number, or size of the
				   buffer for a path */
	const char	*words[WITH_CGROUP + 1]; /* words accepted by
						    set_word() */
};

static bool
set_bytes(const struct key *k, void *to, const char *s)
{
	(void)k;
	return amount_bytes(s, to);
}

static bool
set_time(const struct key *k, void *to, const char *s)
{
	(void)k;
	return amount_read(s, "smhdw",
	    (const uint64_t[]){ 1, 60, 60, 24, 7 }, to);
}

static bool
set_number(const struct key *k, void *to, const char *s)
{
	uint64_t v;

	if (!amount_read(s, "", NULL, &v) || v < k->least || v > k->most)
		return false;
	*(uint64_t *)to = v;
	return true;
}

/*
 * Set *dst to the index of s among the words of key k. Return false if s is not
 * one of them.
 */
static bool
set_word(const struct key *k, void *dst, const char *s)
{
	unsigned int i;

	for (i = 0; i <= WITH_CGROUP && k->words[i] != NULL; i++)
		if (strcmp(s, k->words[i]) == 0) {
			*(unsigned int *)dst = i;
			return true;
		}
	return false;
}

static bool
set_room(const struct key *k, void *to, const char *s)
{
	struct room *r = to;
	unsigned int percent;
	char sign, more;

	(void)k;
	if (sscanf(s, "%3u%c%c", &percent, &sign, &more) == 2 && sign == '%' &&
	    percent > 0 && percent < 100) {
		r->percent = percent;
		return true;
	}
	if (!amount_bytes(s, &r->bytes))
		return false;
	r->percent = 0;
	return true;
}

static bool
set_path(const struct key *k, void *to, const char *s)
{
	return *s == '/' && strlen(s) < k->most &&
	    strlcpy(to, s, k->most) < k->most;
}

#define AT(member)	offsetof(struct config, member)
#define PATH(member)	set_path, AT(member), 0, \
			    sizeof ((struct config *)NULL)->member, { NULL }

static const struct key keys[] = {
	{ "at-once", set_number, AT(atonce), 1, 1000, { NULL } },
	{ "core-limit", set_word, AT(corelimit), 0, 0, { "no", "yes" } },
	{ "directory", PATH(directory) },
	{ "dontdump", set_word, AT(dontdump), 0, 0, { "no", "yes" } },
	{ "hook", PATH(hook) },
	{ "keep-age", set_time, AT(age), 0, 0, { NULL } },
	{ "keep-bytes", set_bytes, AT(bytes), 0, 0, { NULL } },
	{ "keep-count", set_number, AT(count), 1, UINT64_MAX, { NULL } },
	{ "keep-free", set_room, AT(free), 0, 0, { NULL } },
	{ "readable-by", set_word, AT(owner), 0, 0, { "root", "user" } },
	{ "socket", PATH(socket) },
	{ "waiting", set_number, AT(waiting), 0, 1000, { NULL } },
	{ "with", set_word, AT(companions), 0, 0, { [WITH_NONE] = "none",
	    [WITH_CHILDREN] = "children", [WITH_PARENT] = "parent",
	    [WITH_CGROUP] = "cgroup" } },
};

/*
 * Set key to value in c. Return 0, or -1 with errstr set.
 */
static int
config_set(struct config *c, char *key, char *value)
{
	const struct key *k = SEEK_IN(keys, strcmp(key, x->name) == 0);
	char *s;

	if (k != NULL)
		return k->set(k, (char *)c + k->at, value) ? 0 :
		    errstr_set("%s: invalid value \"%s\"", key,
		    text_sanitize(value));
	/* suggest a key that differs in case or underscores */
	text_sanitize(key);
	for (s = key; (s = strchr(s, '_')) != NULL;)
		*s = '-';
	if ((k = SEEK_IN(keys, strcasecmp(key, x->name) == 0)) != NULL)
		return errstr_set("did you mean %s?", k->name);
	return errstr_set("unknown key \"%s\"; see snapcrash.conf(5)", key);
}

/*
 * Return true if only root can have written configuration file f. This matters
 * because the hook that f names runs as root. If we are not root, return true
 * for any file.
 */
static bool
config_istrusted(FILE *f)
{
	struct stat st;

	return fstat(fileno(f), &st) == 0 && (geteuid() != 0 ||
	    (st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0));
}

/*
 * Split line into a key and its value. Return false if the line is empty.
 */
static bool
line_divide(char *line, char **key, char **value)
{
	size_t len;

	line[strcspn(line, "#\n")] = '\0';
	*key = line + strspn(line, " \t");
	*value = *key + strcspn(*key, " \t=");
	if (**key == '\0')
		return false;
	if (**value != '\0')
		*(*value)++ = '\0';
	*value += strspn(*value, " \t=");
	for (len = strlen(*value); len > 0 &&
	    strchr(" \t", (*value)[len - 1]) != NULL; len--)
		(*value)[len - 1] = '\0';
	return true;
}

/*
 * Set *c to the defaults and then to the values in the file at path. Print a
 * warning for each invalid line, and ignore the line. Return 0, or 1 if there
 * were such lines. If the file cannot be read, or if users other than root may
 * write to it (EPERM), use only the defaults, and return -1 with errstr and
 * errno set.
 */
int
config_read(struct config *c, const char *path)
{
	char *line = NULL, *key, *value;
	size_t size = 0, n;
	FILE *f;
	int rc;

	*c = (struct config){ .atonce = 4, .waiting = 16, .count = 100,
	    .bytes = UINT64_C(10) << 30, .free.percent = 10,
	    .corelimit = true };
	strlcpy(c->directory, "/var/lib/snapcrash", sizeof c->directory);
	strlcpy(c->socket, "/run/snapcrash.socket", sizeof c->socket);
	if ((f = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	rc = 0;
	if (!config_istrusted(f))
		rc = errstr_set(
		    "%s: writable by users other than root; ignored", path);
	for (n = 1; rc != -1 && getline(&line, &size, f) != -1; n++)
		if (line_divide(line, &key, &value) &&
		    config_set(c, key, value) == -1) {
			program_warn("%s:%zu: %s", path, n, snap_errstr());
			rc = 1;
		}
	free(line);
	fclose(f);
	errno = rc == -1 ? EPERM : 0;
	return rc;
}
