/*
 * Find the location of a frame: its function, from symbols and DWARF, the
 * functions inlined into it, and source lines.
 */
#include "snapstack/snapstack.h"

#include <dwarf.h>

/*
 * Return name qualified with the namespaces and classes of die (C++ or Rust).
 * The result is valid until the next call. dwarf_getscopes_die() is not used:
 * with damaged DWARF it may search parts of a unit again and again.
 */
static const char *
name_qualify(const char *name, Dwarf_Die *die)
{
	static char full[1024];
	const Dwarf_Off at = dwarf_dieoffset(die);
	Dwarf_Die up, in, next;
	const char *s;
	size_t n;
	int tag;

	*full = '\0';
	if (dwarf_diecu(die, &up, NULL, NULL) == NULL)
		return name;
	/* in each DIE that contains die, find the last child up to die */
	for (n = 0; dwarf_child(&up, &in) == 0; up = in) {
		while (dwarf_siblingof(&in, &next) == 0 &&
		    dwarf_dieoffset(&next) > dwarf_dieoffset(&in) &&
		    dwarf_dieoffset(&next) <= at)
			in = next;
		if (dwarf_dieoffset(&in) >= at)
			break;
		tag = dwarf_tag(&in);
		if ((tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
		    tag == DW_TAG_structure_type) &&
		    (s = dwarf_diename(&in)) != NULL && n < sizeof full)
			n += (size_t)snprintf(full + n, sizeof full - n,
			    "%.300s::", s);
	}
	strlcat(full, name, sizeof full);
	return full;
}

/*
 * Return the DIE that declares the function of die. For an inlined function
 * this is the abstract origin. For a member function it is the declaration in
 * the class.
 */
static Dwarf_Die
die_origin(Dwarf_Die *die)
{
	static const unsigned int link[] = { DW_AT_abstract_origin,
	    DW_AT_specification };
	Dwarf_Die d = *die, next;
	Dwarf_Attribute a;
	size_t i;

	for (i = 0; i < sizeof link / sizeof *link; i++)
		if (dwarf_attr(&d, link[i], &a) != NULL &&
		    dwarf_formref_die(&a, &next) != NULL)
			d = next;
	return d;
}

static bool
has_namespaces(Dwarf_Die *cu)
{
	switch (dwarf_srclang(cu)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
		return true;
	}
	return false;
}

/*
 * Return the name of the function of die in unit cu, demangled or qualified.
 * The name is valid until the next call. Return NULL if the function has none.
 */
static const char *
die_name(Dwarf_Die *die, Dwarf_Die *cu)
{
	Dwarf_Attribute a;
	Dwarf_Die origin;
	const char *name;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) != NULL ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a) != NULL)
		return demangle(dwarf_formstring(&a));
	if (dwarf_attr_integrate(die, DW_AT_name, &a) == NULL ||
	    (name = dwarf_formstring(&a)) == NULL)
		return NULL;
	if (!has_namespaces(cu))
		return name;
	origin = die_origin(die);
	return name_qualify(name, &origin);
}

/*
 * Find the compilation unit of m that contains pc. If the table of addresses
 * does not have it, search all units, because some compilers make no table. Set
 * *bias to the difference between addresses in the process and in the DWARF.
 * Return the unit, or NULL.
 */
static Dwarf_Die *
unit_find(Dwfl_Module *m, uint64_t pc, Dwarf_Addr *bias)
{
	Dwarf_Die *cu;

	if ((cu = dwfl_module_addrdie(m, pc, bias)) != NULL)
		return cu;
	while ((cu = dwfl_module_nextcu(m, cu, bias)) != NULL)
		if (dwarf_haspc(cu, pc - *bias) == 1)
			break;
	return cu;
}

/*
 * Set the file and line in pl to the place where the inlined function die was
 * called.
 */
static void
caller_line(struct location *pl, Dwarf_Die *die, Dwarf_Die *cu)
{
	Dwarf_Files *files;
	Dwarf_Attribute a;
	Dwarf_Word v;

	pl->file = NULL;
	pl->line = 0;
	if (dwarf_getsrcfiles(cu, &files, NULL) == 0 &&
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &a), &v) == 0)
		pl->file = dwarf_filesrc(files, (size_t)v, NULL, NULL);
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &a), &v) == 0)
		pl->line = (int)v;
}

