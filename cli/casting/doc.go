// Package casting has the commands cast, sbcast and gather: their flags, the picture of a running cast, and the report at its end. The cast
// itself is package cast.
package casting
