/*
 * The address space of a process of a snapshot: its Linux record, where it
 * has the files, or what the format tells of mappings.
 */
#include "state/state.h"

#include <inttypes.h>
#include <string.h>

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
 * Fill in sp with the address space of process pid of s, or of that which
 * thread pid belongs to.  Return 0, or -1 with errstr.  The caller frees it,
 * after a failure too; then gone tells whether the snapshot has no such
 * process.
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
	if (p == NULL || p->carried != NULL) {
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
