/*
 * Names of users.  Who is asked for them may be a process that we hold, so
 * they are looked up before anything is stopped and remembered.
 */
#include "set.h"
#include "space.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Ask for the name of user uid and write it, or the number where it has none,
 * to name, of so many bytes.
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
 * Write the name of user uid to name, of so many bytes: the number where the
 * name is not known and, with processes of set l stopped, not to be asked for.
 */
void
live_user(struct live *l, uid_t uid, char *name, size_t size)
{
	struct username *v;
	size_t i;

	for (i = 0; i < l->nuser; i++)
		if (l->user[i].uid == uid) {
			strlcpy(name, l->user[i].name, size);
			return;
		}
	if (l->stopped) {
		snprintf(name, size, "%u", (unsigned int)uid);
		return;
	}
	user_name(uid, name, size);
	if ((v = reallocarray(l->user, l->nuser + 1, sizeof *v)) == NULL)
		return;
	l->user = v;
	v[l->nuser].uid = uid;
	strlcpy(v[l->nuser++].name, name, sizeof v->name);
}
