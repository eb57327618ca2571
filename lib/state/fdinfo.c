/*
 * Parse the lines of fdinfo common to all descriptors: proc_pid_fdinfo(5).
 */
#include "state.h"

/*
 * Parse text, len bytes of fdinfo, into *f. Members that are not in text become
 * zero.
 */
void
fdinfo_parse(struct fdinfo *f, const void *text, size_t len)
{
	struct scan t = scan_begin(text, len), value;
	uint64_t v;

	memset(f, 0, sizeof *f);
	if (scan_key(&t, "pos:", &value) && scan_number(&value, 10, &v))
		f->pos = (int64_t)v;
	t = scan_begin(text, len);
	if (scan_key(&t, "flags:", &value) && scan_number(&value, 8, &v)) {
		f->has_flags = true;
		f->flags = (unsigned int)v;
	}
	t = scan_begin(text, len);
	if (scan_key(&t, "mnt_id:", &value))
		(void)scan_number(&value, 10, &f->mount);
	t = scan_begin(text, len);
	f->lock = scan_key(&t, "lock:", &value);
}

/*
 * Parse a word from t. Return its index among the n words, or n if it is none
 * of them.
 */
static size_t
word_which(struct scan *t, const char *const *words, size_t n)
{
	char word[16];
	size_t i;

	(void)scan_word(t, word, sizeof word);
	for (i = 0; i < n && strcmp(words[i], word) != 0; i++)
		continue;
	return i;
}

/*
 * Parse the next lock of text, an fdinfo, into *l. The rest of its line, after
 * "lock:", is as in proc_locks(5). If the line is not understood, the kind of
 * the lock is LOCK_OTHER. Return false at the end.
 */
bool
filelock_next(struct scan *text, struct filelock *l)
{
	static const char *const kinds[] = { "POSIX", "FLOCK", "OFDLCK",
	    "LEASE" };
	static const char *const types[] = { "READ", "WRITE", "UNLCK" };
	static const char *const states[] = { "ADVISORY", "ACTIVE",
	    "BREAKING" };
	struct scan t;
	char word[24];
	uint64_t end;
	size_t kind, state, type;

	memset(l, 0, sizeof *l);
	if (!scan_key(text, "lock:", &t))
		return false;
	(void)scan_word(&t, word, sizeof word);
	kind = word_which(&t, kinds, 4);
	state = word_which(&t, states, 3);
	type = word_which(&t, types, 3);
	(void)scan_word(&t, word, sizeof word);	/* skip the process and the
						   inode */
	(void)scan_word(&t, word, sizeof word);
	if (kind == 4 || state == 3 || type == 3 ||
	    !scan_number(&t, 10, &l->start))
		return true;
	if (scan_number(&t, 10, &end)) {
		if (end < l->start || end == UINT64_MAX)
			return true;
		l->len = end - l->start + 1;
	}
	l->kind = (enum filelock_kind)(LOCK_POSIX + kind);
	l->type = type;
	l->breaking = state == 2;
	return true;
}
