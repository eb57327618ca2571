/*
 * Classify mappings by their use, and estimate how much memory they occupy.
 */
#include "common.h"
#include "bisect.h"

/*
 * Return the name of class c.
 */
const char *
class_word(enum class c)
{
	static const char *const words[CLASS_COUNT] = {
		[CLASS_HEAP] = "heap",
		[CLASS_STACK] = "stack",
		[CLASS_ANONYMOUS] = "anonymous",
		[CLASS_FILE] = "file",
		[CLASS_SHARED] = "shared",
		[CLASS_KERNEL] = "kernel"
	};

	return words[c];
}

/*
 * Return the class of mapping v, derived from its name in /proc/PID/maps
 * (proc_pid_maps(5)).
 */
enum class
class_of(const struct vma *v)
{
	static const struct begin {
		const char	*begin;
		enum class	 class;
	} names[] = { { "[heap]", CLASS_HEAP }, { "[stack", CLASS_STACK },
	    { "[anon_shmem:", CLASS_SHARED }, { "[anon", CLASS_ANONYMOUS },
	    { "[v", CLASS_KERNEL }, { "[sigpage]", CLASS_KERNEL },
	    { "[uprobes]", CLASS_KERNEL },
	    /* a private mapping of the device has its name alone */
	    { "/dev/zero (deleted)", CLASS_SHARED },
	    { "/dev/zero", CLASS_ANONYMOUS }, { "/memfd:", CLASS_SHARED },
	    { "/SYSV", CLASS_SHARED }, { "/dev/shm/", CLASS_SHARED } };
	const struct begin *b = SEEK_IN(names,
	    strncmp(v->name, x->begin, strlen(x->begin)) == 0);

	if (b != NULL)
		return b->class;
	/* mappings of cores have no inode number */
	return v->ino != 0 || *v->name == '/' ? CLASS_FILE : CLASS_ANONYMOUS;
}

/*
 * Estimate how many bytes the memory of process sp takes in a snapshot: the
 * anonymous and swapped pages and the file pages of shared mappings or, if that
 * is more, all resident pages. Count memory that is excluded from core dumps
 * only if dontdump is set. Return the estimate.
 */
uint64_t
space_takes(const struct space *sp, bool dontdump)
{
	const struct mapping *m;
	uint64_t sum, rss, n;
	size_t i;

	for (sum = 0, rss = sp->rss, i = 0; i < sp->vma.n; i++) {
		m = &sp->m[i];
		n = m->anon + m->swap;
		if (sp->vma.v[i].flags & VMA_SHARED && m->rss > m->anon)
			n += m->rss - m->anon;
		if (dontdump || !(m->flags & VMF_DONTDUMP))
			sum += n;
		else
			rss -= m->rss < rss ? m->rss : rss;
	}
	return (rss > sum ? rss : sum) * KB;
}
