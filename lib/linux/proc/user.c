/*
 * Names of users.  Who is asked for them may be a process that we hold, so
 * they are looked up before anything is stopped and remembered.
 */
#include "linux/live.h"
#include "proc.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The name of a user, or the number where the name is not known or not to
 * be asked for now.
 */
void
live_user(struct live *l, uid_t uid, char *name, size_t size)
{
	struct username *v;
	struct passwd *pw;
	size_t i;

	for (i = 0; i < l->nuser; i++)
		if (l->user[i].uid == uid) {
			strlcpy(name, l->user[i].name, size);
			return;
		}
	snprintf(name, size, "%u", (unsigned int)uid);
	if (l->stopped)
		return;
	if ((pw = getpwuid(uid)) != NULL)
		strlcpy(name, pw->pw_name, size);
	if ((v = reallocarray(l->user, l->nuser + 1, sizeof *v)) == NULL)
		return;
	l->user = v;
	v[l->nuser].uid = uid;
	strlcpy(v[l->nuser++].name, name, sizeof v->name);
}
