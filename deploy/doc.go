// Package deploy has what operators take as it is: systemd units, the default configuration,
// and the Kubernetes files, with their tests.
package deploy
