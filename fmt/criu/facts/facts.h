/*
 * Facts that CRIU images are made from, taken from the records that snap(1)
 * made of processes: processes, threads, open files and descriptors, and the
 * reasons why some of them cannot be restored. Open files are declared in
 * opens.h. Unless a comment says otherwise, owned memory is in the pool of
 * struct criumake.
 *
 * Each file needs only those above it:
 *
 *	images.c	the images being made
 *	why.c		reasons why something cannot be restored or is left out
 *	task.c		processes and threads
 *	users.c		user and group IDs of user namespaces
 *	mountread.c	lists of mounts, parsed
 *	mounts.c	how each mount is restored
 *	find.c		open files by number, inode and descriptor
 *	keyread.c	parsers for keys of open files with an irregular form
 *	keys.c		the table of all keys
 *	open.c		open files and descriptors
 */
#ifndef CRIUFACTS_H
#define CRIUFACTS_H

#include "opens.h"
#include "record/record.h"

enum {
	MAKESHARES = 4, /* number of resources that processes can share */
	USEC = 1000000, NSEC = 1000000000 /* microseconds and nanoseconds in
					     a second */
};

struct makereason {		/* why something cannot be restored */
	char		*text;	/* owned */
	enum makewhy	 kind;
};

struct mapmount {		/* the mount of a mapped file */
	uint64_t	 start;	/* address of the mapping */
	uint64_t	 mount;	/* ID of the mount */
};

struct maketask {		/* a process or a thread */
	struct proc	*proc;	/* borrowed */
	struct linuxrec	 rec;	/* owned; closed by maketask_free() */
	struct pool	*texts;	/* borrowed from struct criumake; has what
				   maketask_text() and maketask_words() read */
	struct recfile	 status; /* file "status" of the record, borrowed from
				    rec; status.len is 0 if the file is
				    missing */
	struct procstat	 stat;
	uint64_t	 part;	/* ID of the part: the same for processes
				   captured together */
	uint32_t	 pid;	/* pid, pgid and sid are IDs in the task's own
				   pid namespace */
	uint32_t	 pgid;
	uint32_t	 sid;
	struct maketask	*parent; /* borrowed; NULL: this is the tree's root */
	struct maketask	*child;	/* borrowed; first child */
	struct maketask	*sibling; /* borrowed; next sibling in the tree */
	struct maketask	*thread; /* borrowed; next thread of the same process,
				    or NULL */
	struct maketask	*files;	/* borrowed; process whose descriptors this one
				   shares */
	struct maketask	*first[MAKESHARES]; /* borrowed; for each resource, the
					       first restored process that
					       shares it */
	size_t		 place;	/* index in the array "order" of struct
				   criumake */
	struct maketask	*mounts; /* borrowed; process whose record lists the
				    mounts of this one's namespace; NULL: criu
				    does not create that namespace */
	uint32_t	 mountsid; /* ID of the mount namespace whose mounts the
				      record of this process lists; 0: none */
	uint32_t	 cgset;	/* ID of the task's cgroup set in cgroup.img;
				   0: no set or, in a thread, the set of its
				   process */
	bool		 chosen;
	bool		 ring;	/* an io_uring instance was already reported */
	struct makefd	*fd;	/* owned; descriptors in ascending order */
	size_t		 nfd;
	struct makefd	**byopen; /* owned; elements of "fd", sorted by open
				     file */
	struct vmas	 maps;	/* owned; set, and freed, while images of this
				   process are made */
	/* in "texts"; for each mapping, flags of its pages (enum criu_page);
	   0: none of its pages is restored as private memory */
	unsigned int	*pages;
	struct mapmount	*mapmount; /* owned; sorted by "start"; NULL: not read
				      yet */
	size_t		 nmapmount;
	bool		 filterssame;	/* all threads have the same seccomp
					   filters */
};

struct makeregfile {		/* a mapped file with a name, in files.img */
	uint32_t	 id;
	uint64_t	 dev;
	uint64_t	 ino;
	const struct maketask *mounts; /* borrowed; as in struct maketask */
	char		*path;	/* owned */
};

struct makeghost {		/* a deleted file; its ID is 1 + its index */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*name;	/* owned; path by which criu creates the file,
				   if the file is watched; else NULL */
};

struct makeghostdir {		/* a deleted directory */
	uint32_t	 id;	/* number in files.img */
	uint32_t	 to;	/* ID of its ghost */
	size_t		 pathlen; /* length of its path */
};

struct makefilter {		/* a seccomp filter of a thread */
	const uint8_t	*code;	/* borrowed from a record */
	size_t		 len;	/* size of code in bytes */
	uint32_t	 flags;
	bool		 chained; /* the previous filter in the image was
				     installed after this one */
};

