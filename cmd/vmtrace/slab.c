/*
 * Report pages and slab objects that the kernel allocates and frees while a
 * traced thread runs, whether for that thread or not.
 */
#include "vmtrace.h"

#include <unistd.h>

enum { MAX_ORDER = 40 }; /* maximum order; an allocation has 2^order pages */

static void
page_take(struct stream *s, const struct trace *t, struct line *l)
{
	char flags[256];
	uint64_t order, bytes;
	bool alloc = t->kind == TRACE_PAGEALLOC;

	order = t->kind == TRACE_PAGEFREES || t->arg[1] > MAX_ORDER ? 0 :
	    t->arg[1];
	bytes = (uint64_t)sysconf(_SC_PAGESIZE) << order;
	if (l == NULL)
		total_slab(&s->out, "pages", 0, alloc, bytes);
	else if (alloc)
		line_text(l, "%-7s %16jx %ju bytes %s", "page+",
		    (uintmax_t)t->arg[0], (uintmax_t)bytes,
		    tpflags_string(t->flags, t->arg[2], flags, sizeof flags));
	else
		line_text(l, "%-7s %16jx %ju bytes", "page-",
		    (uintmax_t)t->arg[0], (uintmax_t)bytes);
}

/*
 * Return the name of an object's slab cache. Linux before 6.1 does not report
 * this name for some objects; for these, return a general word.
 */
static const char *
cache_name(const struct trace *t)
{
	if (*t->name != '\0')
		return t->name;
	return t->kind == TRACE_KMALLOC || t->kind == TRACE_KFREE ?
	    "kmalloc" : "object";
}

static void
object_take(struct stream *s, const struct trace *t, struct line *l)
{
	bool alloc = t->kind == TRACE_KMALLOC || t->kind == TRACE_CACHEALLOC;
	const char *name = cache_name(t);
	char site[128], flags[256];

	if (l == NULL) {
		total_slab(&s->out, name, t->arg[0], alloc,
		    alloc ? t->arg[3] : 0);
		return;
	}
	if (*kernel_name(t->arg[0], site, sizeof site) == '\0')
		snprintf(site, sizeof site, "%jx", (uintmax_t)t->arg[0]);
	if (alloc)
		line_text(l, "%-7s %16jx %s %ju of %ju bytes %s by %s",
		    "slab+", (uintmax_t)t->arg[1], name,
		    (uintmax_t)t->arg[2], (uintmax_t)t->arg[3],
		    tpflags_string(t->flags, t->arg[4], flags, sizeof flags),
		    site);
	else
		line_text(l, "%-7s %16jx %s by %s", "slab-",
		    (uintmax_t)t->arg[1], name, site);
}

/*
 * Add a line to s for t, an allocation or a free in the kernel. With -s, count
 * the event instead.
 */
void
slab_take(struct stream *s, const struct trace *t)
{
	struct line *l = NULL;

	/* failed allocations, and frees of NULL */
	if ((t->kind == TRACE_PAGEALLOC && t->arg[0] == UINT64_MAX) ||
	    (t->kind >= TRACE_KMALLOC && t->arg[1] == 0))
		return;
	if (!s->out.opts->totals)
		l = line_add(&s->out, t->rec->time, (pid_t)t->rec->pid,
		    (pid_t)t->rec->tid);
	if (t->kind <= TRACE_PAGEFREES)
		page_take(s, t, l);
	else
		object_take(s, t, l);
}
