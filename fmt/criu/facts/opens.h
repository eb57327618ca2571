/*
 * Open files, as records have them: find.c, keys.c, keyread.c and open.c fill
 * these.
 */
#ifndef CRIUOPENS_H
#define CRIUOPENS_H

#include "criu/img/img.h"

enum makewhy {			/* kinds of what cannot be restored */
	WHY_NEVER,		/* and cannot be left out */
	WHY_CGROUPS,		/* they always are, asked or not */
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

enum openkind {			/* types of snap(6); less than 32 */
	KIND_OTHER,		/* and what is not known */
	KIND_CHR, KIND_DEVICE, KIND_DIR, KIND_EPOLL, KIND_EVENTFD,
	KIND_FANOTIFY, KIND_FIFO, KIND_INET, KIND_INOTIFY, KIND_IO_URING,
	KIND_LINK, KIND_MEMFD, KIND_MQUEUE, KIND_NAMESPACE, KIND_NETLINK,
	KIND_PACKET, KIND_PIDFD, KIND_PIPE, KIND_REG, KIND_SIGNALFD,
	KIND_TIMERFD, KIND_TTY, KIND_UNIX, KIND_MAX
};

enum makesince {		/* what criu reads since 3.18 or later: why.c */
	SINCE_LONG,		/* and what it has read for long */
	SINCE_GUARD, SINCE_AMBIENT, SINCE_ITIMER, SINCE_PAC, SINCE_PIDFD,
	SINCE_PING, SINCE_RESET, SINCE_TTL, SINCE_NODELAY, SINCE_MEMBARRIER,
	SINCE_MODE, SINCE_PRIVS, SINCE_TOS, SINCE_CGROUP, SINCE_PKTINFO,
	SINCE_STOP, SINCE_MAX
};

enum { MAKEICMP = 8 };		/* numbers of ICMPV6_FILTER */

struct makeaddress {
	uint32_t	 word[4]; /* as the network has it; of IPv4, one */
	uint32_t	 port;	/* 0: none */
	char		 text[64]; /* for messages */
};

struct makeinet {		/* of a socket of the internet */
	struct makeaddress local;
	struct makeaddress remote;
	uint32_t	 icmp[MAKEICMP];
	size_t		 nicmp;
	char		*device; /* owned, as the next; or NULL */
	char		*congestion;
	char		*ulp;
};

enum openkey {			/* keys of file/ID: those with numbers */
	OK_FLAGS, OK_POS, OK_MODE, OK_UID, OK_GID, OK_SIZE, OK_NLINK, OK_INO,
	OK_DEV, OK_RDEV, OK_DELETED, OK_OWNER, OK_CAPACITY, OK_ALONE, OK_SEALS,
	OK_COUNT, OK_SEMAPHORE, OK_MASK, OK_CLOCK, OK_SETTIME, OK_INTERVAL,
	OK_LEFT, OK_TICKS, OK_SOCKET, OK_OPTIONS, OK_TIMEOUTS,
	OK_INDEX, OK_MASTER, OK_TERMIOS, OK_TERMLOCK, OK_WINSIZE, OK_EXCLUSIVE,
	OK_PACKET, OK_SHUT, OK_WAITING, OK_HUNGUP, OK_PID, OK_TIMES, OK_UNREAD,
	OK_PROTOCOL, OK_FAMILY, OK_STREAM, OK_AGREED, OK_WINDOW,
	OK_LOCK, OK_NETLINK, OK_BOUND, OK_FRAMES, OK_RXRING, OK_TXRING,
	OK_FANOUT, OK_HUGEPAGES, OK_GROUP, OK_FAILED, OK_MAX,
	/* and those that may have many lines */
	OK_CALLER = OK_MAX,	/* inodes of connections that wait to be
				   accepted by a socket */
	OK_PASSED,		/* descriptors that wait in a socket */
	OK_SENDER,		/* and who sent what waits */
	OK_MEMBER,		/* groups of a netlink socket */
	OK_LISTENS,		/* for what a packet socket does */
	OK_TARGET,		/* of an epoll set */
	OK_WATCH,		/* of an inotify set */
	OK_MARK, OK_MOUNTMARK,	/* of a fanotify group */
	OK_OPTION,		/* of a socket, that are not as in a new one */
	OK_FILTER,		/* instructions of BPF */
	OK_MULTICAST,		/* groups: address and interface */
	OK_KEYS
};

enum { OPEN_NUMBERS = 7 };	/* most that a key has */

enum {				/* numbers of OK_SOCKET */
	SOCK_TYPE, SOCK_STATE, SOCK_PEER, SOCK_BACKLOG, SOCK_SHUTDOWN
};

enum {				/* and of those that may have many lines */
	PASSED_PACKET = 0, PASSED_ID, /* with which it waits, from 0 */
	LISTENS_COUNT = 1, LISTENS_TYPE, /* packet_mreq of packet(7) */
	TARGET_FD = 0, TARGET_ID = 3, /* NOFILE: not in the record */
	WATCH_TYPE = 4,		/* of its handle */
	MARK_FLAGS = 0, MARK_MASK, MARK_IGNORED, MARK_TYPE = 5
};

#define NOFILE	UINT64_MAX

struct openline {		/* a line of a key that may have many */
	enum openkey	 key;
	size_t		 line;	/* its number in the file */
	uint64_t	 v[OPEN_NUMBERS];
	uint8_t		*bytes;	/* owned; or NULL */
	size_t		 len;	/* of these */
	char		*text[2]; /* owned; its words, or NULL */
};

struct makeopen {		/* an open file description */
	uint64_t	 key;	/* its number in the record */
	uint32_t	 id;	/* and in files.img; 0: not written */
	enum openkind	 type;
	char		*path;	/* owned, as all pointers here */
	char		*link;	/* another path of it; or NULL */
	char		*leads;	/* where a deleted symbolic link leads */
	char		*space;	/* which kind of a namespace it is */
	char		*why;	/* it cannot be told in full, or restored; or
				   NULL */
	enum makewhy	 kind;	/* of why */
	uint8_t		*name;	/* of a socket */
	size_t		 namelen;
	uint8_t		*peer;	/* the name of the one it is connected to */
	size_t		 peerlen;
	uint8_t		*cc[2];	/* of a terminal: OK_TERMIOS, OK_TERMLOCK */
	size_t		 cclen[2];
	uint64_t	*v[OK_MAX]; /* numbers of each key; zeros that are not
				   its own where it is not told */
	uint64_t	 has;	/* a bit for each key that is */
	struct makeinet	*inet;	/* of a socket of the internet; or NULL */
	struct openline	*line;	/* by key, then in the order of the record */
	size_t		 nline;
	bool		 passing; /* no process has it: it waits in a socket */
	bool		 there;	/* criu has it, of those that wait */
	bool		 turn;	/* it is among those of struct criumake */
	size_t		 senders; /* sockets that are connected to it */
	size_t		 awaited; /* those of them that are to be there first */
	unsigned int	 ends;	/* of its inode that are restored: bits, */
	unsigned int	 given;	/* 1 and the descriptor of criu that these
				   become; 0: none, */
	bool		 told;	/* as was said: of the first */
	bool		 data;	/* of its inode is written, of the first */
	bool		 locked; /* its own locks are written */
	bool		 linked; /* path is another than it was opened by */
	bool		 used;	/* by a chosen process */
	bool		 noted;	/* that it is not quite as it was */
	uint64_t	 mount;	/* that it was opened on; 0: not told */
	const struct maketask *user; /* borrowed; the first that has it */
};

struct makefd {			/* a descriptor */
	uint64_t	 fd;
	bool		 cloexec;
	struct makeopen	*open;	/* borrowed */
};

#endif
