/*
 * Make the data of a process or thread in the tree that its files need, when
 * the first of these files is used, and keep it.
 */
#include "criu/write/write.h"
#include "record/record.h"
#include "tree.h"

static void
member_warn(const struct member *m, const char *what)
{
	warn_tell(m->tree->warn, m->tree->arg, "process %" PRIu64 ": %s: %s",
	    m->proc->pid, what, snap_errstr());
}

static const char *
record_name(const void *arg, size_t i, size_t *len)
{
	struct recfile f;

	linuxrec_get(arg, i, &f);
	*len = f.namelen;
	return f.name;
}

static const char *
sysroot_name(const void *arg, size_t i, size_t *len)
{
	const struct sysroot *r = arg;

	*len = strlen(r->f[i].path);
	return r->f[i].path;
}

/*
 * Return the paths in directory linux/ or root/ of m, depending on class.
 */
struct paths
member_paths(struct member *m, enum fsclass class)
{
	struct paths ps;

	if (class == FS_LINUX) {
		member_need(m, PART_RECORD);
		ps.arg = &m->record;
		ps.name = record_name;
		ps.n = m->record.n;
	} else {
		member_need(m, PART_ROOT);
		ps.arg = &m->sysroot;
		ps.name = sysroot_name;
		ps.n = m->sysroot.n;
	}
	if (ps.n > FS_INDEX_MAX)
		ps.n = FS_INDEX_MAX; /* larger indices do not fit in inode
					numbers */
	return ps;
}

static void
maps_make(struct member *m)
{
	struct recfile f;

	m->linux = linuxrec_find(&m->record, "maps", &f);
	if (proc_vmas(m->proc, &m->vmas) == -1 ||
	    (m->vmas.n > FS_INDEX_MAX && errstr_set("too many mappings"))) {
		member_warn(m, "map");
		vmas_free(&m->vmas);
	}
}

/*
 * Build the parts that are set in want, and the parts that those need, unless m
 * has them already. The caller must hold the lock of m.
 */
static void
parts_make(struct member *m, unsigned int want)
{
	unsigned int have;

	have = atomic_load(&m->parts);
	if (want & PART_ROOT)
		want |= PART_MAPS;
	if (want & PART_MAPS)
		want |= PART_RECORD;
	want &= ~have;
	if (want & PART_RECORD &&
	    linuxrec_open(&m->record, proc_file(m->proc, "proc")) == -1) {
		member_warn(m, "linux");
		linuxrec_close(&m->record);
	}
	if (want & PART_MAPS)
		maps_make(m);
	if (want & PART_CORE && !m->thread && (m->core = core_new(m->snap,
	    m->proc)) == NULL)
		member_warn(m, "core");
	if (want & PART_ROOT && !m->thread && sysroot_open(&m->sysroot,
	    m->snap, m->proc, &m->record, &m->vmas) == -1)
		member_warn(m, "root");
	if (want & PART_IMAGES && (m->view = images_new(m)) == NULL)
		member_warn(m, "criu");
	atomic_store(&m->parts, have | want);
}

/*
 * Build a part of member m, if m does not have it yet. If it cannot be built,
 * warn, and leave it empty.
 */
void
member_need(struct member *m, enum member_part part)
{
	if (atomic_load(&m->parts) & part)
		return;
	pthread_mutex_lock(&m->lock);
	if (!(atomic_load(&m->parts) & part))
		parts_make(m, part);
	pthread_mutex_unlock(&m->lock);
}

/*
 * Free member m, which may be NULL, but not its process.
 */
void
member_free(struct member *m)
{
	if (m == NULL)
		return;
	linuxrec_close(&m->record);
	vmas_free(&m->vmas);
	core_free(m->core);
	sysroot_close(&m->sysroot);
	criuview_free(m->view);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
