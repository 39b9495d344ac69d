// Package browser tests the pages of --http in Chromium. It is a module of its own, so that what drives
// the browser is no dependency of mob.
package browser
