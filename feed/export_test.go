package feed

// ServeDelay is the time before a follower serves a version that was pushed, if the publisher stays.
const ServeDelay = serveDelay