struct makeshm {		/* shared memory */
	struct proc	*proc;	/* borrowed; embedded file with the content of
				   the memory */
	uint32_t	 file;	/* ID of the file from which the memory is
				   mapped; 0: not mapped */
	uint64_t	 huge;	/* size of a huge page in bytes; 0: normal
				   pages */
	const struct makeopen *open; /* borrowed; an open file with the shared
					memory, or NULL */
	const struct maketask *user; /* borrowed; first process that has the
					shared memory */
};

enum {				/* indexes into v in struct makesysv */
	SYSV_ID, SYSV_KEY, SYSV_MODE, SYSV_SIZE, SYSV_UID, SYSV_GID, SYSV_CUID,
	SYSV_CGID, SYSV_ATTACHED, SYSV_NUMBERS
};

enum {
	MADE_ID = 2,		/* IDs of the namespaces that criu creates for
				   the root process.  criu finds an open
				   namespace by its ID alone (open_ns_fd() in
				   its namespaces.c), so kinds that can be open
				   have IDs of their own */
	MADE_PID, MADE_UTS, MADE_IPC, MADE_NET,
	MADE_MORE = 32		/* first ID of the namespaces that criu creates
				   for other processes */
};

struct makesysv {		/* a System V shared memory segment */
	uint64_t	 v[SYSV_NUMBERS];
	struct proc	*proc;	/* borrowed; content of the segment in the
				   snapshot, or NULL */
	uint64_t	 mapped; /* number of the segment's mappings in restored
				    processes */
	bool		 used;	/* a restored process maps the segment */
	const struct maketask *whole; /* borrowed; process with adjacent
					 mappings of the whole segment, or
					 NULL */
	uint64_t	 wholeend; /* end address of the mapping of this
				      segment in process "whole" */
};

struct makeidmap { /* a range of IDs in an ID map; see user_namespaces(7) */
	uint32_t	 first;	/* first ID of the range, in the namespace */
	uint32_t	 lower;	/* first ID of the range, as snap saw it */
	uint32_t	 count;
};

struct makeids {
	struct makeidmap *v;	/* owned */
	size_t		 n;
};

struct makeaccept {		/* a connection that waits to be accepted */
	uint64_t	 caller; /* inode number of the connecting socket */
	struct makeopen	*open;	/* borrowed; the listening socket */
};

enum { /* values of "code" and "flags" in struct makemount */
	MAKEPROC = 1,		/* criu's code for proc */
	MAKETMPFS = 5,		/* criu's code for tmpfs */
	MAKEMQUEUE = 14, /* criu's code for mqueue (POSIX message queues) */
	MAKEFORBID = 15, /* flags MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC */
	MAKESLAVE = 1 << 19 /* flag MS_SLAVE: receives mounts from its master */
};

struct makemount {		/* a mount */
	struct maketask	*in;	/* borrowed; process whose record lists the
				   mount */
	uint32_t	 id;
	uint32_t	 parent; /* ID of the mount that this one is on */
	uint64_t	 dev;	/* device number as in the kernel, with 20 bits
				   for the minor number */
	char		*root;	/* root, point, type, source and options are
				   borrowed from the text of the mount list */
	char		*point;
	char		*type;
	char		*source;
	char		*options; /* options of the mounted file system, without
				     flags */
	char		 archive[40]; /* name of the file in the record that has
					 the content of a tmpfs */
	uint32_t	 flags;	/* flags of mount(2) */
	uint32_t	 system; /* mount(2) flags of the mounted file system */
	uint32_t	 shared; /* shared, master: IDs of peer groups, or 0 */
	uint32_t	 master;
	unsigned int	 code;	/* criu's code for the file system type; 0: criu
				   cannot create the mount */
	const char	*lost;	/* borrowed, as "root" is; an option of the
				   mount that criu does not know, or NULL */
	bool		 mapped; /* the mount is ID-mapped */
	bool		 left;	/* the mount is left out */
	bool		 top;	/* the mount is the root of its namespace */
	char		*outside; /* owned; path of the same file system in
				     snap's namespace, or NULL */
	uint32_t	 outside_flags; /* flags of the mount at path
					   "outside" */
	uint32_t	 outside_id; /* ID of the mount at path "outside" */
	bool		 external; /* criu binds this mount from snap's
				      namespace */
};

struct makemounts {		/* all mounts of one or more namespaces */
	struct makemount *v;	/* owned */
	size_t		 n;
	struct makemount *top;	/* borrowed; the root of the root process's
				   namespace, or NULL */
	size_t		 ncompared; /* number of mount comparisons so far, at
				       most MAX_LOOKS */
};

enum makelsm { LSM_NONE, LSM_SELINUX, LSM_APPARMOR };

