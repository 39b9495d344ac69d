// Package browser tests the pages of --http in Chromium. It is a separate module, so that the driver of
// the browser is not a dependency of mob.
package browser
