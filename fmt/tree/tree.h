/*
 * Shared by the files of the tree: tree.c (which files exist), dir.c (their
 * names), read.c (their content), member.c (a process or thread), paths.c
 * (directories below linux/ and root/), sysroot.c (root/) and images.c (criu/).
 */
#ifndef FSTREE_H
#define FSTREE_H

#include "elf/elf.h"
#include "model.h"
#include "pool.h"
#include "space.h"

#include <pthread.h>

/*
 * Names with slashes, sorted by path_cmp. No name is a directory of another,
 * so a directory is a range of names: paths.c
 */
struct paths {
	const void	*arg;	/* borrowed; passed to name() as its first
				   argument */
	const char	*(*name)(const void *, size_t, size_t *);
	size_t		 n;
};

struct pathent {		/* an entry of a directory */
	const char	*name;	/* borrowed; len bytes */
	size_t		 len;
	size_t		 first;	/* index of the entry's first name */
	size_t		 next;	/* index after the entry's last name */
	bool		 dir;
};

bool		 paths_isdir(const struct paths *, size_t, size_t);
bool		 paths_entry(const struct paths *, size_t, size_t, size_t,
		    struct pathent *);
bool		 paths_find(const struct paths *, size_t, size_t,
		    const char *, struct pathent *);
size_t		 paths_parent(const struct paths *, size_t, size_t);

/*
 * The mapped files of a process, under all names by which the process knew
 * them: sysroot.c
 */
struct sysfile {
	char		*path;	/* without the leading slash */
	struct image	*image;	/* borrowed; NULL: not in the snapshot */
	size_t		 seq;	/* order of addition; if paths are equal, the
				   one added first is kept */
};

struct sysroot {
	struct pool	 pool;	/* owned; has the files and their paths */
	struct sysfile	*f;
	size_t		 n;
	size_t		 bytes;	/* total length of the paths, in bytes */
};

int		 sysroot_open(struct sysroot *, struct snap *, struct proc *,
		    const struct linuxrec *, const struct vmas *);
void		 sysroot_close(struct sysroot *);

/*
 * A process or thread in the tree: member.c. Each part is made when the first
 * file that needs it is used.
 */
enum member_part {
	PART_RECORD = 1,	/* the member "record" is filled in */
	PART_MAPS = 2,		/* the member "vmas" is filled in */
	PART_CORE = 4,		/* the member "core" is filled in */
	PART_ROOT = 8,		/* the member "sysroot" is filled in */
	PART_IMAGES = 16	/* the member "view" is filled in */
};

struct member {
	struct fstree	*tree;	/* borrowed */
	struct snap	*snap;	/* borrowed */
	struct proc	*proc;	/* borrowed */
	struct member	*leader; /* borrowed; the process to which this thread
				    belongs, or this member itself */
	void		*tag;	/* borrowed; given to fstree_add() */
	size_t		 moment; /* number of the directory that shows it; 0:
				    the root directory */
	bool		 thread;
	unsigned int	 serial; /* number among members with the same pid,
				    from 1 */
	size_t		 seq;	/* order of addition */

	pthread_mutex_t	 lock;
	atomic_uint	 parts;	/* bits of enum member_part: parts made so far;
				   all members below are owned */
	struct linuxrec	 record;
	struct vmas	 vmas;
	bool		 linux;	/* the list "vmas" comes from a Linux record */
	struct core	*core;	/* owned; NULL: there is no core */
	struct sysroot	 sysroot;
	struct criuview	*view;	/* owned; NULL: there are no images */
	atomic_ullong	 data[2]; /* number of bytes outside of holes in the
				     files "mem" and "core"; 0: not counted
				     yet */
};

/* images.c */
struct criuview	*images_new(struct member *m);

void		 member_need(struct member *, enum member_part);
void		 member_free(struct member *);

/*
 * span.c: the memory at an address
 */
size_t		 member_mapped(const struct member *, uint64_t, size_t);
bool		 span_seek(const struct member *, struct image *, uint64_t,
		    uint64_t, bool, uint64_t *);

/*
 * The kind of a file, part of its inode number.
 */
enum fsclass {
	FS_TOP,			/* the root directory */
	FS_PROC,		/* PID/ */
	FS_FILE,		/* a file of enum fsfile, or a small file */
	FS_MAP,			/* map/, or one of its files */
	FS_LINUX,		/* linux/ and all files below it */
	FS_ROOT,		/* root/ and all files below it */
	FS_CRIU,		/* criu/, or one of its images */
	FS_MOMENT		/* directory of a moment, which is "index" */
};

enum fsfile {
	FILE_CTL,
	FILE_TEXT,
	FILE_MEM,
	FILE_CORE,
	FILE_SMALL		/* first small file; the others follow */
};

enum {
	FSOWN_MAX = 8,		/* number of entries in fsown */
	FS_INDEX_BITS = 26,
	FS_INDEX_MAX = 1 << FS_INDEX_BITS,
	FS_DEPTH_BITS = 12,
	FS_CLASS_BITS = 3,
	FS_PROC_SHIFT = FS_INDEX_BITS + FS_DEPTH_BITS + FS_CLASS_BITS
};

struct fsown {			/* an entry of a process directory */
	const char	*name;
	enum fsclass	 class;
};

extern const struct fsown fsown[FSOWN_MAX];

struct fsnode {
	struct member	*m;	/* NULL for the root directory; for a moment,
				   its first process, or NULL */
	enum fsclass	 class;
	bool		 dir;
	size_t		 depth;	/* depth of a directory below linux/ or root/ */
	size_t		 index;
};

struct fstree {
	struct member	**m;	/* owned; sorted by moment, pid and seq */
	size_t		 n;
	size_t		 moments; /* number of directories of moments */
	void		(*warn)(void *, const char *);
	void		*arg;
	pthread_mutex_t	 lock;
	struct fsroots	*roots;	/* owned; one for each snapshot; protected by
				   lock */
	size_t		 nroots;
};

bool		 roots_have(struct fstree *t, struct snap *s, uint64_t pid);
void		 roots_free(struct fstree *t);

size_t		 fstree_index(const struct fstree *, size_t, uint64_t,
		    unsigned int);
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
