/*
 * Get the mappings of a process in a snapshot: from its Linux record, or from
 * its segment file (Plan 9's proc(3)), or else from the segments of its memory;
 * and get its address space.
 */
#include "digits.h"
#include "state/state.h"
#include "vec.h"

/*
 * Add to l the mapping described by line, a line of Plan 9's segment file. Its
 * type is in columns 0-5 and its flags are in columns 7 and 8. Its start and
 * end follow from column 10 on, in hexadecimal.
 */
static int
segment_line(struct vmas *l, const char *line)
{
	unsigned long long start, end;
	struct vma v = { 0 };
	char type[7];
	size_t i;

	if (strlen(line) < 10 ||
	    sscanf(line + 10, "%llx %llx", &start, &end) != 2 || start > end)
		return errstr_set("segment: cannot parse \"%s\"", line);
	if (start == end)
		return 0;
	for (i = 0; i < 6 && line[i] > ' '; i++)
		type[i] = line[i] >= 'A' && line[i] <= 'Z' ?
		    (char)(line[i] - 'A' + 'a') : line[i];
	type[i] = '\0';
	v.start = start;
	v.end = end;
	v.flags = VMA_READ;
	if (memchr(line + 7, 'R', 2) == NULL)
		v.flags |= VMA_WRITE;
	if (strcmp(type, "text") == 0)
		v.flags |= VMA_EXEC;
	if (strcmp(type, "shared") == 0 || strcmp(type, "phys") == 0)
		v.flags |= VMA_SHARED;
	if ((v.name = str_printf("[%s]", type)) == NULL)
		return -1;
	return vmas_add(l, &v);
}

static int
segment_lines(struct vmas *l, const struct file *f)
{
	const char *s;
	size_t off, n;
	char *line;
	int rc;

	for (rc = 0, off = 0; rc == 0 && line_next(f->data, f->len, &off, &s,
	    &n) && off <= f->len;) {
		if ((line = strndup(s, n)) == NULL)
			return errstr_set("out of memory");
		rc = segment_line(l, line);
		free(line);
	}
	return rc;
}

/*
 * Add to l a mapping for each piece of image mem. Use this for memory about
 * which nothing else is known.
 */
static int
segments(struct vmas *l, struct image *mem)
{
	struct vma v = { 0 };
	struct piece *p;

	for (p = image_first(mem); p != NULL; p = piece_next(p)) {
		v.start = p->first;
		if ((v.end = p->last + 1) == 0)	/* 2^64 does not fit in v.end */
			continue;
		v.flags = VMA_READ | VMA_WRITE | VMA_EXEC;
		if ((v.name = str_dup("")) == NULL || vmas_add(l, &v) == -1)
			return -1;
	}
	return 0;
}

/*
 * Set *l, which must be all zero, to the mappings of process p. They are in
 * ascending order and do not overlap. The caller frees them, even after a
 * failure. Return 0, or -1 with errstr set.
 */
int
proc_vmas(const struct proc *p, struct vmas *l)
{
	struct linuxrec r;
	struct recfile f;
	const struct file *seg;
	int rc;

	rc = linuxrec_open(&r, proc_file(p, "proc"));
	if (rc == 0 && linuxrec_find(&r, "maps", &f))
		rc = vmas_parse(l, f.data, f.len);
	else if (rc == 0 && (seg = proc_file(p, "segment")) != NULL)
		rc = segment_lines(l, seg);
	else if (rc == 0)
		rc = segments(l, p->mem);
	linuxrec_close(&r);
	return rc == -1 ? -1 : vmas_sort(l);
}

static int
space_record(struct space *sp, const struct proc *p, const struct linuxrec *r)
{
	struct recfile f;

	if (linuxrec_find(r, "status", &f))
		space_status(sp, f.data, f.len);
	if (linuxrec_find(r, "stat", &f))
		space_stat(sp, f.data, f.len);
	if (linuxrec_find(r, "limits", &f))
		space_limits(sp, f.data, f.len);
	if (linuxrec_find(r, "smaps", &f) && f.len > 0)
		return space_smaps(sp, f.data, f.len);
	return proc_vmas(p, &sp->vma) == -1 ? -1 : space_vmas(sp);
}

/*
 * Fill sp with the address space of process pid of s. If pid is a thread, use
 * its process. The caller frees sp, even after a failure. Return 0, or -1 with
 * errstr set; sp->gone is then true if the snapshot has no such process.
 */
int
space_snap(struct space *sp, struct snap *s, uint64_t pid)
{
	const struct proc *p;
	struct linuxrec r;
	int rc;

	memset(sp, 0, sizeof *sp);
	sp->pid = pid;
	sp->threads = 1;
	p = snap_process(s, pid);
	if (p == NULL || p->embedded != NULL) {
		sp->gone = true;
		return errstr_set("%" PRIu64 ": No such process", pid);
	}
	rc = linuxrec_open(&r, proc_file(p, "proc"));
	if (rc == 0)
		rc = space_record(sp, p, &r);
	linuxrec_close(&r);
	if (rc == -1)
		return errstr_wrap("%" PRIu64, pid);
	return sp->vma.n > 0 ? 0 :
	    errstr_set("%" PRIu64 ": no user address space", pid);
}
