/*
 * Where a process belongs, as its Linux record tells: snap(6).
 */
#include "record.h"
#include "digits.h"

#include <string.h>

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
	(void)linuxrec_line(&r, "unit", pl->unit, PLACE_NAME);
	(void)linuxrec_line(&r, "container", pl->container, PLACE_NAME);
	(void)linuxrec_line(&r, "pod", pl->pod, PLACE_NAME);
	if (linuxrec_line(&r, "nspid", line, sizeof line))
		(void)digits_number(line, strlen(line), 10, &pl->pid);
	else if (linuxrec_find(&r, "status", &f))
		(void)status_inner(f.data, f.len, "NSpid", &pl->pid);
	linuxrec_close(&r);
}
