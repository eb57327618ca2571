/*
 * Open files as read from records by find.c, keys.c, keyread.c and open.c.
 */
#ifndef CRIUOPENS_H
#define CRIUOPENS_H

#include "criu/img/img.h"

enum makewhy {			/* kinds of things that cannot be restored */
	WHY_NEVER, /* a whole process; it cannot be left out */
	WHY_CGROUPS,		/* cgroups, which are left out even if option -f
				   does not name them */
	WHY_AIO, WHY_CREDENTIALS, WHY_DELETED, WHY_DEVICE, WHY_EPOLL,
	WHY_EVENTFD, WHY_FANOTIFY, WHY_GUARD, WHY_HUGETLB, WHY_INOTIFY,
	WHY_IO_URING,
	WHY_LOCKS, WHY_MOUNT, WHY_MQUEUE, WHY_MULTICAST, WHY_NAMESPACES,
	WHY_NETLINK,
	WHY_OTHER, WHY_PACKET, WHY_PAGES, WHY_PIDFD, WHY_PIPE, WHY_RAW,
	WHY_SECRETMEM, WHY_SHM, WHY_SHSTK, WHY_SOCKOPT, WHY_SYSV, WHY_TCP,
	WHY_TIMER, WHY_TTY, WHY_UDP, WHY_UNIX, WHY_USERFAULTFD, WHY_USERNS,
	WHY_KINDS
};

enum openkind {			/* types of open files in snap-linux(6); fewer
				   than 32 */
	KIND_OTHER,		/* type "other", and any unknown type */
	KIND_CHR, KIND_DEVICE, KIND_DIR, KIND_EPOLL, KIND_EVENTFD,
	KIND_FANOTIFY, KIND_FIFO, KIND_INET, KIND_INOTIFY, KIND_IO_URING,
	KIND_LINK, KIND_MEMFD, KIND_MQUEUE, KIND_NAMESPACE, KIND_NETLINK,
	KIND_PACKET, KIND_PIDFD, KIND_PIPE, KIND_REG, KIND_SIGNALFD,
	KIND_TIMERFD, KIND_TTY, KIND_UNIX, KIND_MAX
};

enum makesince { /* features that need a certain version of criu; see why.c */
	SINCE_LONG,		/* any feature that criu 3.17 already has */
	SINCE_GUARD, SINCE_AMBIENT, SINCE_ITIMER, SINCE_PAC, SINCE_PIDFD,
	SINCE_PING, SINCE_RESET, SINCE_TTL, SINCE_NODELAY, SINCE_MEMBARRIER,
	SINCE_MODE, SINCE_PRIVS, SINCE_TOS, SINCE_CGROUP, SINCE_PKTINFO,
	SINCE_STOP, SINCE_MAX
};

enum { MAKEICMP = 8 };		/* number of 32-bit words in ICMPV6_FILTER */

struct makeicmp {		/* the filter of an ICMP socket */
	uint32_t	 v[MAKEICMP];
	size_t		 n;
};

struct makeaddress {
	uint32_t	 word[4]; /* in network byte order; IPv4 uses only
				     word[0] */
	uint32_t	 port;	/* port number; 0: none */
	char		 text[64]; /* the address as text, for messages */
};

struct makeinet {		/* members for an internet socket only */
	struct makeaddress local;
	struct makeaddress remote;
	struct makeicmp	 icmp;
	char		*device; /* device, congestion and ulp are owned, or
				    NULL */
	char		*congestion;
	char		*ulp;
};

enum openkey {			/* keys with numbers in file "file/ID" of a
				   record */
	OK_FLAGS, OK_POS, OK_MODE, OK_UID, OK_GID, OK_SIZE, OK_NLINK, OK_INO,
	OK_DEV, OK_RDEV, OK_DELETED, OK_OWNER, OK_CAPACITY, OK_ALONE, OK_SEALS,
	OK_COUNT, OK_SEMAPHORE, OK_MASK, OK_CLOCK, OK_SETTIME, OK_INTERVAL,
	OK_LEFT, OK_TICKS, OK_SOCKET, OK_OPTIONS, OK_TIMEOUTS,
	OK_INDEX, OK_MASTER, OK_TERMIOS, OK_TERMLOCK, OK_WINSIZE, OK_EXCLUSIVE,
	OK_PACKET, OK_SHUT, OK_WAITING, OK_HUNGUP, OK_PID, OK_TIMES, OK_UNREAD,
	OK_PROTOCOL, OK_FAMILY, OK_STREAM, OK_AGREED, OK_WINDOW,
	OK_LOCK, OK_NETLINK, OK_BOUND, OK_FRAMES, OK_RXRING, OK_TXRING,
	OK_FANOUT, OK_HUGEPAGES, OK_GROUP, OK_FAILED, OK_ENDED, OK_MAX,
	/* keys that may be repeated follow */
	OK_CALLER = OK_MAX, /* inodes of connections that wait to be accepted */
	OK_PASSED,		/* descriptors queued in a socket */
	OK_SENDER,		/* processes that sent queued packets */
	OK_MEMBER,		/* groups of a netlink socket */
	OK_LISTENS,		/* memberships of a packet socket */
	OK_TARGET,		/* files watched by an epoll set */
	OK_WATCH,		/* watches of an inotify set */
	OK_MARK, OK_MOUNTMARK,	/* marks of a fanotify group */
	OK_OPTION, /* socket options that differ from a new socket's */
	OK_FILTER,		/* BPF instructions */
	OK_MULTICAST,		/* multicast groups: address and interface */
	OK_KEYS
};

