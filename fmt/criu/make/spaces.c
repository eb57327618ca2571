/*
 * The namespaces that are made for the processes of CRIU images; in all others
 * they are where criu is.  criu makes those of which the processes have another
 * number than it has itself: prepare_pstree_kobj_ids of its criu/pstree.c.
 *
 *	pid	where the first process is the init of its own
 *	uts	where the record has names that are not the host's
 *	ipc	where they have memory of System V (sysv.c)
 */
#include "criumake.h"

#include <stdlib.h>

static bool
has_uts(const struct criumake *m)
{
	struct recfile f;

	return linuxrec_find(&m->root->rec, "hostname", &f) &&
	    linuxrec_find(&m->root->rec, "domainname", &f);
}

/*
 * Set the numbers of namespaces: those of processes, or where own is true of
 * criu itself.
 */
void
makespaces_ids(const struct criumake *m, Criu__Ids *ids, bool own)
{
	uint32_t id = own ? CRIUS_IDS : MADE_ID;

	ids->has_pid_ns_id = maketask_isinit(m->root);
	ids->pid_ns_id = id;
	ids->has_uts_ns_id = has_uts(m);
	ids->uts_ns_id = id;
	ids->has_ipc_ns_id = makesysv_space(m);
	ids->ipc_ns_id = id;
}

/*
 * Make utsns-N.img: what the machine is called there.
 */
int
makespaces_write(struct criumake *m)
{
	Criu__Utsns uts = CRIU__UTSNS__INIT;
	struct made *im;
	int rc;

	if (!has_uts(m))
		return 0;
	im = make_image(m, CRIU_UTSNS, "utsns-%d.img", MADE_ID);
	uts.nodename = words_text(&m->root->rec, "hostname");
	uts.domainname = words_text(&m->root->rec, "domainname");
	rc = uts.nodename == NULL || uts.domainname == NULL ?
	    errstr_set("out of memory") : im == NULL ? -1 : 0;
	if (rc == 0)
		criuimg_add(&im->b, &uts.base);
	free(uts.nodename);
	free(uts.domainname);
	return rc;
}
