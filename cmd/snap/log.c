/*
 * Follow a log: find lines that are appended to a file and match a regular
 * expression.
 */
#include "job.h"

#include <fcntl.h>
#include <regex.h>
#include <unistd.h>

enum {
	MAX_LINE = 64 * KB,	/* a longer line is matched in pieces */
	MAX_PIECES = 64		/* maximum number of pieces read at a time */
};

struct log {
	char	*path;		/* borrowed */
	regex_t	 wanted;	/* owned */
	int	 fd;		/* owned */
	struct buf line;	/* owned; the line whose end was not read yet */
	bool	 over;		/* it is a pipe without writers, and has no
				   other name to be opened by */
};

/*
 * Open the log file of l. If end is true, start at its end. Return 0, or -1
 * with errstr set.
 */
static int
log_reopen(struct log *l, bool end)
{
	struct stat st;
	int fd;

	fd = open(l->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return errstr_sys("%s", l->path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return errstr_set("%s: is a directory", l->path);
	}
	if (end)
		(void)lseek(fd, 0, SEEK_END); /* fails for a pipe */
	fd_drop(l->fd);
	l->fd = fd;
	l->line.len = 0;
	return 0;
}

/*
 * Follow the log that arg names: FILE:REGEX, where REGEX is an extended regular
 * expression. arg is modified and borrowed. Return the log, or NULL with errstr
 * set.
 */
struct log *
log_open(char *arg)
{
	struct log *l = must(calloc(1, sizeof *l));
	char why[200];
	int rc = -1;

	l->fd = -1;
	l->path = strsep(&arg, ":");
	if (*l->path == '\0' || arg == NULL || *arg == '\0')
		(void)errstr_set("use log=FILE:REGEX");
	else if ((rc = regcomp(&l->wanted, arg, REG_EXTENDED |
	    REG_NOSUB)) != 0) {
		regerror(rc, &l->wanted, why, sizeof why);
		(void)errstr_set("\"%s\": %s", arg, why);
	} else if ((rc = log_reopen(l, true)) == -1)
		regfree(&l->wanted);
	if (rc == 0)
		return l;
	free(l);
	return NULL;
}

/*
 * Match the lines in l->line, and remove them. If one matches, copy it to text,
 * which has room for n bytes, and return true.
 */
static bool
lines_match(struct log *l, char *text, size_t n)
{
	char *s = (char *)l->line.data, *end = s + l->line.len, *stop, *nul;
	bool found = false;

	for (; s < end; s = stop + 1) {
		stop = memchr(s, '\n', (size_t)(end - s));
		if (stop == NULL && end - s < MAX_LINE)
			break;
		if (stop == NULL)
			stop = end - 1;
		*stop = '\0';
		/* a string ends at a NUL */
		for (nul = s; (nul = memchr(nul, '\0',
		    (size_t)(stop - nul))) != NULL;)
			*nul = ' ';
		if (found || regexec(&l->wanted, s, 0, NULL, 0) != 0)
			continue;
		found = true;
		strlcpy(text, s, n);
		(void)text_sanitize(text);
	}
	l->line.len = (size_t)(end - s);
	memmove(l->line.data, s, l->line.len);
	return found;
}

/*
 * Check whether the file of l, which has been read to its end, was replaced or
 * truncated. If so, open the new file, or go to the start of the truncated one,
 * and return true. Otherwise, or on failure, return false.
 */
static bool
log_isnew(struct log *l)
{
	struct stat st, now;

	if (fstat(l->fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    stat(l->path, &now) == -1)
		return false;
	if (st.st_dev != now.st_dev || st.st_ino != now.st_ino)
		return log_reopen(l, false) == 0;
	if (st.st_size >= lseek(l->fd, 0, SEEK_CUR))
		return false;
	l->line.len = 0;
	return lseek(l->fd, 0, SEEK_SET) == 0;
}

/*
 * Add n bytes at data to the file's bytes that were not matched yet. If a line
 * matches, copy it to text, which has room for size bytes, and return true.
 */
static bool
piece_match(struct log *l, const char *data, size_t n, char *text, size_t size)
{
	buf_add(&l->line, data, n);
	must_do(buf_check(&l->line));
	return lines_match(l, text, size);
}

/*
 * Read the bytes appended to the log file of l, at most MAX_PIECES pieces. If
 * lines match, copy the first of them to text, which has room for n bytes, and
 * return true.
 */
bool
log_look(struct log *l, char *text, size_t n)
{
	char piece[16 * KB];
	bool found = false;
	struct stat st;
	ssize_t got;
	int i = 0;

	do
		while (i++ < MAX_PIECES &&
		    (got = read(l->fd, piece, sizeof piece)) > 0)
			found |= piece_match(l, piece, (size_t)got, text,
			    found ? 0 : n);
	while (i <= MAX_PIECES && log_isnew(l));
	if (i <= MAX_PIECES && got == 0 && !l->over &&
	    strcmp(l->path, "/dev/stdin") == 0 && fstat(l->fd, &st) == 0 &&
	    S_ISFIFO(st.st_mode)) {
		l->over = true;
		found |= piece_match(l, "\n", 1, text, found ? 0 : n);
	}
	return found;
}

/*
 * Return true if l is a pipe whose writers have ended.
 */
bool
log_isover(const struct log *l)
{
	return l->over;
}
