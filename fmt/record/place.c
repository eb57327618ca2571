/*
 * The unit, container and pod that a process belongs to, from its Linux record:
 * snap-linux(6).
 */
#include "record.h"
#include "digits.h"

/*
 * Set *pl to the unit, container and pod of process p, and to its process ID in
 * its own PID namespace. Take them from their own files in the record or, if
 * those are missing, from the files cgroup and status. Set an unknown name to
 * "", and an unknown process ID to the ID of p.
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
