// Package limit limits how many bytes a node sends and receives per second: rates as
// people write them, token buckets, the share of a member in the limit of a site,
// schedules, and priorities.
package limit
