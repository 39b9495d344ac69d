// Package deploy has what operators take as it is: systemd units, the default configuration,
// and the Kubernetes files. It tests them, and its only code gives some of them to commands.
package deploy
