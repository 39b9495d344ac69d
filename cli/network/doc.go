// Package network has the commands of a private network and of its servers: network, join, and tracker with its page.
package network
