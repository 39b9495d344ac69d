// Package deploy tests what operators take as it is: systemd units, the default configuration,
// and the Kubernetes files. It has no code of its own.
package deploy
