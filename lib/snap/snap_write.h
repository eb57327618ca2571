/*
 * libsnap: write snapshots and convert them. libsnap(3) is the manual.
 *
 * A file appears under its name when it is complete, and only its owner may
 * read it.
 */
#ifndef SNAP_WRITE_H
#define SNAP_WRITE_H

#include "snap.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {				/* flags */
	SNAP_COMPRESS = 1,	/* compress the snapshot as gzip(1) does */
	SNAP_OVERWRITE = 2	/* write into a directory that is not empty */
};

/*
 * Called with arg and a sentence for each thing that is left out.
 */
typedef void	(*snap_warn_fn)(void *arg, const char *text);

/*
 * Write f as a snapshot to the file path; NULL and "-" are standard output.
 * flags is 0 or SNAP_COMPRESS; warn may be NULL.  Return 0, or -1 on error.
 */
int		 snap_save(struct snap_file *f, const char *path,
		    unsigned int flags, snap_warn_fn warn, void *arg);

/*
 * Write the process of t as an ELF core to the file path. Return 0, or -1 on
 * error.
 */
int		 snap_save_core(struct snap_task *t, const char *path);

/*
 * Write f as CRIU images into the directory dir, which is created if it does
 * not exist. flags is 0 or SNAP_OVERWRITE; warn may be NULL.  Return 0, or -1
 * on error.
 */
int		 snap_save_criu(struct snap_file *f, const char *dir,
		    unsigned int flags, snap_warn_fn warn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
