package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// oddNames makes a directory of 1000 files of 0 to 9 KB whose names are hard to handle: UTF-8,
// spaces, special characters of shells and web pages, and up to 255 bytes.
func oddNames(t testing.TB) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "odd names, é 名")
	for i := range 1000 {
		name := fmt.Sprintf("%03d", i)
		switch i % 10 {
		case 0:
			name = strings.Repeat("n", 252) + name
		case 1:
			name = strings.Repeat("é", 126) + name
		case 2:
			name = " a  b " + name + " "
		case 3:
			name = "файл/名前/ü " + name
		case 4:
			name = `%41 & $HOME 'q' "q" \ <b> * ? | ; # ` + name
		case 5:
			name = "-" + name + ".torrent"
		case 6:
			name = "..." + name + "/.hidden"
		case 7:
			name = "e\u0301 🐝 " + name
		case 8:
			name = strings.Repeat(strings.Repeat("d", 200)+"/", 5) + name
		}
		path := filepath.Join(root, name)
		b := make([]byte, i*7%9000)
		if i%9 == 0 {
			b = nil // empty
		}
		rand.Read(b)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestOddNames transfers a directory of odd names from a daemon to a stock client, and from
// that, when the daemon has exited, to another daemon.
func TestOddNames(t *testing.T) {
	t.Parallel()
	eachClient(t, func(t *testing.T, c *stock.Client) {
		t.Parallel()
		f, _ := newTorrentFleet(t, netns.Uniform(12*netns.MBps, "A", "B"), 2, 1)
		source := f.startDaemon(t, f.Grid.Node("A", 0))
		to := seedTorrent(t, source, oddNames(t), f.announceURL())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		i := to.download(t, c, f.Grid.Node("B", 0))
		switch c.Name() {
		case "libtorrent", "transmission":
			// libtorrent drops backslashes from names, and cuts them to 240 bytes;
			// transmission drops spaces at their ends, and empty files.
			await(ctx, t, i)
			mustEqualContents(t, to.path, i.Copy())
		default:
			to.mustComplete(ctx, t, i)
		}
		if err := source.Kill(); err != nil {
			t.Fatal(err)
		}
		to.plain = true
		to.mustGet(ctx, t, f.startDaemon(t, f.Grid.Node("A", 1)))
	})
}
