/*
 * Files that targets choose: how they are opened, frozen, carried along and
 * taken; and which of them others serve.
 */
#ifndef FILE_H
#define FILE_H

#include "io/io.h"
#include "linux/set/set.h"

#include <sys/stat.h>

struct targetfile {		/* a file of a target, opened */
	int		 fd;	/* owned; far: O_PATH; -1: none */
	bool		 far;	/* to be read through the proxy */
	bool		 elf;	/* it begins as an ELF file */
	int		 unread; /* an errno: whether it does is not known */
	uint64_t	 number; /* the proxy's, of one that is far */
	uint64_t	 dev;	/* likewise, of its file system */
	long		 type;	/* of its file system: statfs(2); 0: none */
	struct stat	 st;
};

/* target.c: files that a target chooses */
int		 file_open(struct live *l, const struct lproc *p,
		    const char *name, struct targetfile *f, bool *failed);
int		 file_openin(const struct lproc *p, const char *dir,
		    const char *name, bool ask, struct targetfile *f);
int64_t		 file_fetch(const struct targetfile *f, const char *name,
		    size_t most, struct bulk *b);
struct source	*file_source(struct snap *s, struct targetfile *f,
		    const char *name, int *fd);
void		 file_close(struct targetfile *f);
void		 file_lookelf(struct targetfile *f, int fd);

/* far.c: those that are read through the proxy, as sources */
struct source	*source_far(struct snap *s, const struct targetfile *t,
		    const char *name);

/* served.c: file systems that others serve, and may not answer */
bool		 served_not(pid_t pid, uint64_t dev);
bool		 served_notmount(pid_t pid, uint64_t id);
bool		 served_notway(const struct bytes *text, const char *path);
bool		 served_nottype(uint64_t dev, long type);
void		 served_forget(void);

/* copy.c: bytes copied while processes are stopped */
struct copyrun {
	uint64_t	 from;	/* in what is copied */
	uint64_t	 to;	/* in the copy, or in memory */
	uint64_t	 len;	/* bytes; not 0 */
};

struct copyjob {
	int		 in;	/* borrowed, as all here */
	int		 out;
	uint8_t		*memory; /* to which it is copied; NULL: to out */
	bool		 shorter; /* it may end before a run does */
	bool		 sparse; /* out has zeros where nothing is written */
	const struct copyrun *run;
	size_t		 n;
};

int		 copy_runs(const struct copyjob *j);

/* prepared.c: memory for that, which is there before the stop */
int		 prepared_copy(struct live *l, const struct copyjob *j);
void		 prepared_drop(struct live *l, int out);
int		 prepared_file(struct live *l);
void		 prepared_free(struct live *l);
void		 prepared_make(struct live *l, uint64_t most);
int		 prepared_write(struct live *l);

/* shared.c: files as they were when all was stopped */
int		 shmcopy_make(struct live *l, const struct lproc *p, int fd,
		    const struct stat *st);
bool		 shmcopy_has(struct live *l, const struct lproc *p,
		    const struct stat *st);
int		 shmcopy_open(struct live *l, const struct lproc *p,
		    int fd, struct stat *st);
uint64_t	 ipc_space(const struct lproc *p, const char *path);
void		 shmcopies_free(struct live *l);

/* carry.c: which files are carried along */
struct carry {			/* a file to be carried along */
	struct carry	*next;	/* owned; memory of System V of the same number
				   in another namespace */
	struct carry	*after;	/* borrowed; noted after it */
	struct vma	 vma;	/* one that is of it; name owned */
	struct source	*src;	/* borrowed */
	struct stat	 st;
	uint64_t	 ipc;	/* of memory of System V, the namespace of who
				   has it; 0: of other files */
	bool		 mem;	/* not as a text, but as memory */
};

int		 carry_note(struct live *l, const struct lproc *p,
		    const struct vma *v, struct source *src,
		    const struct stat *st, bool mem);
int		 carry_open(struct live *l, struct snap *s,
		    const struct lproc *p, const struct vma *v,
		    const char *name);
const struct carry *carry_first(const struct live *l);
void		 carry_free(struct live *l);

/* treatment.c: how mappings of files are taken */
enum treatment {
	TAKE_MEMORY,	/* pages of the process, whatever they are */
	TAKE_FILE,	/* unmodified pages from the file, all of them */
	TAKE_DATA,	/* the same, but only where the file has data */
	TAKE_DUMPED,	/* the same, of a file that may change meanwhile */
	TAKE_PRESENT,	/* what is not present is missing: files that cannot
			   be had, and a [vdso] unlike ours */
	LEAVE_FILE,	/* unmodified pages are missing */
	LEAVE_KERNEL,	/* all is missing: the kernel's own pages */
	LEAVE_DEVICE,
	LEAVE_SECRET,
	TAKE_FAILED	/* an error */
};

enum treatment	 treatment_choose(struct live *l, const struct lproc *p,
		    const struct vma *v, struct targetfile *f);
bool		 file_isonly(const struct vma *v, const struct stat *st);

#endif
