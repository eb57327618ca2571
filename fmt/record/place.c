/*
 * Where a process belongs, as its Linux record tells: snap(6).
 */
#include "record.h"
#include "digits.h"

#include <string.h>

/*
 * Set a name, of PLACE_NAME bytes, to a file of a record that is a line.
 */
static bool
line_get(const struct linuxrec *r, const char *file, char *name)
{
	struct recfile f;
	size_t n;

	if (!linuxrec_find(r, file, &f) || f.len == 0)
		return false;
	n = f.data[f.len - 1] == '\n' ? f.len - 1 : f.len;
	n = n < PLACE_NAME ? n : PLACE_NAME - 1;
	memcpy(name, f.data, n);
	name[n] = '\0';
	return true;
}

/*
 * Set in pl what the record of process p tells: where it does not name unit,
 * container and pod, as its cgroup has them, and where it does not have the
 * number that p has itself, as its status has that.  What is not told is
 * empty, and pid that of p.
 */
void
proc_place(struct place *pl, const struct proc *p)
{
	struct linuxrec r;
	struct recfile f;
	char line[PLACE_NAME];
	const struct file *rec;

	memset(pl, 0, sizeof *pl);
	pl->pid = p->pid;
	if ((rec = proc_file(p, "proc")) == NULL ||
	    linuxrec_open(&r, rec) == -1)
		return;
	if (linuxrec_find(&r, "cgroup", &f))
		place_cgroup(pl, f.data, f.len);
	(void)line_get(&r, "unit", pl->unit);
	(void)line_get(&r, "container", pl->container);
	(void)line_get(&r, "pod", pl->pod);
	if (line_get(&r, "nspid", line))
		(void)digits_number(line, strlen(line), 10, &pl->pid);
	else if (linuxrec_find(&r, "status", &f))
		(void)status_inner(f.data, f.len, "NSpid", &pl->pid);
	linuxrec_close(&r);
}
