/*
 * Sockets of the internet, for CRIU images: what inetread.c, sockopt.c and
 * inet.c share.
 */
#ifndef MAKEINET_H
#define MAKEINET_H

#include "criumake.h"

enum { MAKEICMP = 8 };		/* numbers of ICMPV6_FILTER */

struct makeaddress {
	uint32_t	 word[4]; /* as the network has it; of IPv4, one */
	uint32_t	 port;	/* 0: none */
	char		 text[64]; /* for messages */
};

struct makeoption {
	char		*name;	/* owned; of socket(7), ip(7) ... */
	uint32_t	 value;
};

struct makeinet {		/* of a socket of the internet */
	struct makeaddress local;
	struct makeaddress remote;
	struct makeoption *option; /* owned */
	size_t		 noption;
	uint64_t	*filter; /* owned; instructions of BPF */
	size_t		 nfilter;
	uint32_t	 icmp[MAKEICMP];
	size_t		 nicmp;
	char		**group; /* owned; address and interface, in words */
	size_t		 ngroup;
	char		*device; /* owned, as the next; or NULL */
	char		*congestion;
	char		*ulp;
};

struct inetopts {		/* options, as an image has them */
	Criu__SocketOptions socket;
	Criu__IpOptions	 ip;
	Criu__RawOptions raw;
	Criu__TcpOptions tcp;
	protobuf_c_boolean has_v6only;
	protobuf_c_boolean v6only;
};

/* sockopt.c */
int		 makeinet_options(struct criumake *, const struct makeinet *,
		    const char *);
void		 makeinet_put(struct makeinet *, bool, struct inetopts *);

#endif
