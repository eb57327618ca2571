/*
 * Files named by targets: opening them, copying them during the stop, including
 * them in the snapshot, and detecting file systems that a server may block.
 */
#ifndef FILE_H
#define FILE_H

#include "io/io.h"
#include "linux/set/set.h"

struct targetfile {		/* an open file that a target chose */
	int		 fd;	/* owned; opened with O_PATH if "far" is set;
				   -1: none */
	bool		 far;	/* the file must be read through the proxy */
	bool		 elf;	/* the file starts with an ELF header */
	int		 unread; /* errno if the start of the file could not be
				    read, else 0 */
	uint64_t	 number; /* number by which the proxy knows the file, if
				    "far" is set */
	uint64_t	 dev;	/* device number of the file system, if "far" is
				   set */
	long		 type;	/* statfs(2) type of the file system; 0:
				   unknown */
	struct stat	 st;
};

/* target.c: open and read files chosen by a target */
void		 files_refuse(bool refuse);
bool		 files_arerefused(void);
int		 file_open(struct live *l, const struct lproc *p,
		    const char *name, struct targetfile *f, bool *failed);
int		 file_walk(const struct lproc *p, const char *path);
int		 file_openin(const struct lproc *p, const char *dir,
		    const char *name, bool ask, struct targetfile *f);
int64_t		 file_fetch(const struct targetfile *f, const char *name,
		    size_t most, struct bulk *b);
struct source	*file_source(struct snap *s, struct targetfile *f,
		    const char *name, int *fd);
void		 file_close(struct targetfile *f);
void		 file_lookelf(struct targetfile *f);

/* far.c: files read through the proxy, as sources */
struct source	*source_far(struct snap *s, const struct targetfile *t,
		    const char *name);

/* localfs.c: file systems that only the kernel of this machine serves */
bool		 localfs_hasdevice(pid_t pid, uint64_t dev);
bool		 localfs_hasmount(pid_t pid, uint64_t id);
bool		 localfs_canlook(const struct mountinfo *m);
bool		 localfs_haspath(const struct bytes *text, const char *path);
bool		 localfs_hastype(uint64_t dev, long type);
void		 localfs_forget(void);

/* copy.c: copy bytes while processes are stopped */
struct copyrun {
	uint64_t	 from;	/* byte offset in the input */
	uint64_t	 to;	/* byte offset in the output file or memory */
	uint64_t	 len;	/* length in bytes; not 0 */
};

struct copyjob {
	int		 in;	/* borrowed, like all members but "alone" */
	int		 out;
	uint8_t		*memory; /* destination; NULL: copy to the file "out" */
	bool		 shorter; /* the input may end within a run */
	bool		 sparse; /* unwritten parts of the file "out" read as
				    zeros */
	/* reads from "pid" in place of "in", and returns false if it may not;
	   NULL: not used */
	bool		(*alone)(pid_t pid, int pagemap, void *buf, size_t len,
			    uint64_t addr);
	pid_t		 pid;	/* process whose memory is "in" */
	int		 pagemap; /* pagemap of "pid" */
	const struct copyrun *run;
	size_t		 n;
};

int		 copy_runs(const struct copyjob *j);

/* prepared.c: copy buffer allocated before the stop */
int		 prepared_copy(struct live *l, const struct copyjob *j);
void		 prepared_drop(struct live *l, int out);
int		 prepared_file(struct live *l);
void		 prepared_free(struct live *l);
void		 prepared_make(struct live *l, uint64_t most);
int		 prepared_write(struct live *l);

/* shared.c: copies of shared files, made during the stop */
int		 shmcopy_make(struct live *l, const struct lproc *p, int fd,
		    const struct stat *st);
bool		 shmcopy_has(struct live *l, const struct lproc *p,
		    const struct stat *st);
int		 shmcopy_open(struct live *l, const struct lproc *p,
		    int fd, struct stat *st);
uint64_t	 ipc_space(const struct lproc *p, const char *path);
void		 shmcopies_free(struct live *l);

/* carry.c: files included in the snapshot */
struct carry {			/* a file included in the snapshot */
	struct carry	*next;	/* owned; next entry with the same device and
				   inode in maps, from another IPC namespace or
				   with another st_dev */
	struct carry	*after;	/* borrowed; next in the list of all entries */
	struct vma	 vma;	/* a mapping of the file; its name is owned */
	struct source	*src;	/* borrowed */
	struct stat	 st;
	uint64_t	 ipc;	/* number of the IPC namespace of the file, if
				   it is System V shared memory; else 0 */
	bool		 mem;	/* include the file as memory, not as a text */
};

int		 carry_note(struct live *l, const struct lproc *p,
		    const struct vma *v, struct source *src,
		    const struct stat *st, bool mem);
int		 carry_open(struct live *l, struct snap *s,
		    const struct lproc *p, const struct vma *v,
		    const char *name);
const struct carry *carry_first(const struct live *l);

/* treatment.c: choose how to take a file mapping */
enum treatment {
	TAKE_MEMORY,	/* take all pages from the process */
	TAKE_FILE,	/* take unmodified pages from the file */
	TAKE_DATA,	/* like TAKE_FILE, but skip holes of the file */
	TAKE_DUMPED, /* like TAKE_DATA; the file may change while it is read */
	TAKE_PRESENT,	/* take resident pages only: the file cannot be
			   opened, or is a [vdso] that differs from ours */
	LEAVE_FILE,	/* leave out unmodified pages */
	LEAVE_KERNEL,	/* leave out all pages: they belong to the kernel */
	LEAVE_DEVICE,
	LEAVE_SECRET,
	TAKE_FAILED	/* an error occurred; errstr says which */
};

enum treatment	 treatment_choose(struct live *l, const struct lproc *p,
		    const struct vma *v, struct targetfile *f);
uint64_t	 treatment_length(const struct live *l, const char *name,
		    const struct stat *st);
bool		 file_isunlinked(const struct vma *v, const struct stat *st);

#endif
