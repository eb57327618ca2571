/*
 * What fdinfo tells of every descriptor: proc_pid_fdinfo(5).
 */
#include "state.h"

#include <string.h>

/*
 * Take a text of fdinfo apart: *f is all zero but for what it tells.
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
		f->told = true;
		f->flags = (unsigned int)v;
	}
	t = scan_begin(text, len);
	if (scan_key(&t, "mnt_id:", &value))
		(void)scan_number(&value, 10, &f->mount);
	t = scan_begin(text, len);
	f->lock = scan_key(&t, "lock:", &value);
}
