// Package hostset expands and folds sets of host names, such as n[1-20,30],gw.
//
// The grammar is that of ClusterShell's node sets (see "nodeset" in its documentation):
//
//	set     = operand { operator operand }
//	operator = "," | "!" | "&" | "^"
//	operand = { letter | "[" range { "," range } "]" }
//	range   = number [ "-" number [ "/" step ] ]
//
// Operators are applied from left to right: union, difference, intersection, symmetric
// difference. A range whose first number has leading zeros pads all its numbers to that
// width: n[08-11] is n08,n09,n10,n11. Several brackets in an operand are all combinations.
// Blanks may be around operands.
//
// In place of what ClusterShell's sets do with it, a host twice in a union is an error.
// There are no node groups (@group), no wildcards and no negative numbers.
package hostset
