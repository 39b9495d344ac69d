// Package hostset expands and folds sets of host names, such as n[1-20,30],gw.
//
// The grammar is the one of ClusterShell node sets (see "nodeset" in its documentation):
//
//	set     = operand { operator operand }
//	operator = "," | "!" | "&" | "^"
//	operand = { letter | "[" range { "," range } "]" }
//	range   = number [ "-" number [ "/" step ] ]
//
// Operators are applied from left to right: union, difference, intersection, symmetric
// difference. A range whose first number has leading zeros pads all its numbers to that
// width: n[08-11] is n08,n09,n10,n11. Several brackets in an operand are all combinations.
// Spaces around operands are ignored.
//
// Unlike in ClusterShell, a duplicate host in a union is an error. Node groups (@group),
// wildcards and negative numbers are not supported.
package hostset
