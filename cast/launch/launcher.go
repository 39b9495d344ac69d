package launch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config configures a [Launcher].
type Config struct {
	// Shell is called as Shell... HOST COMMANDLINE.
	Shell []string
	// Programs are what [Find] found.
	Programs *Programs
	// Window is how many logins may be under way at a time; 0 means 32.
	Window int
	// Keep leaves the program in the cache of the host, where the next cast finds it.
	Keep bool
	// Log is for what goes wrong and is tried in another way. It may be nil.
	Log *slog.Logger
	// Note is told what happens on a host: "login", "program" while it gets the program, then
	// "start". It must not block. It may be nil.
	Note func(host, phase string)
}

// Launcher starts the program on hosts. Its methods may be called by several goroutines.
type Launcher struct {
	cfg    Config
	window chan struct{} // a place for each login
	times  times

	mu     sync.Mutex
	depots map[place]*depot
	firsts map[string]context.Context // by cluster: end when its other hosts may log in
}

// place is where hosts share a depot.
type place struct {
	cluster  string
	platform platform
}

// times bound what a host may take.
type times struct {
	ahead    time.Duration // before the other hosts of its cluster log in
	login    time.Duration // until the script speaks
	upload   time.Duration // without a sign of life while it gets the archive
	stall    time.Duration // until another host need not wait for that
	start    time.Duration // from the archive to the hello
	pause    time.Duration // before a second login; twice as long before each that follows
	attempts int           // of logins
}

// New returns a [Launcher].
func New(cfg Config) *Launcher {
	if cfg.Window == 0 {
		cfg.Window = 32
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Note == nil {
		cfg.Note = func(string, string) {}
	}
	return &Launcher{
		cfg: cfg, window: make(chan struct{}, cfg.Window), depots: map[place]*depot{},
		firsts: map[string]context.Context{},
		times: times{
			ahead: time.Second, login: time.Minute, upload: time.Minute, stall: 10 * time.Second, start: 30 * time.Second,
			pause: 500 * time.Millisecond, attempts: 6,
		},
	}
}

// Start starts the program on a host and returns when it has said hello. The errors say in one line
// why there is none, and do not name the host. The process is the caller's, who waits for it; ctx
// ends the start only.
func (c *Launcher) Start(ctx context.Context, host, cluster string) (*Process, error) {
	if host == "" || strings.HasPrefix(host, "-") {
		return nil, fmt.Errorf("%q is no host", host)
	}
	defer c.awaitFirst(ctx, cluster)()
	l := &login{Launcher: c, host: host, cluster: cluster}
	defer l.leave()
	pause := c.times.pause
	for attempt := 1; ; attempt++ {
		p, err := l.try(ctx)
		if err == nil || attempt == c.times.attempts || !l.again {
			return p, err
		}
		c.cfg.Log.Debug("logging in again", "host", host, "error", err)
		select {
		case <-time.After(pause/2 + mathrand.N(pause)): // not all at once
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		pause *= 2
	}
}

// awaitFirst has the first host of a cluster log in alone: the others wait until started is called, or for a while.
// What it is started for begins while they log in. If all logged in at once, a machine that is busy with that would
// have none of them for long.
func (c *Launcher) awaitFirst(ctx context.Context, cluster string) (started func()) {
	c.mu.Lock()
	first := c.firsts[cluster]
	if first == nil {
		c.firsts[cluster], started = context.WithTimeout(context.Background(), c.times.ahead)
		c.mu.Unlock()
		return started
	}
	c.mu.Unlock()
	select {
	case <-first.Done():
	case <-ctx.Done():
	}
	return func() {}
}

// depotOf returns the depot of a cluster and platform.
func (c *Launcher) depotOf(at place) *depot {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.depots[at]
	if d == nil {
		d = new(depot)
		c.depots[at] = d
	}
	return d
}

// login is the start of the program on one host.
type login struct {
	*Launcher
	host, cluster string

	entered bool // it has a place in the window
	shell   bool // the remote shell has to upload the archive
	again   bool // after an error: another login may do better
}

// enter takes a place in the window.
func (l *login) enter(ctx context.Context) error {
	if l.entered {
		return nil
	}
	select {
	case l.window <- struct{}{}:
		l.entered = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave gives the place back.
func (l *login) leave() {
	if l.entered {
		l.entered = false
		<-l.window
	}
}

// message is what the script says, and the first that the program does.
type message struct {
	Need   string `json:"need"` // what uname says
	By     string `json:"by"`   // what downloads, if there is something
	Got    bool   `json:"got"`
	Failed bool   `json:"failed"`
	Hello  *Hello `json:"hello"`
}

// try logs in once.
func (l *login) try(ctx context.Context) (*Process, error) {
	l.again = false
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	l.cfg.Note(l.host, "login")
	command := script(l.cfg.Programs, l.cfg.Keep)
	p, err := start(l.host, slices.Concat(l.cfg.Shell, []string{l.host, command}))
	if err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", l.cfg.Shell[0], err)
	}
	alive, cancel := context.WithCancel(context.Background())
	go func() {
		<-p.ended
		cancel()
	}()
	defer context.AfterFunc(ctx, func() { p.killFor(context.Cause(ctx)) })()
	t := &talk{login: l, process: p, alive: alive, watch: watch{process: p}}
	t.say("%s", rand.Text()) // the end of the name of the directory
	if err = t.run(); err == nil {
		return p, nil
	}
	p.Kill()
	_, line := p.Wait()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, io.EOF):
		err = errors.New(line)
	}
	l.again = !t.spoken && isBusy(p.stderr.reason())
	if t.claim != nil && t.claim.from != nil { // a download took too long, or the host ended in it
		l.again, l.shell = !l.shell, true
	}
	t.end(false)
	return nil, err
}
