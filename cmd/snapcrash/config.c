/*
 * The configuration: lines of a key and a value.
 */
#include "crash.h"

#include <sys/stat.h>

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
set_bytes(struct config *c, void *to, const char *s)
{
	(void)c;
	return amount_bytes(s, to);
}

static bool
set_time(struct config *c, void *to, const char *s)
{
	(void)c;
	return amount_read(s, "smhdw",
	    (const uint64_t[]){ 1, 60, 60, 24, 7 }, to);
}

static bool
set_count(struct config *c, void *to, const char *s)
{
	(void)c;
	return amount_read(s, "", NULL, to) && *(uint64_t *)to > 0;
}

static bool
set_few(struct config *c, void *to, const char *s)
{
	(void)c;
	return amount_read(s, "", NULL, to) && *(uint64_t *)to <= 1000;
}

static bool
set_some(struct config *c, void *to, const char *s)
{
	return set_few(c, to, s) && *(uint64_t *)to > 0;
}

static bool
set_kin(struct config *c, void *to, const char *s)
{
	static const char *const words[] = {
		[KIN_NONE] = "none", [KIN_CHILDREN] = "children",
		[KIN_PARENT] = "parent", [KIN_CGROUP] = "cgroup"
	};
	size_t i;

	(void)to;
	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(s, words[i]) == 0) {
			c->kin = (enum kin)i;
			return true;
		}
	return false;
}

static bool
set_free(struct config *c, void *to, const char *s)
{
	unsigned int percent;
	char sign, more;

	if (sscanf(s, "%3u%c%c", &percent, &sign, &more) == 2 && sign == '%' &&
	    percent > 0 && percent < 100) {
		c->percent = percent;
		return true;
	}
	if (!set_bytes(c, to, s))
		return false;
	c->percent = 0;
	return true;
}

static bool
set_path(struct config *c, void *to, const char *s)
{
	const size_t size = to == c->socket ? sizeof c->socket : PATH_MAX;

	return *s == '/' && strlcpy(to, s, size) < size;
}

static bool
set_yes(struct config *c, void *to, const char *s)
{
	(void)c;
	*(bool *)to = strcmp(s, "yes") == 0;
	return *(bool *)to || strcmp(s, "no") == 0;
}

static bool
set_reader(struct config *c, void *to, const char *s)
{
	(void)to;
	c->owner = strcmp(s, "user") == 0;
	return c->owner || strcmp(s, "root") == 0;
}

#define KEY(name, set, member) { name, set, offsetof(struct config, member) }

static const struct key {
	const char	*name;
	bool		 (*set)(struct config *, void *, const char *);
	size_t		 at;	/* of what it sets, in struct config */
} keys[] = {
	KEY("at-once", set_some, atonce),
	KEY("core-limit", set_yes, corelimit),
	KEY("directory", set_path, directory),
	KEY("dontdump", set_yes, dontdump),
	KEY("hook", set_path, hook),
	KEY("keep-age", set_time, age),
	KEY("keep-bytes", set_bytes, bytes),
	KEY("keep-count", set_count, count),
	KEY("keep-free", set_free, free),
	KEY("readable-by", set_reader, owner),
	KEY("socket", set_path, socket),
	KEY("waiting", set_few, waiting),
	KEY("with", set_kin, kin),
};

enum { NKEYS = sizeof keys / sizeof *keys };

/*
 * Return how many characters must be inserted, removed or replaced to make b of
 * a, which has less than 32 characters: Levenshtein's distance.  The case of
 * letters does not matter.
 */
static size_t
distance(const char *a, const char *b)
{
	size_t row[32], i, k, before, diagonal;
	const size_t n = strlen(a);

	for (i = 0; i <= n; i++)
		row[i] = i;
	for (k = 1; b[k - 1] != '\0'; k++) {
		diagonal = row[0];
		row[0] = k;
		for (i = 1; i <= n; i++) {
			before = row[i];
			row[i] = diagonal + (tolower((unsigned char)a[i - 1]) !=
			    tolower((unsigned char)b[k - 1]));
			if (before + 1 < row[i])
				row[i] = before + 1;
			if (row[i - 1] + 1 < row[i])
				row[i] = row[i - 1] + 1;
			diagonal = before;
		}
	}
	return row[n];
}

/*
 * Return the key that is most like a word that is none; NULL if none is.
 */
static const char *
key_like(const char *word)
{
	const char *like = NULL;
	size_t i, far, least = 3;

	for (i = 0; i < NKEYS; i++)
		if ((far = distance(keys[i].name, word)) < least) {
			least = far;
			like = keys[i].name;
		}
	return like;
}

/*
 * Set in c what a line says.  Return 0, or -1 with errstr.
 */
static int
config_set(struct config *c, char *key, char *value)
{
	const struct config was = *c;
	const char *like;
	size_t i;

	for (i = 0; i < NKEYS && strcmp(key, keys[i].name) != 0;)
		i++;
	if (i < NKEYS && keys[i].set(c, (char *)c + keys[i].at, value))
		return 0;
	*c = was;
	if (i < NKEYS)
		return errstr_set("%s cannot be \"%s\"", key,
		    text_harmless(value));
	if ((like = key_like(key)) != NULL)
		return errstr_set("no key \"%s\": %s is meant?",
		    text_harmless(key), like);
	return errstr_set("no key \"%s\": snapcrash(1) has them",
	    text_harmless(key));
}

/*
 * Return true if nobody but root may have written the configuration that is
 * open as f: root runs its hook.  Who is not root may have one of his own.
 */
static bool
config_istrusted(FILE *f)
{
	struct stat st;

	return fstat(fileno(f), &st) == 0 && (geteuid() != 0 ||
	    (st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0));
}

/*
 * Divide a line into a key and its value.  Return false if it is empty.
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
 * Set *c to what the file path says, and to what holds where it says nothing.
 * Warn of each line that is wrong.  Return 0; 1 if there were wrong lines, and
 * the others hold; -1 with errstr and errno if the file cannot be read, or if
 * others than root may write it (EPERM), and no line holds.
 */
int
config_read(struct config *c, const char *path)
{
	char *line = NULL, *key, *value;
	size_t size = 0, n;
	FILE *f;
	int rc;

	*c = (struct config){ .atonce = 4, .waiting = 16, .count = 100,
	    .bytes = UINT64_C(10) << 30, .percent = 10, .corelimit = true };
	strlcpy(c->directory, "/var/lib/snapcrash", sizeof c->directory);
	strlcpy(c->socket, "/run/snapcrash.socket", sizeof c->socket);
	if ((f = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	rc = 0;
	if (!config_istrusted(f))
		rc = errstr_set("%s: others than root may write it: nothing of "
		    "it holds", path);
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
