/*
 * Classify mappings by their use, and estimate how much memory they occupy.
 */
#include "common.h"

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
	static const struct {
		const char	*begin;
		enum class	 class;
	} names[] = { { "[heap]", CLASS_HEAP }, { "[stack", CLASS_STACK },
	    { "[anon_shmem:", CLASS_SHARED }, { "[anon", CLASS_ANONYMOUS },
	    { "[v", CLASS_KERNEL }, { "[sigpage]", CLASS_KERNEL },
	    { "[uprobes]", CLASS_KERNEL }, { "/dev/zero", CLASS_SHARED },
	    { "/memfd:", CLASS_SHARED }, { "/SYSV", CLASS_SHARED },
	    { "/dev/shm/", CLASS_SHARED } };
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(v->name, names[i].begin,
		    strlen(names[i].begin)) == 0)
			return names[i].class;
	/* mappings of cores have no inode number */
	return v->ino != 0 || *v->name == '/' ? CLASS_FILE : CLASS_ANONYMOUS;
}

/*
 * Estimate the maximum number of bytes that mapping i of sp takes in a
 * snapshot. Count its anonymous and swapped pages and, if it is shared, its
 * file pages. Return the estimate.
 */
uint64_t
mapping_takes(const struct space *sp, size_t i)
{
	const struct mapping *m = &sp->m[i];
	const uint64_t file = m->rss > m->anon ? m->rss - m->anon : 0;

	return (m->anon + m->swap + (sp->vma.v[i].flags & VMA_SHARED ? file :
	    0)) * KB;
}

/*
 * Estimate the maximum number of bytes that the memory of process sp takes in a
 * snapshot. Return the estimate.
 */
uint64_t
space_takes(const struct space *sp)
{
	uint64_t sum;
	size_t i;

	for (sum = 0, i = 0; i < sp->vma.n; i++)
		sum += mapping_takes(sp, i);
	return sum + (sp->rss - (sp->rss < sum / KB ? sp->rss : sum / KB)) *
	    KB;
}
