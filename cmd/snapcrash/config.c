/*
 * The configuration: lines of a key and a value.
 */
#include "crash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Set *v to a number with a unit behind it, of which units has the letters and
 * each is so many of the one before as scale tells; false if it is none.
 */
static bool
amount(const char *s, const char *units, const uint64_t *scale, uint64_t *v)
{
	const char *unit;
	uint64_t n;
	char *end;
	size_t i;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (end == s || *s == '-' || errno != 0)
		return false;
	if (*end != '\0') {
		if (end[1] != '\0' || (unit = strchr(units, *end)) == NULL)
			return false;
		for (i = 0; i <= (size_t)(unit - units); i++)
			if (__builtin_mul_overflow(n, scale[i], &n))
				return false;
	}
	*v = n;
	return true;
}

static bool
amount_bytes(const char *s, uint64_t *v)
{
	static const uint64_t scale[] = { 1024, 1024, 1024, 1024 };

	return amount(s, "KMGT", scale, v);
}

static bool
amount_time(const char *s, uint64_t *v)
{
	static const uint64_t scale[] = { 1, 60, 60, 24, 7 };

	return amount(s, "smhdw", scale, v);
}

static bool
kin_set(const char *s, enum kin *k)
{
	static const char *const words[] = {
		[KIN_NONE] = "none", [KIN_CHILDREN] = "children",
		[KIN_PARENT] = "parent", [KIN_CGROUP] = "cgroup"
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(s, words[i]) == 0) {
			*k = (enum kin)i;
			return true;
		}
	return false;
}

static bool
free_set(struct config *c, const char *s)
{
	unsigned int percent;
	char sign, more;

	if (sscanf(s, "%3u%c%c", &percent, &sign, &more) == 2 && sign == '%' &&
	    percent > 0 && percent < 100) {
		c->percent = percent;
		return true;
	}
	if (!amount_bytes(s, &c->free))
		return false;
	c->percent = 0;
	return true;
}

static bool
path_set(char *to, size_t size, const char *s)
{
	return *s == '/' && strlcpy(to, s, size) < size;
}

/*
 * Set what a line of the configuration says; false if it says nothing that is
 * known.
 */
static bool
config_set(struct config *c, const char *key, const char *value)
{
	if (strcmp(key, "directory") == 0)
		return path_set(c->directory, sizeof c->directory, value);
	if (strcmp(key, "hook") == 0)
		return path_set(c->hook, sizeof c->hook, value);
	if (strcmp(key, "with") == 0)
		return kin_set(value, &c->kin);
	if (strcmp(key, "socket") == 0)
		return path_set(c->socket, sizeof c->socket, value);
	if (strcmp(key, "at-once") == 0)
		return amount(value, "", NULL, &c->atonce) && c->atonce > 0 &&
		    c->atonce <= 1000;
	if (strcmp(key, "waiting") == 0)
		return amount(value, "", NULL, &c->waiting) &&
		    c->waiting <= 1000;
	if (strcmp(key, "keep-count") == 0)
		return amount(value, "", NULL, &c->count) && c->count > 0;
	if (strcmp(key, "keep-bytes") == 0)
		return amount_bytes(value, &c->bytes);
	if (strcmp(key, "keep-age") == 0)
		return amount_time(value, &c->age);
	if (strcmp(key, "keep-free") == 0)
		return free_set(c, value);
	if (strcmp(key, "merge") == 0) {
		c->merge = strcmp(value, "yes") == 0;
		return c->merge || strcmp(value, "no") == 0;
	}
	if (strcmp(key, "readable-by") == 0) {
		c->owner = strcmp(value, "user") == 0;
		return c->owner || strcmp(value, "root") == 0;
	}
	return false;
}

/*
 * Set *c to what the file path says, and to what holds where it says nothing.
 * Where it is wrong, that is told, and the other lines hold: a crash is taken
 * all the same.  Return -1 with errstr if there is no such file.
 */
int
config_read(struct config *c, const char *path)
{
	char *line = NULL, *key, *value;
	size_t size = 0, n;
	ssize_t len;
	FILE *f;

	*c = (struct config){ .atonce = 4, .waiting = 16, .count = 100,
	    .bytes = UINT64_C(10) << 30, .percent = 10 };
	strlcpy(c->directory, "/var/lib/snapcrash", sizeof c->directory);
	strlcpy(c->socket, "/run/snapcrash.socket", sizeof c->socket);
	if ((f = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	for (n = 1; (len = getline(&line, &size, f)) != -1; n++) {
		line[strcspn(line, "#\n")] = '\0';
		key = line + strspn(line, " \t");
		value = key + strcspn(key, " \t=");
		if (*key == '\0')
			continue;
		if (*value != '\0')
			*value++ = '\0';
		value += strspn(value, " \t=");
		for (len = (ssize_t)strlen(value); len > 0 &&
		    strchr(" \t", value[len - 1]) != NULL; len--)
			value[len - 1] = '\0';
		if (!config_set(c, key, value))
			program_warn("%s:%zu: \"%s\" cannot be \"%s\"", path,
			    n, text_harmless(key), text_harmless(value));
	}
	free(line);
	fclose(f);
	return 0;
}
