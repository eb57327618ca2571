/*
 * What the files of the tree share: tree.c (what there is), dir.c
 * (under which names), read.c (and what is in it), member.c (a process),
 * paths.c (directories that are names with slashes), sysroot.c (root/) and
 * images.c (criu/).
 */
#ifndef FSTREE_H
#define FSTREE_H

#include "elf/elf.h"
#include "model.h"
#include "space.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Names with slashes, in the order of path_cmp and none of them a directory
 * of another, so that a directory is a range of them: paths.c
 */
struct paths {
	const void	*arg;	/* borrowed */
	const char	*(*name)(const void *, size_t, size_t *);
	size_t		 n;
};

struct pathent {		/* an entry of a directory */
	const char	*name;	/* borrowed; len bytes */
	size_t		 len;
	size_t		 first;	/* of the names it stands for */
	size_t		 next;	/* behind the last of them */
	bool		 dir;
};

bool		 paths_isdir(const struct paths *, size_t, size_t);
bool		 paths_entry(const struct paths *, size_t, size_t, size_t,
		    struct pathent *);
bool		 paths_find(const struct paths *, size_t, size_t,
		    const char *, struct pathent *);
size_t		 paths_parent(const struct paths *, size_t, size_t);

/*
 * The files that a process had mapped, under all names that it knew them
 * by: sysroot.c
 */
struct sysfile {
	char		*path;	/* owned; without the slash before it */
	struct image	*image;	/* borrowed; NULL: not in the snapshot */
	size_t		 seq;	/* the first of a name is taken */
};

struct sysroot {
	struct sysfile	*f;	/* owned */
	size_t		 n;
	size_t		 bytes;	/* of all paths */
};

int		 sysroot_open(struct sysroot *, struct snap *, struct proc *,
		    const struct linuxrec *, const struct vmas *);
void		 sysroot_close(struct sysroot *);

/*
 * A process or thread in the tree: member.c.  What its files take is made
 * when one of them is looked at first.
 */
enum member_part {
	PART_RECORD = 1,	/* record */
	PART_MAPS = 2,		/* vmas */
	PART_CORE = 4,		/* core */
	PART_ROOT = 8,		/* sysroot */
	PART_IMAGES = 16	/* view */
};

struct member {
	struct fstree	*tree;	/* all of these are borrowed */
	struct snap	*snap;
	struct proc	*proc;
	struct member	*of;	/* of a thread, its process; else itself */
	void		*tag;
	bool		 thread;
	unsigned int	 serial; /* of the same pid, from 1 */
	size_t		 seq;	/* when it was added */

	pthread_mutex_t	 lock;
	atomic_uint	 parts;	/* that are there; all below is owned */
	struct linuxrec	 record;
	struct vmas	 vmas;
	bool		 linux;	/* vmas are those of a Linux record */
	struct core	*core;	/* NULL: none */
	struct sysroot	 sysroot;
	struct criuview	*view;	/* NULL: none */
	atomic_ullong	 data[2]; /* bytes of mem and of core that are no
				   holes; 0: not counted yet */
};

/* images.c */
struct criuview	*images_new(struct member *m);

void		 member_need(struct member *, enum member_part);
void		 member_free(struct member *);

/*
 * What there is at an address: span.c
 */
size_t		 member_mapped(const struct member *, uint64_t, size_t);
bool		 span_seek(const struct member *, struct image *, uint64_t,
		    uint64_t, bool, uint64_t *);

/*
 * What an inode number says.
 */
enum fsclass {
	FS_TOP,			/* the root */
	FS_PROC,		/* PID/ */
	FS_FILE,		/* one of enum fsfile, or a small file */
	FS_MAP,			/* map/, or one of its files */
	FS_LINUX,		/* linux/ and all below */
	FS_ROOT,		/* root/ and all below */
	FS_CRIU			/* criu/, or one of its images */
};

enum fsfile {
	FILE_CTL,
	FILE_TEXT,
	FILE_MEM,
	FILE_CORE,
	FILE_SMALL		/* and up: the small files in their order */
};

enum {
	FSOWN_MAX = 8,		/* names that are not those of small files */
	FS_INDEX_BITS = 26,
	FS_INDEX_MAX = 1 << FS_INDEX_BITS,
	FS_DEPTH_BITS = 12,
	FS_CLASS_BITS = 3,
	FS_PROC_SHIFT = FS_INDEX_BITS + FS_DEPTH_BITS + FS_CLASS_BITS
};

struct fsown {			/* what a process directory may have */
	const char	*name;
	enum fsclass	 class;
};

extern const struct fsown fsown[FSOWN_MAX];

struct fsnode {
	struct member	*m;	/* NULL for the root */
	enum fsclass	 class;
	bool		 dir;
	size_t		 depth;	/* of a directory: how far below linux/ ... */
	size_t		 index;
};

struct fstree {
	struct member	**m;	/* owned; by pid, then as they were added */
	size_t		 n;
	void		(*warn)(void *, const char *);
	void		*arg;
	pthread_mutex_t	 lock;
	struct fsroots	*roots;	/* owned; a snapshot each, under the lock */
	size_t		 nroots;
};

bool		 roots_have(struct fstree *t, struct snap *s, uint64_t pid);
void		 roots_free(struct fstree *t);

size_t		 fstree_index(const struct fstree *, uint64_t, unsigned int);
int		 fsnode_get(struct fstree *, uint64_t, struct fsnode *);
uint64_t	 fsnode_ino(size_t, enum fsclass, size_t, size_t);
bool		 member_hasfile(struct member *, size_t);
bool		 member_hasdir(struct member *, enum fsclass);
bool		 member_hasmap(const struct member *, size_t);
size_t		 member_images(struct member *);
uint64_t	 member_untouched(const struct member *, const struct vma *,
		    uint64_t addr, uint64_t end);
struct paths	 member_paths(struct member *, enum fsclass);

#endif
