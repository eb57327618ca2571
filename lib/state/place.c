/*
 * Find the systemd unit, the container and the pod of a process from the names
 * of its control groups (cgroups(7)).
 *
 *	/system.slice/nginx.service			unit
 *	/docker/ID, /system.slice/docker-ID.scope	container: Docker
 *	/machine.slice/libpod-ID.scope/container	Podman
 *	/kubepods/burstable/podUID/ID			pod and container
 *	/kubepods.slice/kubepods-podU_I_D.slice/cri-containerd-ID.scope
 *	.../crio-ID.scope				CRI-O
 *	/lxc.payload.NAME, /lxc/NAME			LXC
 *
 * An ID has 64 hexadecimal digits. libpod-conmon-ID, crio-conmon-ID and
 * lxc.monitor.NAME contain the monitor of a container, not the container.
 * Names are untrusted: anyone to whom part of the tree was delegated can choose
 * them.
 */
#include "state.h"

enum { IDLEN = 64 };

static const char hex[] = "0123456789abcdef";

static bool
part_has(const struct scan *t, const char *s)
{
	return memmem(t->s, scan_len(t), s, strlen(s)) != NULL;
}

static bool
part_isof(const struct scan *t, const char *set)
{
	const char *s;

	for (s = t->s; s < t->end; s++)
		if (*s == '\0' || strchr(set, *s) == NULL)
			return false;
	return t->s < t->end;
}

/*
 * Copy t to name, which has room for PLACE_NAME bytes. Truncate it if
 * necessary.
 */
static void
name_set(char *name, const struct scan *t)
{
	const size_t len = scan_len(t), n = len < PLACE_NAME ? len :
	    PLACE_NAME - 1;

	memcpy(name, t->s, n);
	name[n] = '\0';
}

/*
 * Return true if t ends in an ID. The ID must be all of t or follow one of
 * "-:_". Set *id to the ID, and *before to the text before it, including the
 * separator.
 */
static bool
part_id(const struct scan *t, struct scan *id, struct scan *before)
{
	*id = *before = *t;
	if (t->end - t->s < IDLEN)
		return false;
	id->s = before->end = t->end - IDLEN;
	return part_isof(id, hex) && (before->s == before->end ||
	    strchr("-:_", before->end[-1]) != NULL);
}

/*
 * Return true if an ID that was found in the name of a cgroup is that of a
 * Podman pod. before is the text before the ID in this name. parent is the name
 * of the parent cgroup.
 */
static bool
is_podman(const struct scan *before, const struct scan *parent)
{
	return part_has(before, "libpod_pod_") ||
	    (before->s == before->end && scan_is(parent, "libpod_parent"));
}

/*
 * If t, a component of a path, names a pod, set pod to the name and return
 * true. parent is the component before t. If slice is set, t is the name of a
 * slice, in which underscores stand for the hyphens of the UID.
 */
static bool
pod_find(struct scan t, bool slice, const struct scan *parent, char *pod)
{
	struct scan id, before;
	char *s;

	if (part_id(&t, &id, &before) && is_podman(&before, parent)) {
		name_set(pod, &id);
		return true;
	}
	/* containerd with a wrong choice of the systemd driver */
	if ((s = memmem(t.s, scan_len(&t), ".slice:", 7)) != NULL) {
		t.end = s;
		slice = true;
	}
	if (slice) {
		if (!part_has(&t, "kubepods") || (s = memmem(t.s,
		    scan_len(&t), "-pod", 4)) == NULL)
			return false;
		t.s = s + 4;
	} else if (!scan_begins(&t, "pod") || !(part_has(parent, "kubepods") ||
	    scan_is(parent, "burstable") || scan_is(parent, "besteffort")))
		return false;
	if (!part_isof(&t, "0123456789abcdef-_"))
		return false;
	name_set(pod, &t);
	for (s = pod; *s != '\0'; s++)
		if (*s == '_')
			*s = '-';
	return true;
}

static bool
container_find(struct scan t, const struct scan *parent, char *container)
{
	struct scan id, before;

	if (part_id(&t, &id, &before)) {
		if (part_has(&before, "conmon") || is_podman(&before, parent))
			return false;
		name_set(container, &id);
		return true;
	}
	if (!scan_begins(&t, "lxc.payload.") && !scan_is(parent, "lxc") &&
	    !scan_is(parent, "lxc.payload"))
		return false;
	name_set(container, &t);
	return *container != '\0';
}

/*
 * Parse part, a component of a cgroup's path. If it names a unit, container or
 * pod, store the name in pl. parent is the component before part, or empty if
 * part is the first. Return true if part names any of these.
 */
bool
place_part(struct place *pl, struct scan part, struct scan parent)
{
	static const char *const suffix[] = {
		".service", ".scope", ".mount", ".socket", ".swap"
	};
	struct scan stem;
	bool found, slice;
	size_t i;

	/* systemd prefixes it to names that would collide with kernel files */
	(void)scan_begins(&part, "_");
	stem = part;
	slice = scan_ends(&stem, ".slice");
	found = false;
	for (i = 0; i < sizeof suffix / sizeof *suffix && !found; i++)
		found = scan_ends(&stem, suffix[i]) && stem.s < stem.end;
	if (found)
		name_set(pl->unit, &part);
	found |= pod_find(stem, slice, &parent, pl->pod);
	found |= container_find(stem, &parent, pl->container);
	return found;
}

/*
 * Set *part to the next component of path. Return false at the end.
 */
bool
place_next(struct scan *path, struct scan *part)
{
	while (scan_byte(path, '/'))
		continue;
	return scan_until(path, '/', part);
}

/*
 * Set the unit, container and pod of pl from text, len bytes of
 * /proc/PID/cgroup. Take each from the lowest-ranked of the lines that name
 * one; set it to "" if no line does. If a line names several of a kind, use
 * the innermost.
 */
void
place_cgroup(struct place *pl, const void *text, size_t len)
{
	struct cgroupline l;
	struct scan t, part, parent;
	struct place one;
	unsigned int rank;

	*pl->unit = *pl->container = *pl->pod = '\0';
	for (rank = 0; rank < CGROUP_RANKS; rank++)
		for (t = scan_begin(text, len); cgroup_next(&t, &l);) {
			if (cgroup_rank(&l) != rank)
				continue;
			memset(&one, 0, sizeof one);
			parent = scan_begin(NULL, 0);
			for (; place_next(&l.path, &part); parent = part)
				(void)place_part(&one, part, parent);
			if (*pl->unit == '\0')
				strlcpy(pl->unit, one.unit, PLACE_NAME);
			if (*pl->container == '\0')
				strlcpy(pl->container, one.container,
				    PLACE_NAME);
			if (*pl->pod == '\0')
				strlcpy(pl->pod, one.pod, PLACE_NAME);
		}
}
