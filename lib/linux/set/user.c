/*
 * Names of users. The name service that is asked for them may be one of the
 * processes that we stop, so names are looked up before the stop and
 * remembered.
 */
#include "set.h"
#include "vec.h"

#include <pwd.h>

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
	void **known = live_cell(l, "user %u", (unsigned int)uid);

	if (known != NULL && *known != NULL)
		strlcpy(name, *known, size);
	else if (l->stopped)
		snprintf(name, size, "%u", (unsigned int)uid);
	else {
		user_name(uid, name, size);
		if (known != NULL)
			*known = pool_string(&l->pool, name);
	}
}
