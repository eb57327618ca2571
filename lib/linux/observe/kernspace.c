/*
 * Read the address space of the kernel: its own sections from the symbols at
 * their ends (/proc/kallsyms), modules (/proc/modules), and areas mapped by
 * vmalloc and ioremap (/proc/vmallocinfo). Where kernel.kptr_restrict is 0, the
 * addresses in vmallocinfo are hashed.
 */
#include "bisect.h"
#include "state/state.h"
#include "vec.h"

#define KERNEL_HALF	((uint64_t)1 << 63)

static const struct part {
	const char	*first, *last;	/* symbols at the start and end of this
					   part of the kernel */
	const char	*name;
	unsigned int	 flags;
} parts[] = {
	{ "_text", "_etext", "[kernel text]", VMA_READ | VMA_EXEC },
	{ "__start_rodata", "__end_rodata", "[kernel rodata]", VMA_READ },
	{ "_sdata", "_edata", "[kernel data]", VMA_READ | VMA_WRITE },
	{ "__bss_start", "__bss_stop", "[kernel bss]", VMA_READ | VMA_WRITE }
};

enum { NPARTS = sizeof parts / sizeof *parts };

/*
 * Append to the mappings of sp a part of the kernel with this name. Ignore a
 * part with an empty range, or with addresses outside the kernel's half of the
 * address space.
 */
static int
kernel_add(struct space *sp, uint64_t start, uint64_t end, unsigned int flags,
    const char *name)
{
	struct vma v = { .start = start, .end = end,
	    .flags = flags | VMA_SHARED };

	if (start < KERNEL_HALF || end <= start)
		return 0;
	return (v.name = str_dup(name)) == NULL ? -1 : vmas_add(&sp->vma, &v);
}

static int
kernel_parts(struct space *sp)
{
	uint64_t at[NPARTS][2] = { 0 };
	unsigned long long addr;
	char line[512], name[256];
	size_t i;
	FILE *f;
	int rc;

	if ((f = fopen("/proc/kallsyms", "re")) == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL) {
		if (sscanf(line, "%llx %*c %255s", &addr, name) != 2)
			continue;
		for (i = 0; i < NPARTS; i++) {
			if (strcmp(name, parts[i].first) == 0)
				at[i][0] = addr;
			if (strcmp(name, parts[i].last) == 0)
				at[i][1] = addr;
		}
	}
	fclose(f);
	for (rc = 0, i = 0; rc == 0 && i < NPARTS; i++)
		rc = kernel_add(sp, at[i][0], at[i][1], parts[i].flags,
		    parts[i].name);
	return rc;
}

/*
 * Append the kernel modules to the mappings of sp. Lines of /proc/modules are:
 * NAME SIZE COUNT USERS STATE ADDRESS.
 */
static int
kernel_modules(struct space *sp)
{
	unsigned long long addr, size;
	char line[4096], module[128], name[160];
	FILE *f;
	int rc;

	if ((f = fopen("/proc/modules", "re")) == NULL)
		return 0;
	for (rc = 0; rc == 0 && fgets(line, sizeof line, f) != NULL;) {
		if (sscanf(line, "%127s %llu %*s %*s %*s 0x%llx", module,
		    &size, &addr) != 3)
			continue;
		snprintf(name, sizeof name, "[module %s]", module);
		rc = kernel_add(sp, addr, addr + size, VMA_READ | VMA_WRITE |
		    VMA_EXEC, name);
	}
	fclose(f);
	return rc;
}

/*
 * Append the areas in /proc/vmallocinfo to the mappings of sp. Its lines are:
 * START-END SIZE CALLER ... KIND. A line whose addresses do not match its size
 * is skipped, because its addresses are hashed.
 */
static int
kernel_vmalloc(struct space *sp)
{
	unsigned long long start, end, size;
	char line[1024], caller[128], name[160];
	FILE *f;
	int rc;

	if ((f = fopen("/proc/vmallocinfo", "re")) == NULL)
		return 0;
	for (rc = 0; rc == 0 && fgets(line, sizeof line, f) != NULL;) {
		if (sscanf(line, "0x%llx-0x%llx %llu %127s", &start, &end,
		    &size, caller) != 4 || end - start != size)
			continue;
		snprintf(name, sizeof name, "[%s %.*s]", strstr(line,
		    " ioremap") != NULL ? "ioremap" : "vmalloc",
		    (int)strcspn(caller, "+"), caller);
		rc = kernel_add(sp, start, end, VMA_READ | VMA_WRITE, name);
	}
	fclose(f);
	return rc;
}

CMP(vma_cmp, struct vma, start)

/*
 * Fill in sp with the kernel's address space. The caller frees sp, even after a
 * failure; sp->denied then says whether permission is missing. Return 0, or -1
 * with errstr set.
 */
int
space_kernel(struct space *sp)
{
	size_t i, n;

	memset(sp, 0, sizeof *sp);
	sp->threads = 1;
	if (kernel_parts(sp) == -1 || kernel_modules(sp) == -1 ||
	    kernel_vmalloc(sp) == -1)
		return -1;
	if (sp->vma.n == 0) {
		sp->denied = true;
		return errstr_set("the kernel hides its addresses");
	}
	SORT(sp->vma.v, sp->vma.n, vma_cmp);
	for (i = n = 1; i < sp->vma.n; i++)	/* modules are listed in the
						   vmallocinfo file as well */
		if (sp->vma.v[i].start < sp->vma.v[n - 1].end)
			free(sp->vma.v[i].name);
		else
			sp->vma.v[n++] = sp->vma.v[i];
	sp->vma.n = n;
	return space_vmas(sp);
}
