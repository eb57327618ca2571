/*
 * Find in DWARF the function that contains an address, and the functions
 * inlined there. dwarf_getscopes() of libdw does not search DIEs without
 * addresses, such as namespaces, in which Rust has its functions.
 */
#include "snapstack/snapstack.h"

#include <dwarf.h>

enum { NESTED = 32 };		/* maximum nesting of namespaces and types */

static bool
has_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	    tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	    tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static bool
has_addresses(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	    tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	    tag == DW_TAG_catch_block;
}

/*
 * Search parent's children before offset end, and the namespaces and types
 * among them, for the DIE whose code contains pc. Set *found to that DIE, or
 * return false if there is none. found may be the same pointer as parent.
 */
static bool
holder_find(const Dwarf_Die *parent, Dwarf_Off end, Dwarf_Addr pc,
    unsigned int depth, Dwarf_Die *found)
{
	Dwarf_Die die, next, up = *parent;
	bool more;
	int tag;

	if (depth == NESTED || dwarf_child(&up, &die) != 0)
		return false;
	for (more = true; more && dwarf_dieoffset(&die) < end; die = next) {
		tag = dwarf_tag(&die);
		if (has_addresses(tag) && dwarf_haspc(&die, pc) == 1) {
			*found = die;
			return true;
		}
		/* In damaged DWARF, the sibling of a DIE may be before it, or
		   be one of its children, which would be searched twice at each
		   level. */
		next = die;
		more = dwarf_siblingof(&next, &next) == 0 &&
		    dwarf_dieoffset(&next) > dwarf_dieoffset(&die);
		if (has_functions(tag) && dwarf_haschildren(&die) == 1 &&
		    holder_find(&die, more && dwarf_dieoffset(&next) < end ?
		    dwarf_dieoffset(&next) : end, pc, depth + 1, found))
			return true;
	}
	return false;
}

/*
 * Find the functions of unit cu that contain pc, an address in its DWARF. Store
 * them, outermost first, in the array at found, which has room for max
 * elements. Return their number.
 */
size_t
scopes_find(const Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die *found, size_t max)
{
	Dwarf_Die die = *cu;
	size_t n;
	int tag;

	for (n = 0; n < max && holder_find(&die, UINT64_MAX, pc, 0, &die);) {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram) {
			/* a nested subprogram is not inlined */
			found[0] = die;
			n = 1;
		} else if (tag == DW_TAG_inlined_subroutine && n > 0)
			found[n++] = die;
	}
	return n;
}
