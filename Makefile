# Fourteen words: build packages image test race grid guard sim faults soak fuzz bench lint cover.

SHELL := bash

# All words share one build cache, which the build settings are part of. `make test` runs all
# of vet, so `go test` need not run some of it for another time.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath -vet=off

# What needs real network namespaces, and so Linux and root. The tests run without the race detector. Those in RATES
# measure rates, one package at a time; the other ones count bytes, and wait for links and processes.
RATES := ./interop/netns ./interop/bench
GRID := $(RATES) ./interop/sshd ./interop/bench/operations ./interop/cast ./interop/collective ./interop/feed ./interop/install
# The tests in a browser are a module of their own.
BROWSER := interop/browser
# Simulations in virtual time, on a single goroutine each: there is nothing for the race
# detector, which makes them ten times slower.
SIM := ./mob/sim
# Packages without goroutines: there is nothing for the race detector, which makes them ten times slower. TestPure checks
# most of them; mob-bench runs simulations. mob/rlnc is another: its tests call it from several goroutines.
PURE = $(shell go list ./mob/... ./proto ./cast/hostset ./interop/mob-bench ./interop/bittorrent/bdecode ./interop/bittorrent/metainfo | grep -v -e '/mob/sim$$' -e '/mob/rlnc$$')
# All other packages but the root, whose tests list the module.
UNITS = $(shell go list ./... | grep -v -e '/interop/\(netns\|sshd\|bench\|bench/operations\|cast\|collective\|feed\|install\)$$' -e '/mob/sim$$' -e ^github.com/mobgrid/mob$$)
# Their tests start hosts, each of them a session of its own, and Linux gives each session as much CPU time as the one of all
# tests. So `make race`, where everything takes ten times as long, runs them without the others.
HOSTS = $(shell go list ./cast ./cast/launch ./cli/casting)

# Tests in files for builds without the race detector, which multiplies the memory and CPU time that they need.
UNRACED := TestFlat|TestMetricsCostLittle|TestFlood|TestNonMemberMemory|TestThousandNodesAnnounceTogether

FUZZTIME ?= 1m
SOAKTIME ?= 30m
COUNT ?= 3

GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
NFPM := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
# Linters that were built with an older Go refuse this module.
PINNED = GOTOOLCHAIN=go$(shell go list -m -f '{{.GoVersion}}')

# The race detector needs a C compiler: true when there is one, or one could be
# installed.
CC_THERE = { command -v "$$(go env CC)" || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get && { apt-get -qy install gcc libc6-dev || \
	{ apt-get -q update && apt-get -qy install gcc libc6-dev; }; }; }; } >/dev/null 2>&1

# Where packages and the image go, and for which machine: amd64 or arm64.
DIST ?= dist
ARCH ?= $(shell go env GOARCH)

# Tests and the programs that they run are compiled as the packages are: without cgo. So CI compiles each package once for
# all words but race, whose detector needs cgo.
packages image test grid guard sim faults soak: export CGO_ENABLED := 0
# Tests need no tables for debuggers, which take more than half of the time in which a test is linked.
test race grid guard sim faults soak: export GOFLAGS += -ldflags=-w
# The race detector has each program wait for a second before it exits: test binaries, and the programs and agents that tests start.
race: export GORACE := atexit_sleep_ms=0

.PHONY: build packages image static test race grid guard sim faults soak fuzz bench lint cover

# The programs, in bin. (`go build ./cli/mob` alone would write to the folder mob.) mob-agent is
# static, as it goes to other systems.
build:
	go build -o bin/ ./cli/mob ./cli/mobd ./interop/mob-bench
	CGO_ENABLED=0 go build -o bin/ ./cli/mob-agent

# Static programs for Linux, in DIST/bin. Their version is that of the commit, or of its tag.
static:
	GOOS=linux GOARCH=$(ARCH) CGO_ENABLED=0 go build -buildvcs=true -ldflags='-s -w' -o $(DIST)/bin/ ./cli/mob ./cli/mob-agent ./cli/mobd

