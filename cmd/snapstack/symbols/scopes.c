/*
 * The functions that an address lies in, as DWARF has them: one, and in it
 * those that were inlined there.  dwarf_getscopes of libdw looks into nothing
 * that has no addresses itself, as namespaces, where Rust has its functions.
 */
#include "snapstack/snapstack.h"

#include <dwarf.h>

enum { NESTED = 32 };		/* namespaces and types in each other */

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
 * Set found to the DIE below parent, or below its namespaces and types, that
 * has code at pc.  Return false if there is none.  found may be parent.
 */
static bool
holder_find(const Dwarf_Die *parent, Dwarf_Addr pc, unsigned int depth,
    Dwarf_Die *found)
{
	Dwarf_Die die, up = *parent;
	Dwarf_Off at;
	int tag;

	if (depth == NESTED || dwarf_child(&up, &die) != 0)
		return false;
	do {
		tag = dwarf_tag(&die);
		if (has_addresses(tag) && dwarf_haspc(&die, pc) == 1) {
			*found = die;
			return true;
		}
		if (has_functions(tag) && dwarf_haschildren(&die) == 1 &&
		    holder_find(&die, pc, depth + 1, found))
			return true;
		at = dwarf_dieoffset(&die);
		/* what is damaged may go back */
	} while (dwarf_siblingof(&die, &die) == 0 &&
	    dwarf_dieoffset(&die) > at);
	return false;
}

/*
 * Set in, which has room for most, to the functions of the unit cu that pc, as
 * its DWARF has it, lies in, the outermost first.  Return how many there are.
 */
size_t
scopes_find(const Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die *in, size_t most)
{
	Dwarf_Die die = *cu;
	size_t n;
	int tag;

	for (n = 0; n < most && holder_find(&die, pc, 0, &die);) {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram) {
			/* one in another is a function by itself */
			in[0] = die;
			n = 1;
		} else if (tag == DW_TAG_inlined_subroutine && n > 0)
			in[n++] = die;
	}
	return n;
}