struct criumake {
	struct snap	*snap;	/* pointers are borrowed unless marked */
	const struct criuopts *opts;
	struct mades	*out;
	struct maketask	**task;	/* owned; one for each process of snap; NULL
				   for an embedded file */
	struct maketask	**bypid; /* owned; elements of "task" that are not NULL,
				    sorted by pid */
	size_t		 nbypid;
	struct maketask	*root;
	struct maketask	**order; /* owned; processes to restore, parents
				    first */
	size_t		 norder;
	struct makeopen	**open;	/* owned; sorted by key */
	struct makeopen	**byino; /* owned; the same open files, sorted by type
				    and inode */
	size_t		 nopen;
	struct makeaccept *accept; /* owned; sorted by connecting socket */
	size_t		 naccept;
	struct makeregfile *regfile; /* owned; mapped files */
	size_t		 nregfile;
	struct makeghost *ghost; /* owned; deleted files */
	size_t		 nghost;
	struct makeghostdir *ghostdir; /* owned; deleted directories */
	size_t		 nghostdir;
	struct makeshm	*shm;	/* owned; shared memory objects */
	size_t		 nshm;
	struct makesysv	*sysv;	/* owned; System V shared memory segments */
	size_t		 nsysv;
	uint32_t	 lastsysv; /* greatest ID of a System V segment in
				      use */
	struct makemounts inside; /* mounts of the mount namespaces that criu
				     creates */
	struct makemounts outside; /* mounts in snap's namespace */
	struct maketask	*space;	/* process whose record describes the IPC
				   namespace, or NULL */
	struct maketask	*net;	/* process whose record describes the network
				   namespace to create, or NULL */
	struct makecgroups *cgroups; /* owned; NULL: cgroups are not restored */
	bool		 users;	/* criu creates a user namespace with the ID
				   maps "uids" and "gids" */
	struct makeids	 uids;
	struct makeids	 gids;
	uint64_t	 queued; /* total size in bytes of the messages in the
				    fullest System V queue */
	struct makefilter *filter; /* owned; filters in seccomp.img */
	size_t		 nfilter;
	struct makeopen	**turn;	/* owned; sockets with queued descriptors, in
				   the order in which they are restored */
	size_t		 nturn;
	uint32_t	 *tty; /* owned; indexes of terminals in tty-info.img */
	size_t		 ntty;
	struct buf	*files;	/* content of files.img */
	struct pool	 pool;	/* owned; what lives until all images are
				   made */
	struct pool	 texts;	/* owned; what was read of records; freed after
				   the images of each process */
	struct pool	 msgs;	/* owned; parts of the message being made */
	struct made	*common[16]; /* borrowed; images that all processes
					share */
	size_t		 ncommon;
	uint32_t	 lastid; /* last ID given to a file */
	struct makereason *reason; /* owned */
	size_t		 nreason;
	bool		 fatal;	/* a process cannot be restored, so nothing is
				   written */
	char		**note;	/* owned; sentences about what will differ after
				   the restore */
	size_t		 nnote;
	unsigned int	 since;	/* bits of enum makesince */
	enum makelsm	 lsm;	/* security module (LSM) whose profiles the
				   processes have */
	size_t		 nclosed; /* number of connections that the restore
				     closes */
	char		*lock;	/* owned; nft(8) table that locks
				   connections; "": iptables(8) locks them;
				   NULL: they are not locked */
	unsigned int	 made;	/* kinds of namespaces that criu creates: flags
				   such as CLONE_NEWNET */
	unsigned int	 spaces; /* kinds of open namespaces that criu does not
				    create: flags, as in "made" */
	unsigned int	 need;	/* bits of enum criu_need */
};