/*
 * Call fn(arg, pl) for each function inlined at pc, innermost first. pc is an
 * address in the DWARF of unit cu. Finally set pl to the location in the
 * function into which they are inlined. Return the name of that function in the
 * DWARF, or NULL.
 */
static const char *
inlined_each(struct location *pl, Dwarf_Die *cu, Dwarf_Addr pc, location_fn fn,
    void *arg)
{
	enum { MAX_INLINED = 256 }; /* maximum nesting of inlined functions */
	static Dwarf_Die in[MAX_INLINED];
	const struct location whole = *pl;
	size_t n;

	if ((n = scopes_find(cu, pc, in, MAX_INLINED)) == 0)
		return NULL;
	while (--n > 0) {
		pl->inlined = true;
		pl->function = die_name(&in[n], cu);
		pl->offset = 0;
		fn(arg, pl);
		pl->function = whole.function;
		pl->inlined = false;
		caller_line(pl, &in[n], cu);
	}
	return die_name(&in[0], cu);
}

/*
 * Set the file and line in pl to those of pc. pc is an address in the DWARF of
 * unit cu. First check that cu contains pc, because libdw assigns the bytes
 * after a unit to its last line.
 */
static void
line_find(struct location *pl, Dwarf_Die *cu, Dwarf_Addr pc)
{
	Dwarf_Line *l;

	if (dwarf_haspc(cu, pc) == 0 ||
	    (l = dwarf_getsrc_die(cu, pc)) == NULL)
		return;
	pl->file = dwarf_linesrc(l, NULL, NULL);
	(void)dwarf_lineno(l, &pl->line);
}

/*
 * Set pl->function to the name of the code at pc if the process generated that
 * code, and otherwise to NULL. Set pl->jit and pl->offset accordingly.
 */
static void
made_find(struct location *pl, struct target *t, const struct frame *f,
    uint64_t pc)
{
	uint64_t start;

	pl->function = jit_name(t, pc, &start);
	pl->jit = pl->function != NULL;
	pl->offset = pl->jit ? f->pc - start : 0;
}

/*
 * Call fn(arg, location) for each function of frame f of u. First pass the
 * inlined functions, innermost first, and then the one that contains them. Each
 * location is valid only during the call.
 */
void
locations_each(struct unwinder *u, const struct frame *f, location_fn fn,
    void *arg)
{
	const uint64_t pc = f->exact ? f->pc : f->pc - 1;
	struct location pl = { 0 };
	const struct vma *v;
	const char *symbol, *outer;
	Dwfl_Module *m;
	Dwarf_Die *cu;
	Dwarf_Addr bias;
	GElf_Off off;
	GElf_Sym sym;

	if ((v = vmas_find(&u->target->vma, pc)) != NULL)
		pl.module = v->name;
	if ((m = dwfl_addrmodule(u->dwfl, pc)) == NULL) {
		made_find(&pl, u->target, f, pc);
		fn(arg, &pl);
		return;
	}
	if (pl.module == NULL || *pl.module == '\0')
		pl.module = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL,
		    NULL, NULL);
	(void)module_id(m, pl.id, sizeof pl.id);
	symbol = dwfl_module_addrinfo(m, pc, &off, &sym, NULL, NULL, NULL);
	if (symbol != NULL && *symbol == '$')
		symbol = NULL;	/* a mapping symbol, which only marks code or
				   data (see the ABI of arm64) */
	outer = NULL;
	if ((cu = unit_find(m, pc, &bias)) != NULL) {
		line_find(&pl, cu, pc - bias);
		outer = inlined_each(&pl, cu, pc - bias, fn, arg);
	}
	if (symbol != NULL) {
		pl.function = demangle(symbol);
		pl.offset = off + (f->pc - pc);
	} else if (outer != NULL)
		pl.function = outer;
	else
		made_find(&pl, u->target, f, pc);
	fn(arg, &pl);
}
