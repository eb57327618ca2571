/*
 * Names in a Linux record that are made from the model, and applied to it.
 */
#ifndef LINUXREC_H
#define LINUXREC_H

#define MEM_MISSING	"missing"
#define TEXT_MISSING	"missing-text"
#define CARRIED		"carried"

#endif