/* images.c */
struct made	*make_image(struct criumake *, uint32_t, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
int		 make_message(struct criumake *, uint32_t,
		    const ProtobufCMessage *, const char *, ...)
		    __attribute__((format(printf, 4, 5)));
struct buf	*make_common(struct criumake *, uint32_t, const char *);

/* task.c */
int		 maketask_read(struct criumake *);
struct maketask	*maketask_find(const struct criumake *, uint64_t);
struct maketask	*maketask_process(const struct criumake *, uint64_t);
bool		 maketask_ended(const struct maketask *);
bool		 maketask_isinit(const struct maketask *);
bool		 maketask_isapart(const struct maketask *, const char *);
bool		 maketask_runs(const struct maketask *);
uint32_t	 maketask_id(const struct maketask *);
const struct maketask *maketask_leader(const struct criumake *, uint32_t);
size_t		 maketask_status(const struct maketask *, const char *,
		    unsigned int, uint64_t *, size_t);
char		*maketask_text(const struct maketask *, const char *);
bool		 maketask_is(const struct maketask *t, const char *name,
		    const char *text);
char		*maketask_line(const struct maketask *, const char *);
int		 maketask_words(const struct maketask *, const char *,
		    struct words *);
int		 maketask_one(const struct maketask *, const char *,
		    const char *, const char *, uint64_t *);
int		 maketask_must(struct criumake *, const struct maketask *,
		    const char *, const char *, const char *, uint64_t *);
bool		 maketask_same(const struct maketask *,
		    const struct maketask *, const char *);
struct maketask	*maketask_beside(const struct criumake *,
		    const struct maketask *, const char *, const char *);
void		 maketask_free(struct criumake *);

/* users.c */
int		 makeusers_read(struct criumake *m);
uint32_t	 makeusers_uid(const struct criumake *m, uint64_t id);
uint32_t	 makeusers_gid(const struct criumake *m, uint64_t id);

/* mountread.c */
int		 makemounts_read(struct criumake *, struct makemounts *,
		    struct maketask *, const char *);

/* mounts.c */
bool		 path_isbelow(const char *, const char *);
int		 makemount_read(struct criumake *);
bool		 makemount_space(const struct criumake *);
const char	*makemount_below(const struct criumake *);
bool		 makemount_archive(const struct criumake *,
		    const struct makemount *, struct recfile *);
struct makemount *makemount_find(const struct makemounts *, uint64_t);
bool		 makemount_iswhole(const struct makemount *);

/* mountpath.c */
bool		 makemount_lacks(const struct criumake *, uint64_t);
bool		 makemount_isqueues(const struct criumake *,
		    const struct maketask *, const char *);
bool		 makemount_covers(const struct criumake *, uint64_t,
		    const char *);
int		 makemount_hides(struct criumake *, const struct maketask *,
		    const char *, const char **);
uint32_t	 makemount_dead(const struct criumake *,
		    const struct maketask *, const char *);
const struct maketask *makemount_in(const struct criumake *, uint64_t,
		    const struct maketask *);
void		 makemount_path(const struct criumake *,
		    const struct maketask *, const char *,
		    protobuf_c_boolean *, int32_t *);

/* find.c */
bool		 makeopen_written(const struct makeopen *);
int		 makefind_opens(struct criumake *);
struct makeopen	*makefind_open(const struct criumake *, uint64_t);
struct makeopen	*makefind_inode(const struct criumake *, enum openkind,
		    uint64_t);
struct makeopen	*makefind_peer(const struct criumake *,
		    const struct makeopen *);
struct makeopen	*makefind_accepter(const struct criumake *,
		    const struct makeopen *);
int		 makefind_inodecmp(const struct makeopen *,
		    const struct makeopen *);
int		 makefind_fds(struct criumake *, struct maketask *);
const struct makefd *makefind_fd(const struct maketask *, uint64_t, uint64_t);
bool		 makefind_data(const struct criumake *, const char *, uint64_t,
		    struct recfile *);

/* keyread.c */
int		 makekey_path(void *, struct words *);
int		 makekey_address(void *, struct words *);
int		 makekey_icmp(void *, struct words *);

/* keys.c */
bool		 makeopen_has(const struct makeopen *, enum openkey);
bool		 makekeys_type(struct makeopen *, const struct recfile *);
int		 makekeys_read(struct makeopen *, struct words *);
struct openline	*makekeys_lines(const struct makeopen *, enum openkey,
		    size_t *);
void		 makeline_fill(const struct openline *, ProtobufCMessage *);
void		 makekey_fill(const struct makeopen *, enum openkey,
		    ProtobufCMessage *);
void		 makekeys_fill(const struct makeopen *, ProtobufCMessage *);

/* open.c */
int		 makeopen_read(struct criumake *);
int		 makeopen_fds(struct criumake *, struct maketask *);
bool		 makeopen_dir(const struct makeopen *, char *, size_t);
bool		 makeopen_orphan(const struct criumake *,
		    const struct makeopen *);
void		 makeopen_entry(struct criumake *, const struct makeopen *,
		    enum criu_fdtype, size_t, uint32_t, ProtobufCMessage *);

/* why.c */
int		 make_refuse(struct criumake *, const struct maketask *,
		    const struct makefd *, enum makewhy, const char *, ...)
		    __attribute__((format(printf, 5, 6)));
int		 make_unmapped(struct criumake *, const struct maketask *,
		    const struct vma *, enum makewhy, const char *);
int		 make_never(struct criumake *, const struct maketask *,
		    const char *, ...) __attribute__((format(printf, 3, 4)));
int		 make_note(struct criumake *, const struct maketask *,
		    const struct makefd *, const char *, ...)
		    __attribute__((format(printf, 4, 5)));
void		 make_since(struct criumake *, enum makesince);
void		 make_word(const struct criumake *, const char *, const char *);
int		 makewhy_judge(const struct criumake *);
int		 make_missing(struct criumake *, const struct image *,
		    const char *, uint64_t, uint64_t, uint64_t);

#endif
