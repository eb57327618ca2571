/*
 * Describe the descriptors on which a system call waits: the files they lead
 * to, and for some what these wait for.
 */
#include "waits.h"

enum { SHOWN = 4 };		/* maximum number of descriptors listed */

/*
 * Append to the text of c the addresses or the path of the socket that the open
 * file description with ID id refers to.
 */
static void
put_description(struct call *c, uint64_t id)
{
	static const struct {
		const char	*key;
		const char	*before;
	} shown_keys[] = { { "local ", ", " }, { "remote ", " to " },
	    { "path ", ", " } };
	const struct target *t = c->u->target;
	bool known;
	const char *value;
	struct recfile f;
	char name[64];
	size_t i, len;

	snprintf(name, sizeof name, "file/%" PRIu64, id);
	/* it is in the record of the first process that has it */
	known = linuxrec_find(t->rec, name, &f);
	for (i = 0; !known && i < t->snap->nproc; i++)
		known = proc_isprocess(t->snap->proc[i]) &&
		    linuxrec_find(proc_record(t->snap->proc[i]), name, &f);
	if (!known)
		return;
	for (i = 0; i < sizeof shown_keys / sizeof *shown_keys; i++) {
		value = recfile_value(&f, shown_keys[i].key, &len);
		if (value == NULL)
			continue;
		buf_puts(c->b, shown_keys[i].before);
		buf_add(c->b, value, len);
	}
}

/*
 * Append descriptor number fd and the name of its file to the text of c. If the
 * file is a socket, also append its addresses. Return false if the file is not
 * known.
 */
static bool
put_leads(struct call *c, int fd)
{
	const struct target *t = c->u->target;
	struct recfile f;
	char name[32];
	uint64_t id;

	buf_printf(c->b, "%d", fd);
	snprintf(name, sizeof name, "fd/%d", fd);
	if (!linuxrec_find(t->rec, name, &f))
		return false;
	buf_printf(c->b, " (%.*s", (int)f.len, (const char *)f.data);
	if (f.len > 7 && memcmp(f.data, "socket:", 7) == 0 &&
	    linuxrec_opened(t->rec, (uint64_t)fd, &id))
		put_description(c, id);
	buf_puts(c->b, ")");
	return true;
}

/*
 * Append to the text of c what the fdinfo of descriptor number fd says
 * (proc_pid_fdinfo(5)): for an epoll(7) set, the descriptors that it watches;
 * for a timerfd_create(2) timer, the time until it expires.
 */
static void
put_info(struct call *c, int fd)
{
	struct recfile f;
	char name[32], *text, *line, *rest;
	uint64_t s, ns;
	unsigned int n;
	int watched;

	snprintf(name, sizeof name, "fdinfo/%d", fd);
	if (!linuxrec_find(c->u->target->rec, name, &f) ||
	    (text = strndup((const char *)f.data, f.len)) == NULL)
		return;
	for (rest = text, n = 0; (line = strsep(&rest, "\n")) != NULL;) {
		if (sscanf(line, "it_value: (%" SCNu64 ", %" SCNu64 ")", &s,
		    &ns) == 2 && ns < 1000000000 && (s != 0 || ns != 0))
			buf_printf(c->b, ", in %" PRIu64 ".%03" PRIu64 " s", s,
			    ns / 1000000);
		if (sscanf(line, "tfd: %d", &watched) != 1 || n++ >= SHOWN)
			continue;
		buf_puts(c->b, n == 1 ? " of " : ", ");
		put_leads(c, watched);
	}
	if (n > SHOWN)
		buf_printf(c->b, " and %u more", n - SHOWN);
	free(text);
}

/*
 * Append descriptor number fd and the name of its file to the text of c. If the
 * file is a socket, also append its addresses. If the file itself waits for
 * something, also append that.
 */
void
put_descriptor(struct call *c, int fd)
{
	if (put_leads(c, fd))
		put_info(c, fd);
}

/*
 * Append the descriptors of a poll(2) call to the text of c.
 */
void
put_poll(struct call *c)
{
	enum { MAX_FDS = 4 * KB };
	uint64_t i, n, fd;
	unsigned int asked;

	n = (uint32_t)c->arg[1];
	for (i = 0, asked = 0; i < n && i < MAX_FDS; i++) {
		if (!target_word(c->u->target, c->arg[0] + 8 * i, 4, &fd))
			return;
		if ((int)fd < 0 || asked++ >= SHOWN)
			continue;
		buf_puts(c->b, asked == 1 ? " of " : ", ");
		put_descriptor(c, (int)fd);
	}
	if (n > MAX_FDS)
		buf_puts(c->b, " and more");
	else if (asked > SHOWN)
		buf_printf(c->b, " and %u more", asked - SHOWN);
}

/*
 * Append the descriptors of a select(2) call to the text of c.
 */
void
put_select(struct call *c)
{
	enum { MAX_FDS = 4 * KB };
	uint8_t set[MAX_FDS / 8], any[MAX_FDS / 8] = { 0 };
	unsigned int i, k, n, fd, shown;

	n = (uint32_t)c->arg[0] < MAX_FDS ? (unsigned int)c->arg[0] : MAX_FDS;
	for (i = 1; i <= 3; i++)
		if (c->arg[i] != 0 && target_read(c->u->target, c->arg[i],
		    set, (n + 7) / 8))
			for (k = 0; k < (n + 7) / 8; k++)
				any[k] |= set[k];
	for (shown = 0, fd = 0; fd < n; fd++) {
		if ((any[fd / 8] >> fd % 8 & 1) == 0)
			continue;
		if (shown++ >= SHOWN) {
			buf_puts(c->b, " and more");
			break;
		}
		buf_puts(c->b, shown == 1 ? " of " : ", ");
		put_descriptor(c, (int)fd);
	}
}

/*
 * Append to the text of c the descriptors of an old 386 select(2) call. The
 * arguments of this call are in memory.
 */
void
put_oldselect(struct call *c)
{
	const uint64_t at = c->arg[0];
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (!target_word(c->u->target, at + 4 * i, 4, &c->arg[i]))
			return;
	put_select(c);
}
