/*
 * libsnap: take snapshots of live processes. libsnap(3) is the manual.
 *
 * Only one capture may exist in a program, and only the thread that created it
 * may use it, because the kernel makes that thread the tracer (ptrace(2)). If
 * the program dies, all processes resume. While there is a capture, no signal
 * handler and no other thread may call waitpid(2) with -1: it could consume the
 * stop of a captured thread, which would then stay stopped.
 */
#ifndef SNAP_CAPTURE_H
#define SNAP_CAPTURE_H

#include "snap_write.h"

#ifdef __cplusplus
extern "C" {
#endif

struct snap_capture;		/* a set of processes to capture */

enum snap_capture_option {
	/* 1: capture the descendants of all processes as well */
	SNAP_DESCENDANTS,
	/* 1: record the state that criu(8) needs to restore the processes */
	SNAP_RESTORABLE,
	/* 1: inject no system calls; the processes stay stopped until the
	   snapshot is written */
	SNAP_PASSIVE,
	/* 1: store unmodified pages of mapped data files as well */
	SNAP_DATA_FILES,
	/* seconds to wait for file servers in all; default 5 */
	SNAP_TIMEOUT,
	/* bytes that clones and copies may take; if they need more, the
	   processes stay stopped; 0, the default: no limit */
	SNAP_MEMORY
};

/*
 * Return an empty set of processes, or NULL on error. warn may be NULL.  It
 * must not wait: processes may be stopped when it is called, and it may be
 * called by another thread.
 */
struct snap_capture *snap_capture_new(snap_warn_fn warn, void *arg);

/*
 * Set an option of c. All options are set before the first process is added.
 * Return 0, or -1 on error.
 */
int		 snap_capture_set(struct snap_capture *c,
		    enum snap_capture_option option, uint64_t value);

/*
 * Add the process with this ID, the processes with this name, or the processes
 * of a systemd unit, a container, a pod or a cgroup, named as for snap(1) -c.
 * Return 0, or -1 on error: there is no such process.
 */
int		 snap_capture_pid(struct snap_capture *c, pid_t pid);
int		 snap_capture_name(struct snap_capture *c, const char *name);
int		 snap_capture_cgroup(struct snap_capture *c,
		    const char *group);

/*
 * Capture all processes of c at one instant, and write the snapshot to the file
 * path; NULL and "-" are standard output. flags is 0 or SNAP_COMPRESS.  Return
 * 0, 1 if something was left out, or -1 on error, after which there is no file.
 */
int		 snap_capture_save(struct snap_capture *c, const char *path,
		    unsigned int flags);

/*
 * Resume all processes of c, which may be NULL, and free it.
 */
void		 snap_capture_free(struct snap_capture *c);

#ifdef __cplusplus
}
#endif

#endif
