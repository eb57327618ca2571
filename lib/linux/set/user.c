/*
 * Names of users.  Who is asked for them may be a process that we hold, so
 * they are looked up before anything is stopped and remembered.
 */
#include "set.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct username {
	struct username	*next;		/* owned */
	uid_t		 uid;
	char		 name[32];
};

/*
 * Ask for the name of user uid and write it, or the number where it has none,
 * to name, of size bytes.
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
 * Write the name of user uid to name, of size bytes: the number where the name
 * is not known and, with processes of set l stopped, not to be asked for.
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
 * Free the names of users that set l knows.
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