enum { OPEN_NUMBERS = 7 };	/* maximum number of values in a key */

enum {				/* indexes into v[OK_SOCKET] */
	SOCK_TYPE, SOCK_STATE, SOCK_PEER, SOCK_BACKLOG, SOCK_SHUTDOWN
};

enum {				/* indexes into v in struct openline */
	PASSED_PACKET = 0, PASSED_ID, /* for OK_PASSED: index of the packet, and
					 number of the open file */
	LISTENS_COUNT = 1, LISTENS_TYPE, /* for OK_LISTENS: count, and mr_type
					    of packet(7) */
	TARGET_FD = 0, TARGET_ID = 3, /* for OK_TARGET; v[TARGET_ID] is NOFILE
					 if the file is not recorded */
	WATCH_MASK = 1, WATCH_DEV, WATCH_INO, WATCH_TYPE, /* for OK_WATCH;
					WATCH_TYPE: type of the file handle */
	MARK_FLAGS = 0, MARK_MASK, MARK_IGNORED, MARK_DEV, MARK_INO, MARK_TYPE
};

#define NOFILE	UINT64_MAX

struct openline {		/* a line of a key that may be repeated */
	enum openkey	 key;
	size_t		 line;	/* number of the line in the record file */
	uint64_t	 v[OPEN_NUMBERS];
	uint8_t		*bytes;	/* borrowed, or NULL */
	size_t		 len;	/* size of the data at "bytes" */
	char		*text[2]; /* borrowed words, or NULL */
};

struct makeopen {		/* an open file description */
	uint64_t	 key;	/* number of the open file in the record */
	uint32_t	 id;	/* ID in files.img; 0: not written */
	enum openkind	 type;
	char		*path;	/* pointers are owned unless marked */
	char		*link;	/* another path to the file, or NULL */
	char		*leads;	/* target of a deleted symbolic link */
	char		*space;	/* kind of the namespace, such as "net" */
	char		*why;	/* reason why the file was not recorded in full
				   or cannot be restored, or NULL */
	enum makewhy	 kind;	/* kind of the reason in "why" */
	uint8_t		*name;	/* address of a UNIX socket */
	size_t		 namelen;
	uint8_t		*peer;	/* address of the UNIX socket's peer */
	size_t		 peerlen;
	uint8_t		*cc[2];	/* control characters of a terminal: [0] for
				   OK_TERMIOS, [1] for OK_TERMLOCK */
	size_t		 cclen[2];
	uint64_t	*v[OK_MAX]; /* numbers of each key; for a key that the
				       file lacks, zeros that all open files
				       share */
	uint64_t	 has;	/* set of the keys that the file has: bit k for
				   key k */
	struct makeinet	*inet;	/* facts about an internet socket, or NULL */
	struct openline	*line;	/* sorted by key, then in the order of the
				   record */
	size_t		 nline;
	bool		 passing; /* no process has this file: it is queued
				     in a socket */
	bool		 present; /* used by makequeue_order(): criu has this
				     file already */
	bool		 turn;	/* this socket is in the array "turn" of
				   struct criumake */
	size_t		 senders; /* number of sockets connected to this
				     socket */
	size_t		 awaited; /* used by makequeue_order(): number of
				     senders that criu does not have yet */
	unsigned int	 ends;	/* ends of the pipe or FIFO that are restored:
				   bits PIPE_READ and PIPE_WRITE */
	bool		 packets; /* an end of the pipe has O_DIRECT: each
				     write(2) makes a packet (pipe(2)) */
	unsigned int	 stdio;	/* only in an inode's first file: 1 + the
				   standard descriptor of criu that replaces the
				   file; 0: none */
	bool		 stdio_noted; /* only in an inode's first file: "stdio"
					 has been reported */
	bool		 data;	/* only in an inode's first file: the inode's
				   data has been written */
	bool		 locked; /* the locks of this file have been written */
	bool		 linked; /* "path" is not the name by which the file was
				    opened */
	bool		 renamed; /* "linked" is set, and /proc will show a
				     different name */
	bool		 watched; /* a deleted file that an inotify set or
				     fanotify group watches */
	bool		 used;	/* the file is open in a process to restore, or
				   queued in a socket that is in use */
	bool		 noted;	/* a note about this file has been recorded */
	uint64_t	 mount;	/* ID of the mount on which the file was opened;
				   0: unknown */
	const struct maketask *user; /* borrowed; the process in which criu
					creates this file: of those that have
					it, the one with the lowest ID
					(criu/files.c) */
};

#define NOFD	UINT64_MAX

struct makefd {			/* a descriptor */
	uint64_t	 fd;	/* NOFD: it is only queued in a socket */
	bool		 cloexec;
	struct makeopen	*open;	/* borrowed */
};

#endif
