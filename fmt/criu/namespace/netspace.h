/*
 * Network namespaces in CRIU images: declarations shared by netspace.c,
 * netlinks.c, netlost.c, netconf.c and rtnetlink.c.
 */
#ifndef NETSPACE_H
#define NETSPACE_H

#include "namespace.h"

struct message {		/* a message of rtnetlink(7); pointers are
				   borrowed */
	const uint8_t	*whole;
	size_t		 size;
	const uint8_t	*body;
	const uint8_t	*attributes;
	size_t		 len;	/* size of the attributes in bytes */
};

struct link {			/* a message of net/links */
	struct message	 message;
	uint32_t	 type;	/* type of the link in images; 0: criu cannot
				   create the link */
	uint32_t	 index;
	uint32_t	 flags;
	char		 name[16];
	char		 kind[16];
};

struct setting {		/* a line of net/settings or net/peers */
	const char	*name;	/* name and value are borrowed */
	char		*value;
};

struct settings {
	struct setting	*v;	/* owned; sorted by name */
	size_t		 n;
};

/* rtnetlink.c */
bool		 message_next(struct recfile *f, size_t body,
		    struct message *m);
bool		 message_number(const struct message *m, unsigned int type,
		    uint32_t *v);
const uint8_t	*attribute_find(const uint8_t *p, size_t len,
		    unsigned int type, size_t *n);
void		 attribute_text(const uint8_t *p, size_t len,
		    unsigned int type, char *text, size_t size);

/* netconf.c */
int		 settings_read(struct settings *s, struct pool *p,
		    const struct maketask *t, const char *file);
int		 sysctls_conf(struct criumake *m, ProtobufCMessage *e,
		    size_t off, const struct settings *s, int version,
		    const char *link);
int		 sysctls_one(struct criumake *m, ProtobufCMessage *e,
		    size_t off, const struct settings *s, const char *name,
		    bool number);
const char	*setting_find(const struct settings *s, const char *name);

/* netlost.c */
int		 netlost_note(struct criumake *m, const struct settings *s);

/* netlinks.c */
bool		 link_next(struct recfile *f, struct link *l);
int		 netlinks_check(struct criumake *m, const struct maketask *t,
		    bool *all);
int		 netlinks_write(struct criumake *m, const struct settings *s);

#endif
