/*
 * Read and write small files.
 */
#include "crash.h"

/*
 * Read the first line of the file at path into s, which has room for size
 * bytes. Leave out the newline. Return 0, or -1 with errstr set.
 */
int
line_read(const char *path, char *s, size_t size)
{
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	if (fgets(s, (int)size, f) == NULL)
		*s = '\0';
	fclose(f);
	s[strcspn(s, "\n")] = '\0';
	return 0;
}

/*
 * Write a file at path, with contents formatted as by printf(3). Return 0, or
 * -1 with errstr set.
 */
int
file_write(const char *path, const char *fmt, ...)
{
	va_list ap;
	FILE *f;
	int rc;

	if ((f = fopen(path, "we")) == NULL)
		return errstr_sys("%s", path);
	va_start(ap, fmt);
	rc = vfprintf(f, fmt, ap);
	va_end(ap);
	return fclose(f) == EOF || rc < 0 ? errstr_sys("%s", path) : 0;
}

/*
 * Find the line "KEY:VALUE" with the given key in the file at path. Copy the
 * value to value, which has room for size bytes. Return false if there is no
 * such line.
 */
bool
file_line(const char *path, const char *key, char *value, size_t size)
{
	const size_t len = strlen(key);
	char line[PATH_MAX + 32];
	bool found;
	FILE *f;

	found = false;
	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (!found && fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, key, len) == 0 && line[len] == ':') {
			strlcpy(value, line + len + 1, size);
			found = true;
		}
	}
	fclose(f);
	return found;
}
