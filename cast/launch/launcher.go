package launch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures a [Launcher].
type Config struct {
	// Shell runs the script on a host.
	Shell Runner
	// Programs is the result of [Find].
	Programs *Programs
	// Window bounds the concurrent logins. 0 means 32.
	Window int
	// Children is the number of hosts of a cluster that the caster and each started agent log in to. 0 means that the caster logs in
	// to all hosts. Window bounds only the logins of the caster.
	Children int
	// Keep leaves the program in the cache of the host, where the next cast finds it.
	Keep bool
	// Log receives errors that are retried. It may be nil.
	Log *slog.Logger
}

// Launcher starts the program on hosts. Its methods may be called by several goroutines.
type Launcher struct {
	cfg    Config
	window chan struct{} // a token for each login
	times  times
	tree   *tree // nil without
	ids    atomic.Int64

	mu     sync.Mutex
	depots map[place]*depot
	firsts map[string]context.Context // by cluster; done when its other hosts may log in
}

// place identifies the depot of a host.
type place struct{ cluster, platform string }

// times are the timeouts of a host.
type times struct {
	ahead    time.Duration // until the other hosts of its cluster log in
	login    time.Duration // until the first message
	upload   time.Duration // between two chunks of the archive
	stall    time.Duration // until other hosts do not wait for an upload
	start    time.Duration // from the archive to the hello
	pause    time.Duration // before the second login, doubled before each later one
	attempts int           // number of logins
}

// New returns a [Launcher].
func New(cfg Config) *Launcher {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	c := &Launcher{
		cfg: cfg, window: make(chan struct{}, cmp.Or(cfg.Window, 32)), depots: map[place]*depot{},
		firsts: map[string]context.Context{},
		times: times{
			ahead: time.Second, login: time.Minute, upload: time.Minute, stall: 10 * time.Second, start: 30 * time.Second,
			pause: 500 * time.Millisecond, attempts: 6,
		},
	}
	if cfg.Children > 0 {
		c.tree = &tree{width: cfg.Children, branches: map[string]*branch{}}
	}
	return c
}

// Start starts the program on a host and returns after its hello. Errors have one line and do not name the host. The caller must
// wait for the process; ctx only ends the start. note is called at each phase: "login", "program" while the host gets the program,
// "start". It must not block.
func (c *Launcher) Start(ctx context.Context, host, cluster string, note func(phase string)) (*Process, error) {
	if host == "" || strings.HasPrefix(host, "-") {
		return nil, fmt.Errorf("invalid host %q", host)
	}
	if c.tree == nil {
		defer c.awaitFirst(ctx, cluster)()
	}
	l := &login{Launcher: c, host: host, cluster: cluster, note: note, line: script(c.cfg.Programs, c.cfg.Keep, c.tree != nil)}
	return l.run(ctx)
}

// run logs in until the program runs, or no other login may succeed.
func (l *login) run(ctx context.Context) (*Process, error) {
	defer l.leave()
	pause := l.times.pause
	for attempt := 1; ; attempt++ {
		p, again, err := l.try(ctx)
		if err == nil || attempt == l.times.attempts || !again {
			return p, err
		}
		l.cfg.Log.Debug("logging in again", "host", l.host, "error", err)
		select {
		case <-time.After(pause/2 + mathrand.N(pause)): // spreads the logins
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		pause *= 2
	}
}

// awaitFirst lets the first host of a cluster log in first: its other hosts wait until started is called, for a second at most.
// So the first agent runs while they log in. A machine that is busy with all logins would delay it.
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
	note          func(phase string)
	line          string // command line
	word          string // first line of its input; empty for a random suffix of the directory's name

	entered bool // it has a token of the window, until the first message
	shell   bool // only the remote shell can deliver the archive
	direct  bool // the caster logs in, since an agent could not
}

// enter waits for a token of the window.
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

// leave returns the token.
func (l *login) leave() {
	if l.entered {
		l.entered = false
		<-l.window
	}
}

// runner returns the runner for a login: the remote shell, or in a tree an agent. free must be called when the login or the program has
// ended.
func (l *login) runner(ctx context.Context) (r Runner, free func(), err error) {
	free = func() {}
	if l.tree != nil && !l.direct {
		l.leave() // a login with room in the tree may wait for the token
		var via *relayNode
		if via, free, err = l.tree.enter(ctx, l.cluster); err != nil {
			return nil, nil, err
		}
		if via.remote != nil {
			return via.remote, free, nil
		}
	}
	if err := l.enter(ctx); err != nil {
		free()
		return nil, nil, err
	}
	return l.cfg.Shell, free, nil
}

// message is a message of the script, or the first message of the program.
type message struct {
	Need   string `json:"need"` // output of uname
	By     string `json:"by"`   // program for downloads, empty without one
	Got    bool   `json:"got"`
	Failed bool   `json:"failed"`
	Hello  *Hello `json:"hello"`
}

// try logs in once. It reports whether another login may succeed.
func (l *login) try(ctx context.Context) (_ *Process, again bool, err error) {
	runner, free, err := l.runner(ctx)
	if err != nil {
		return nil, false, err
	}
	l.note("login")
	p, err := start(runner, l.host, l.line)
	if err != nil {
		free()
		return nil, false, err
	}
	context.AfterFunc(p.alive, free)
	p.remote.shell, p.remote.ids = l.cfg.Shell, &l.ids
	defer context.AfterFunc(ctx, func() { p.killFor(context.Cause(ctx)) })()
	t := &talk{login: l, process: p}
	t.send("%s", cmp.Or(l.word, rand.Text()))
	if err = t.run(); err == nil {
		if l.tree != nil {
			l.tree.add(l.cluster, p)
		}
		return p, false, nil
	}
	p.Kill()
	_, line := p.Wait()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, io.EOF):
		err = errors.New(line)
	}
	if p.Lost() {
		t.abandon()
		return nil, true, err
	}
	again = !t.answered && isBusy(p.stderr.reason())
	if _, relayed := runner.(*remote); relayed && !t.answered && !again { // the agent may have no key, or no way to the host
		again, l.direct = true, true
	}
	if t.claim != nil && t.claim.from != nil { // the download timed out, or the host exited during it
		again, l.shell = !l.shell, true
	}
	t.end(false)
	return nil, again, err
}
