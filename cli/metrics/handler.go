package metrics

import (
	"bytes"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// keep is how long a scrape serves for others: they cost little however many there are.
const keep = 200 * time.Millisecond

// Handler answers scrapes. Its methods may be called from any goroutine.
type Handler struct {
	registry *prometheus.Registry

	mu   sync.Mutex // held while a scrape is made, for which others wait
	made time.Time
	text []byte
}

// NewHandler returns a handler for the metrics of c, and the most useful ones of the process.
func NewHandler(c prometheus.Collector) *Handler {
	h := &Handler{registry: prometheus.NewRegistry()}
	h.registry.MustRegister(c,
		collectors.NewGoCollector(collectors.WithGoCollectorMemStatsMetricsDisabled()),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	text, err := h.scrape()
	if err != nil {
		http.Error(w, "the metrics cannot be collected: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(format()))
	_, _ = w.Write(text) // an error means that the client is gone
}

func format() expfmt.Format { return expfmt.NewFormat(expfmt.TypeTextPlain) }

// scrape returns the metrics as text, of now or of a moment ago. It is not changed later.
func (h *Handler) scrape() ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text != nil && time.Since(h.made) < keep {
		return h.text, nil
	}
	families, err := h.registry.Gather()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := expfmt.NewEncoder(&out, format())
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return nil, err
		}
	}
	h.text, h.made = out.Bytes(), time.Now()
	return h.text, nil
}
