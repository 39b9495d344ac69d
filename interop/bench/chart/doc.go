// Package chart draws the report of a comparison: what share of the bound each system
// reached, and how it used the links over time; or lines over any other figure.
package chart
