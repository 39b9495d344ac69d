# Eight words: build test race sim fuzz bench lint cover. CI runs the same.

SHELL := bash

# What runs the built programs on a grid of network namespaces: without the race
# detector and one after the other, since the programs are measured there.
GRID := ./interop/netns ./interop/bench
# Simulations: a single goroutine, as the root's tests see to, so there is nothing
# for the race detector, which makes them ten times slower.
SIMS := ./mob/sim
# All else but the root, whose tests `go list` the module.
UNITS = $(shell go list ./... | grep -v -e '/interop/\(netns\|bench\)$$' -e '/mob/sim$$' -e ^github.com/mobgrid/mob$$)

FUZZTIME ?= 1m
COUNT ?= 3

GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
# Linters that were built with an older Go refuse this module.
PINNED = GOTOOLCHAIN=go$(shell go list -m -f '{{.GoVersion}}')

# The race detector needs a C compiler: true when there is one, or one could be
# installed.
CC_THERE = { command -v "$$(go env CC)" || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get && { apt-get -qy install gcc libc6-dev || \
	{ apt-get -q update && apt-get -qy install gcc libc6-dev; }; }; }; } >/dev/null 2>&1

.PHONY: build test race sim fuzz bench lint cover

# The programs, in bin. (`go build ./cli/mob` alone would write to the folder mob.)
build:
	go build -trimpath -o bin/ ./cli/...

# Everything that must hold, and at the end what was skipped and why.
test:
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "gofmt these:"; echo "$$bad"; exit 1; }
	go vet ./...
	GOOS=darwin GOARCH=arm64 go vet ./...
	@set -euo pipefail; race=-race; note=; \
	$(CC_THERE) || { race=; note="the race detector: there is no C compiler, and none could be installed"; }; \
	{ failed=0; \
	  go test -json -count=1 . || failed=1; \
	  go test -json $$race $(UNITS) || failed=1; \
	  go test -json $(SIMS) || failed=1; \
	  go test -json -count=1 -p 1 $(GRID) || failed=1; \
	  exit $$failed; \
	} | go run .ci/report.go $${note:+"$$note"}

# A hunt for races: in another order each time, COUNT times.
race:
	go test -race -shuffle=on -count=$(COUNT) $(UNITS)

# The swarm in virtual time, with its figures.
sim:
	go test -count=1 -v $(SIMS)

# Every fuzz target for FUZZTIME. An input that finds something new is shortened for a
# minute unless told, which may be all of that time.
fuzz:
	@set -euo pipefail; \
	go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, names[i]; n = 0 }' | \
	while read -r pkg name; do \
	  echo "$$pkg $$name"; \
	  go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "$$pkg" </dev/null; \
	done

# A short comparison, in two or three minutes: against aria2 on the grid, and in the
# simulator. It fails when a copy is damaged, when mob sends content into a cluster
# twice, or when mob is the slower one. BENCHMARKS.md has the long ones.
bench: build
	@if unshare --net true 2>/dev/null; then \
	  bin/mob bench grid --systems mob,aria2 --scenario fast --clusters 4x4 --size 120MB --repeat 3 --check; \
	else echo "the grid was left out: it needs Linux, root and network namespaces"; fi
	@bin/mob bench sim --scenario fast --clusters 4x16 --size 120MB --check

lint:
	$(PINNED) go run $(GOLANGCI) run
	go mod tidy -diff
	@set -euo pipefail; \
	if $(PINNED) GOBIN="$(CURDIR)/bin" go install $(GOVULNCHECK); then \
	  status=0; bin/govulncheck ./... || status=$$?; \
	else status=1; fi; \
	case $$status in \
	  0) ;; \
	  3) exit 1 ;; \
	  *) echo "govulncheck did not run: no look was taken for known vulnerabilities" ;; \
	esac

# Which statements the tests reach, in coverage.txt; the grid's tests left out.
cover:
	go test -coverpkg=./... -coverprofile=coverage.txt $(UNITS) $(SIMS)
	@go tool cover -func coverage.txt | tail -1
