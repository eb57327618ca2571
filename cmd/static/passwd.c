/*
 * Look up users in programs without shared libraries ("make static"). The C
 * library's functions load the modules that /etc/nsswitch.conf names, and with
 * them a shared C library, which on another machine differs from the one linked
 * here. These replace them, and read only /etc/passwd.
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

/*
 * Return the first entry of /etc/passwd with the given name. If name is NULL,
 * return the first with user ID uid. The entry is valid until the next call.
 * Return NULL if there is none.
 */
static struct passwd *
passwd_find(const char *name, uid_t uid)
{
	struct passwd *pw;
	FILE *f;

	if ((f = fopen("/etc/passwd", "re")) == NULL)
		return NULL;
	while ((pw = fgetpwent(f)) != NULL)
		if (name == NULL ? pw->pw_uid == uid :
		    strcmp(pw->pw_name, name) == 0)
			break;
	fclose(f);
	return pw;
}

struct passwd *
getpwuid(uid_t uid)
{
	return passwd_find(NULL, uid);
}

struct passwd *
getpwnam(const char *name)
{
	return passwd_find(name, 0);
}
