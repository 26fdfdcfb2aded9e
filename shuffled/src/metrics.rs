//! Keeps the counters of the daemon, and writes them for Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that any thread may add to.
#[derive(Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    pub fn subtract(&self, number: u64) {
        self.0.fetch_sub(number, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// All counters of one daemon.
#[derive(Default)]
pub struct Metrics {
    pub served_bytes: Count,
    pub own_bytes: Count,
    pub fetched_bytes: Count,
    pub merged_bytes: Count,
    pub merges: Count,
    pub merges_refused: Count,
    pub looks: Count,
    pub reads: Count,
    pub joined_reads: Count,
    pub refusals: Count,
    pub broken_links: Count,
    pub rdma_links: Count,
    pub peers_in: Count,
    pub peers_out: Count,
    pub reducers: Count,
    pub queued: Count,
    pub outputs_opened: Count,
    pub outputs_found: Count,
}

/// The numbers that other parts of the daemon know at the moment at which the counters are told.
#[derive(Default)]
pub struct Gauges {
    pub jobs: u64,
    /// Bytes that are reserved for reducers.
    pub held_bytes: u64,
    /// Requests that were sent and are not answered: the credits in use, of connections and of this node's own link.
    pub in_flight: u64,
    /// Requests that are not sent yet: they wait for a connection, or for a credit of it.
    pub waiting: u64,
}

/// A number as it is told: its name, what it is, and its value now. Names of counters end in `_total`.
type Told = (&'static str, &'static str, u64);

impl Metrics {
    /// Returns all numbers in Prometheus' text format.
    pub fn text(&self, gauges: &Gauges) -> String {
        let mut text = String::new();
        for (name, help, number) in self.told(gauges) {
            let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
            let _ = write!(text, "# HELP vas_shuffled_{name} {help}\n# TYPE vas_shuffled_{name} {kind}\nvas_shuffled_{name} {number}\n");
        }
        text
    }

    /// Returns the same numbers as one line without an end, `NAME=NUMBER` each, for the NodeManager.
    pub fn line(&self, gauges: &Gauges) -> String {
        let told = self.told(gauges);
        told.iter().map(|(name, _, number)| format!("{name}={number}")).collect::<Vec<_>>().join(" ")
    }

    fn told(&self, gauges: &Gauges) -> [Told; 22] {
        [
            ("served_bytes_total", "Bytes of segments sent to other nodes", self.served_bytes.get()),
            ("own_bytes_total", "Bytes of segments read for reducers of this node", self.own_bytes.get()),
            ("fetched_bytes_total", "Bytes of segments handed to reducers", self.fetched_bytes.get()),
            ("merged_bytes_total", "Bytes of merged records handed to reducers", self.merged_bytes.get()),
            ("merges_refused_total", "Merges that were refused, or failed", self.merges_refused.get()),
            ("looks_total", "Looks at segments, for reducers of any node", self.looks.get()),
            ("reads_total", "Pieces of segments asked for by reducers of any node", self.reads.get()),
            ("disk_reads_total", "Reads of disks, each for one request or several joined ones", self.joined_reads.get()),
            ("outputs_opened_total", "Map outputs opened, each with its index", self.outputs_opened.get()),
            ("outputs_found_total", "Requests whose map output was open: hits of the index cache", self.outputs_found.get()),
            ("refusals_total", "Requests and proofs that were refused", self.refusals.get()),
            ("broken_links_total", "Connections that an error ended", self.broken_links.get()),
            ("rdma_links_total", "Connections made by RDMA, from and to other nodes", self.rdma_links.get()),
            ("peers_in", "Connections from other nodes", self.peers_in.get()),
            ("peers_out", "Connections to other nodes", self.peers_out.get()),
            ("reducers", "Connections of reducers", self.reducers.get()),
            ("merges", "Merges for reducers under way", self.merges.get()),
            ("queued", "Requests that wait for a disk", self.queued.get()),
            ("in_flight", "Requests that were sent and are not answered: credits in use", gauges.in_flight),
            ("waiting", "Requests that wait for a connection, or for a credit of it", gauges.waiting),
            ("jobs", "Jobs that are served", gauges.jobs),
            ("held_bytes", "Bytes held for reducers", gauges.held_bytes),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodemanager_hears_what_prometheus_does() {
        let metrics = Metrics::default();
        metrics.served_bytes.add(7);
        let gauges = Gauges { jobs: 2, held_bytes: 3, in_flight: 4, waiting: 5 };
        let line = metrics.line(&gauges);
        assert!(line.starts_with("served_bytes_total=7 "), "{line}");
        assert!(line.ends_with(" in_flight=4 waiting=5 jobs=2 held_bytes=3"), "{line}");
        let text = metrics.text(&gauges);
        for (name, number) in line.split(' ').map(|pair| pair.split_once('=').unwrap()) {
            assert!(text.contains(&format!("\nvas_shuffled_{name} {number}\n")), "{name}");
        }
    }
}
