// Package peertest starts nodes in the process of a test, connects them over loopback, and
// checks what they fetch. It can inject faults. Only tests, and programs that tests run,
// import it.
//
// A test starts clusters of nodes, seeds random bytes at one of them, and gets these at the other nodes:
//
//	nodes := peertest.Clusters(t, 2, 3)
//	_, link, content := peertest.SeedRandom(t, nodes[0], 12<<20, peer.SeedOptions{})
//	gets := peertest.GetAll(t, nodes[1:], link)
//	peertest.WaitEqual(t, gets, content)
//
// Functions that take a [testing.TB] end the test when they fail. What they start or create
// goes with the test.
package peertest
