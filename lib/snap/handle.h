/*
 * The structs behind the handles of the public interface.
 */
#ifndef HANDLE_H
#define HANDLE_H

#include "library.h"
#include "snap.h"
#include "snap_write.h"

struct snap_mapping {
	struct vma	 vma;	/* the mapping's name is owned */
	char		 perms[5];
};

struct snap_record {
	char		*name;	/* owned */
	struct recfile	 file;	/* borrowed from the process */
};

struct snap_task {
	struct snap_file *of;	/* borrowed */
	struct snap_task *process; /* borrowed; the task itself if it is a
				      process */
	struct proc	*proc;	/* borrowed */

	/* owned; NULL until they are first used */
	struct snap_mapping *mapping;
	size_t		 nmapping;
	struct snap_record *record;
	size_t		 nrecord;
};

struct snap_file {
	struct snap_set	*set;	/* borrowed; has this file */
	struct snap	*snap;	/* borrowed from the set */
	struct snap_task *task;	/* owned; processes in the order of the
				   snapshot, each followed by its threads */
	size_t		 ntask;
	bool		 failed; /* a list of a task ended early */
};

struct snap_set {		/* all moments of an open file */
	struct momentset	 series;
	struct snap_file *file;	/* owned; one for each moment */
};

#endif
