package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// card is an expression for the card of a transfer on the page of its node.
func card(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#transfers > li")].find(c => c.querySelector("h3").textContent === %q)`, name)
}

// phase is an expression for the phase of a transfer on the page.
func phase(name string) string { return card(name) + `?.querySelector(".phase").textContent` }

// A user starts a get on the page, sees it move, limits it, sees it end, verifies and stops it. Without a
// token it is read-only. The copy is right.
func TestPageOfNode(t *testing.T) {
	if what := missing(); what != "" {
		t.Skip("needs " + what)
	}
	tracker := start(t, "mob", "tracker", "--listen", "/ip4/127.0.0.1/tcp/0")
	source := startNode(t, "geneva", tracker)
	nodes := []*server{startNode(t, "geneva", tracker), startNode(t, "zurich", tracker), startNode(t, "zurich", tracker)}
	path := content(t, "climate.tar", 80e6)
	link := source.mob(t, "seed", path)
	small := source.mob(t, "seed", content(t, "weights.bin", 2e6))
	dest := t.TempDir()
	me := nodes[1]
	me.mob(t, "get", small, "-o", filepath.Join(dest, "weights.bin"))

	browser := browse(t)
	p := open(t, browser, me.url+"?token="+me.token, "404")
	p.await("the page is live", `document.querySelector("#state").textContent === "Live"`)
	p.await("the owner's form", `!document.querySelector(".owner").hidden`)
	p.await("the content", phase("weights.bin")+`=== "Whole"`)
	if url := eval[string](p, "location.href"); url != me.url {
		t.Errorf("the token stays in the address: %s", url)
	}

	copied := filepath.Join(dest, "climate.tar")
	source.mob(t, "limit", "--wan-up", "1MB") // the get takes longer than the browser, also on a busy machine
	p.do(chromedp.SendKeys("#get [name=link]", link), chromedp.SendKeys("#get [name=path]", copied+"\r"))
	p.await("the get to start", phase("climate.tar")+`=== "Fetching"`)
	value := card("climate.tar") + `.querySelector("progress").value`
	p.await("the bar to move", value+"> 1")
	first := eval[float64](p, value)
	p.await("the bar to move on", fmt.Sprintf("%s > %v", value, first))
	p.await("a rate", `/\/s from (WAN|LAN)/.test(`+card("climate.tar")+`.querySelector(".numbers").textContent)`)
	other := make(chan error, 1)
	go func() {
		_, err := nodes[0].run("get", link, "-o", filepath.Join(dest, "other"))
		other <- err
	}()
	p.do(chromedp.Evaluate(card("climate.tar")+`.querySelector(".show-peers").click()`, nil))
	p.await("the peers", card("climate.tar")+`.querySelectorAll("tbody tr").length > 0`)
	p.checkNames()
	const limit = 4e6
	p.do(chromedp.SendKeys("#limit [name=wan_down]", "4\r"))
	p.await("the limit", `document.querySelector("#limits").textContent.includes("From WAN: 4.0\u00a0MB/s")`)
	source.mob(t, "limit", "--reset")
	p.await("a rate within the limit", `parseFloat(document.querySelector("#wan-in").textContent) < 4.3`)
	from, began := me.received(t), time.Now()
	time.Sleep(4 * time.Second)
	if rate := float64(me.received(t)-from) / time.Since(began).Seconds(); rate > 1.05*limit || rate <= 0 { // a busy machine is slower
		t.Errorf("with a limit of 4 MB/s the node fetches at %.2f MB/s", rate/1e6)
	}
	p.look("node")
	p.do(chromedp.Click("#reset"))
	p.await("no limit", `!document.querySelector("#unlimited").hidden`)
	p.await("the end", phase("climate.tar")+`=== "Whole"`)
	p.await("the message of the end", `document.querySelector("#news").textContent.includes("climate.tar: Whole")`)
	if err := <-other; err != nil {
		t.Error(err)
	}
	if sum(t, copied) != sum(t, path) {
		t.Error("the copy is wrong")
	}

	p.do(chromedp.Evaluate(card("climate.tar")+`.querySelector(".verify").click()`, nil))
	p.await("the verdict", card("climate.tar")+`.querySelector(".answer").textContent.startsWith("Verified")`)
	guest := open(t, browser, source.url, "401")
	guest.await("the page for readers", `!document.querySelector("#readonly").hidden`)
	guest.await("no buttons", `[...document.querySelectorAll("#transfers .stop")].every(b => b.hidden)`)
	refused := eval[int](guest, `0`)
	guest.do(chromedp.Evaluate(`fetch("/v1/stop", {method: "POST", body: "{}"}).then(r => r.status)`, &refused, chromedp.EvalAsValue, awaited))
	if refused != 401 {
		t.Errorf("a change without the token is answered with %d", refused)
	}
	p.do(chromedp.Evaluate(card("climate.tar")+`.querySelector(".stop").click()`, nil))
	p.await("the stop", phase("climate.tar")+`=== "Stopped"`)
}

// The page of a tracker shows the clusters of a swarm, the flows between them, and the end.
func TestPageOfTracker(t *testing.T) {
	if what := missing(); what != "" {
		t.Skip("needs " + what)
	}
	tracker := start(t, "mob", "tracker", "--listen", "/ip4/127.0.0.1/tcp/0")
	p := open(t, browse(t), tracker.url, "404")
	p.await("an empty page", `!document.querySelector("#none").hidden`)
	p.checkNames()
	source := startNode(t, "geneva", tracker)
	link := source.mob(t, "seed", content(t, "climate.tar", 40e6))
	dest := t.TempDir()
	gets := make(chan error, 6)
	for i, cluster := range []string{"geneva", "zurich", "zurich", "bern", "bern", "bern"} {
		n := startNode(t, cluster, tracker)
		go func() {
			_, err := n.run("get", link, "-o", filepath.Join(dest, fmt.Sprint(i)))
			gets <- err
		}()
	}
	p.await("the clusters", `document.querySelectorAll("#clusters > li").length === 3`)
	p.await("a flow", `[...document.querySelectorAll(".flows li")].some(li => /^from .*\/s$/.test(li.textContent))`)
	p.await("the map", `document.querySelectorAll("#map path.busy").length > 0`)
	p.checkNames()
	p.look("fleet")
	for range cap(gets) {
		if err := <-gets; err != nil {
			t.Error(err)
		}
	}
	p.await("the end", `document.querySelector("#whole").textContent === "7"`)
	p.await("the copies", `[...document.querySelectorAll("#clusters > li")].every(c =>
		parseFloat(c.querySelector(".numbers").textContent.split("·")[2]) < 1.2)`)
	if got := eval[string](p, `document.querySelector("#clusters").textContent`); !strings.Contains(got, "from geneva") {
		t.Errorf("the page shows %s", got)
	}
}
