/*
 * Names of users. The name service that is asked for them may be one of the
 * processes that we stop, so names are looked up before the stop and
 * remembered.
 */
#include "set.h"

#include <pwd.h>

struct username {
	struct username	*next;		/* owned */
	uid_t		 uid;
	char		 name[32];
};

/*
 * Write the name of user uid to the buffer name, which has room for size bytes.
 * If the user has no name, write the number.
 */
void
user_name(uid_t uid, char *name, size_t size)
{
	struct passwd *pw;

	if ((pw = getpwuid(uid)) != NULL)
		strlcpy(name, pw->pw_name, size);
	else
		snprintf(name, size, "%u", (unsigned int)uid);
}

/*
 * Write the name of user uid to the buffer name, which has room for size bytes.
 * Write the number if the name would have to be looked up while processes of
 * set l are stopped: the name service could be one of them.
 */
void
live_user(struct live *l, uid_t uid, char *name, size_t size)
{
	struct username *u;

	for (u = l->users; u != NULL; u = u->next)
		if (u->uid == uid) {
			strlcpy(name, u->name, size);
			return;
		}
	if (l->stopped) {
		snprintf(name, size, "%u", (unsigned int)uid);
		return;
	}
	user_name(uid, name, size);
	if ((u = malloc(sizeof *u)) == NULL)
		return;
	u->next = l->users;
	u->uid = uid;
	strlcpy(u->name, name, sizeof u->name);
	l->users = u;
}

/*
 * Free the user names that set l remembers.
 */
void
users_free(struct live *l)
{
	struct username *u;

	while ((u = l->users) != NULL) {
		l->users = u->next;
		free(u);
	}
}