# deb and rpm packages for Linux, in DIST.
packages: static
	@rm -rf $(DIST)/man
	go run ./deploy/man $(DIST)/man
	gzip -9n $(DIST)/man/man?/*
	@set -euo pipefail; export DIST=$(DIST); \
	stamp="$$(go version -m $(DIST)/bin/mobd | awk '$$1 == "mod" { print $$3 }')"; \
	export VERSION="$${VERSION:-$${stamp/(devel)/v0.0.0-devel}}"; \
	for p in deb rpm; do ARCH=$(ARCH) go run $(NFPM) package -f deploy/packages/nfpm.yaml -p $$p -t $(DIST)/; done

# A container image of the static programs, in DIST/mob-image.tar.
image: static
	@set -euo pipefail; stamp="$$(go version -m $(DIST)/bin/mobd | awk '$$1 == "mod" { print $$3 }')"; \
	version="$${VERSION:-$${stamp/(devel)/v0.0.0-devel}}"; \
	go run ./deploy/image $(DIST)/bin $(ARCH) "$$version" $(DIST)/mob-image.tar

# Units, text scenarios, short simulations, the commands as scripts and one small grid, in
# under four minutes on two cores from a fresh clone. Says what was skipped and why.
test:
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "gofmt these:"; echo "$$bad"; exit 1; }
	go vet ./... ./interop/bench/testdata/faulty
	@set -euo pipefail; \
	{ failed=0; \
	  go test -json -short -count=1 . || failed=1; \
	  go test -json -short -timeout 20m $(UNITS) $(SIM) || failed=1; \
	  $(if $(GRID),go test -json -short -count=1 -p 1 $(GRID) || failed=1;) \
	  exit $$failed; \
	} | go run .ci/report.go

# All tests but the grid's and the simulations, in another order each time, COUNT times; with the
# race detector, if the package is not pure. Some packages mostly wait, so three run at a time, and the pure ones beside them.
race:
	@$(CC_THERE) || { echo "the race detector needs a C compiler: install gcc"; exit 1; }
	@set -euo pipefail; \
	{ failed=0; \
	  pure=$$(mktemp); CGO_ENABLED=0 go test -json -p 1 -shuffle=on -count=$(COUNT) $(PURE) >$$pure & \
	  go test -json -race -timeout 30m -p 1 -shuffle=on -count=$(COUNT) $(HOSTS) || failed=1; \
	  go test -json -race -timeout 30m -p 3 -shuffle=on -count=$(COUNT) $(filter-out $(PURE) $(HOSTS),$(UNITS)) || failed=1; \
	  wait $$! || failed=1; \
	  cat $$pure; rm $$pure; \
	  exit $$failed; \
	} | go run .ci/report.go

# Our programs and stock clients on real kernel links, with kills and logins by ssh, the pages in
# a browser, and the tests that the race detector skips; as root. `.ci/install all` installs clients and browser.
grid:
	@set -euo pipefail; \
	{ failed=0; \
	  go test -json -count=1 -p 1 -timeout 30m $(RATES) || failed=1; \
	  go test -json -count=1 -p 2 -timeout 30m $(filter-out $(RATES),$(GRID)) || failed=1; \
	  browser=$$(mktemp); go -C $(BROWSER) test -json -count=1 . >$$browser & \
	  go test -json -count=1 -p 1 -run '^($(UNRACED))$$' ./cli ./cast ./cast/stream ./peer ./tracker || failed=1; \
	  wait $$! || failed=1; \
	  cat $$browser; rm $$browser; \
	  exit $$failed; \
	} | go run .ci/report.go

# Nine transfers on the grid, in under four minutes on two cores, as root. Fails when a disturbed one
# is slower than accepted, relative to the clean one, or sends content into a cluster twice.
guard:
	go test -v -count=1 -run '^TestGuard$$' ./interop/bench -guard

# The swarm in virtual time, with all seeds, thresholds and figures.
sim:
	go test -count=1 -v $(SIM)

# The tests of docs/faults.md, as root for those on the grid. Prints the table with what came of
# each.
faults:
	go test -v -count=1 -timeout 0 -run '^TestFault' . -faults

# Many transfers, joins, kills and restarts on a grid for SOAKTIME, as root. Prints what the
# daemons use.
soak:
	go test -count=1 -v -timeout 0 -run '^TestSoak$$' ./interop/bench -soak $(SOAKTIME)

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
	  bin/mob-bench grid --systems mob,aria2 --scenario fast --clusters 4x4 --size 120MB --repeat 3 --check; \
	else echo "the grid was left out: it needs Linux, root and network namespaces"; fi
	@bin/mob-bench sim --scenario fast --clusters 4x16 --size 120MB --check

# What the linter, the module file and the database of vulnerabilities say, and whether all of
# it compiles for macOS. In CI it fails if the database could not be asked.
lint:
	GOOS=darwin GOARCH=arm64 go vet ./...
	go -C $(BROWSER) vet ./...
	$(PINNED) go run $(GOLANGCI) run
	go mod tidy -diff
	go -C $(BROWSER) mod tidy -diff
	@set -euo pipefail; \
	if $(PINNED) GOBIN="$(CURDIR)/bin" go install $(GOVULNCHECK); then \
	  status=0; bin/govulncheck ./... || status=$$?; \
	else status=1; fi; \
	case $$status in \
	  0) ;; \
	  3) exit 1 ;; \
	  *) echo "govulncheck did not run: no look was taken for known vulnerabilities"; [ -z "$${CI:-}" ] ;; \
	esac

# Which statements the tests reach, in coverage.txt; the grid's tests left out.
cover:
	go test -coverpkg=./... -coverprofile=coverage.txt -short $(UNITS) $(SIM)
	@go tool cover -func coverage.txt | tail -1
