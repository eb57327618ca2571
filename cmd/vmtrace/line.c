/*
 * Order and print lines of output. A fault is complete only when it ends, but
 * is printed in the order of its beginning. So lines wait for earlier open
 * faults, but not for long.
 */
#include "vmtrace.h"

enum { PATIENCE = 250000000 };	/* maximum time in ns that lines wait for an
				   open fault to end */

enum { MAX_HELD = 65536 };	/* maximum number of waiting lines */

/*
 * Append a line without text to o, for thread tid of process pid at the given
 * time in nanoseconds. Return the line.
 */
struct line *
line_add(struct output_state *o, uint64_t time, pid_t pid, pid_t tid)
{
	struct line *l;

	l = must(mem_new(1, sizeof *l));
	l->time = time;
	l->pid = pid;
	l->tid = tid;
	TAILQ_INSERT_TAIL(&o->held, l, entry);
	o->nheld++;
	return l;
}

/*
 * Set the text of line l, formatted as by printf(3).
 */
void
line_text(struct line *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&l->text, fmt, ap) == -1)
		program_nomem();
	va_end(ap);
	text_sanitize(l->text);
}

static void
line_free(struct line *l)
{
	free(l->where.name);
	free(l->code.name);
	free(l->text);
	free(l);
}

static void
fault_print(struct line *l)
{
	static const char *const event[RESULTS] = { "minor", "major", "none",
	    "SIGSEGV", "SIGBUS" };
	static const char *const access[ACCESSES] = { "-", "read", "write",
	    "exec", "cow" };
	char perm[5], took[32] = "-", ksym[128];

	if (l->ns > 0)
		snprintf(took, sizeof took, "%.1f", (double)l->ns / 1e3);
	printf("%-7s %16jx %-5s %c %16jx %9s ", event[l->result],
	    (uintmax_t)l->addr, access[l->access], l->kernel ? 'k' : 'u',
	    (uintmax_t)l->ip, took);
	if (l->where.name == NULL)
		printf("no mapping");
	else {
		vma_perms(&l->where, perm);
		printf("%s %s+0x%jx", perm,
		    text_sanitize(l->where.name)[0] == '\0' ? "anon" :
		    l->where.name, (uintmax_t)(l->where.off + l->addr -
		    l->where.start));
	}
	if (l->kernel && *kernel_name(l->ip, ksym, sizeof ksym) != '\0')
		printf(" by %s", ksym);
	putchar('\n');
}

/*
 * Print line l or, with -s, count its fault. When the limit on faults is
 * reached, set o->full.
 */
static void
line_print(struct output_state *o, struct line *l)
{
	bool quiet = o->opts->totals;

	if (o->full)
		return;
	if (!quiet)
		printf("%12.3f %7d ", ((double)l->time - (double)o->start) /
		    1e6, l->tid);
	if (l->text != NULL) {
		if (!quiet)
			puts(l->text);
		return;
	}
	if (quiet)
		total_fault(o, l);
	else
		fault_print(l);
	o->full = ++o->faults == o->opts->count;
}

/*
 * Complete the fault in line l of o with its result. time is the time when the
 * fault ended, in nanoseconds, or 0 if that is unknown. If the line was held
 * back while later lines were printed, print it now.
 */
void
line_close(struct output_state *o, struct line *l, enum result result,
    uint64_t time)
{
	l->open = false;
	l->result = result;
	l->ns = time > l->time ? time - l->time : 0;
	if (l->passed) {
		line_print(o, l);
		line_free(l);
	}
}

/*
 * Print the lines of o that need not wait any longer. now is the current time
 * in nanoseconds. If it is UINT64_MAX, print all lines.
 */
void
lines_flush(struct output_state *o, uint64_t now)
{
	struct line *l;

	while ((l = TAILQ_FIRST(&o->held)) != NULL) {
		if (l->open && o->nheld < MAX_HELD &&
		    (now < l->time || now - l->time < PATIENCE))
			return;
		TAILQ_REMOVE(&o->held, l, entry);
		o->nheld--;
		if (l->open) {
			l->passed = true;
			continue;
		}
		line_print(o, l);
		line_free(l);
	}
}
