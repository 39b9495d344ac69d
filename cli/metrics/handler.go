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

// keep is the time during which a scrape is reused for further clients.
const keep = 200 * time.Millisecond

// Handler answers scrapes. Its methods may be called concurrently.
type Handler struct {
	registry *prometheus.Registry

	mu   sync.Mutex // held during a scrape
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
	w.Header().Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	_, _ = w.Write(text) // an error means that the client has left
}

// scrape returns the metrics as text, at most keep old. The text is not changed later.
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
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			return nil, err
		}
	}
	h.text, h.made = out.Bytes(), time.Now()
	return h.text, nil
}

// collector sends the metrics of a scrape. [Handler] never calls it twice at a time.
type collector func(sender)

// Describe implements [prometheus.Collector]. It describes nothing: each metric has its description.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c collector) Collect(ch chan<- prometheus.Metric) { c(ch) }

// sender sends metrics.
type sender chan<- prometheus.Metric

func (s sender) counter(d *prometheus.Desc, v int64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func (s sender) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// desc describes a metric.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("mob_"+name, help, labels, nil)
}
