package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// browse starts a browser.
func browse(t *testing.T) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()))
	alloc, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// open opens a page in a new tab. Errors on its console fail the test, and so do requests to another server. Replies with
// the expected statuses are not errors.
func open(t *testing.T, browser context.Context, url string, expected ...string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	origin := strings.Join(strings.SplitN(url, "/", 4)[:3], "/") + "/"
	var mu sync.Mutex
	var faults []string
	fault := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, fmt.Sprintf(format, args...))
	}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			fault("exception: %s", ev.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			for _, e := range expected {
				if strings.Contains(ev.Entry.Text, e) {
					return
				}
			}
			fault("%s: %s (%s)", ev.Entry.Level, ev.Entry.Text, ev.Entry.URL)
		case *network.EventRequestWillBeSent:
			if u := ev.Request.URL; !strings.HasPrefix(u, origin) && !strings.HasPrefix(u, "data:") {
				fault("request to %s", u)
			}
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, f := range faults {
			t.Error(f)
		}
	})
	p := &tab{t, ctx}
	p.do(log.Enable(), network.Enable(), chromedp.Navigate(url))
	return p
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval evaluates an expression.
func eval[T any](p *tab, expression string) (v T) {
	p.t.Helper()
	p.do(chromedp.Evaluate(expression, &v))
	return v
}

// await waits until an expression is true.
func (p *tab) await(what, expression string) {
	p.t.Helper()
	var ok bool
	err := chromedp.Run(p.ctx, chromedp.Poll(expression, &ok, chromedp.WithPollingInterval(100*time.Millisecond),
		chromedp.WithPollingTimeout(time.Minute)))
	if err != nil {
		p.t.Fatalf("%s: %v; the page shows:\n%s", what, err, eval[string](p, "document.body.innerText"))
	}
}

// look takes screenshots at three widths, light and dark. The page must fit the width.
func (p *tab) look(name string) {
	p.t.Helper()
	for _, width := range []int64{320, 800, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				emulation.SetDeviceMetricsOverride(width, 800, 1, width < 500))
			if got := eval[int64](p, "document.documentElement.scrollWidth"); got > width {
				p.t.Errorf("%s is %d wide on a screen of %d", name, got, width)
			}
			if *screens == "" {
				continue
			}
			var png []byte
			p.do(chromedp.FullScreenshot(&png, 100))
			file := filepath.Join(*screens, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
			if err := os.WriteFile(file, png, 0o644); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	p.do(emulation.ClearDeviceMetricsOverride(), emulation.SetEmulatedMedia())
}

// checkNames fails if a screen reader would find something to use that has no name.
func (p *tab) checkNames() {
	p.t.Helper()
	var nodes []*accessibility.Node
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		nodes, err = accessibility.GetFullAXTree().Do(ctx)
		return err
	}))
	seen := map[string]int{}
	for _, n := range nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role := strings.Trim(string(n.Role.Value), `"`)
		switch role {
		case "button", "progressbar", "ProgressIndicator", "textbox", "region", "link", "heading":
			seen[role]++
			if n.Name == nil || strings.Trim(string(n.Name.Value), `"`) == "" {
				p.t.Errorf("a %s has no name", role)
			}
		}
	}
	if seen["heading"] == 0 {
		p.t.Errorf("a screen reader finds %v", seen)
	}
}

// awaited lets an evaluation wait for a promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
