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
}

/// A number as it is told: its name, what it is, and its value now. Names of counters end in `_total`.
type Told = (&'static str, &'static str, u64);

impl Metrics {
    /// Returns all counters in Prometheus' text format, with the number of served jobs, and of bytes that are
    /// reserved for reducers.
    pub fn text(&self, jobs: u64, budget_used: u64) -> String {
        let mut text = String::new();
        for (name, help, number) in self.told(jobs, budget_used) {
            let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
            let _ = write!(text, "# HELP vas_shuffled_{name} {help}\n# TYPE vas_shuffled_{name} {kind}\nvas_shuffled_{name} {number}\n");
        }
        text
    }

    /// Returns the same numbers as one line without an end, `NAME=NUMBER` each, for the NodeManager.
    pub fn line(&self, jobs: u64, budget_used: u64) -> String {
        let told = self.told(jobs, budget_used);
        told.iter().map(|(name, _, number)| format!("{name}={number}")).collect::<Vec<_>>().join(" ")
    }

    fn told(&self, jobs: u64, budget_used: u64) -> [Told; 18] {
        [
            ("served_bytes_total", "Bytes of segments sent to other nodes", self.served_bytes.get()),
            ("own_bytes_total", "Bytes of segments read for reducers of this node", self.own_bytes.get()),
            ("fetched_bytes_total", "Bytes of segments handed to reducers", self.fetched_bytes.get()),
            ("merged_bytes_total", "Bytes of merged records handed to reducers", self.merged_bytes.get()),
            ("merges_refused_total", "Merges that were refused, or failed", self.merges_refused.get()),
            ("looks_total", "Looks at segments, for reducers of any node", self.looks.get()),
            ("reads_total", "Pieces of segments asked for by reducers of any node", self.reads.get()),
            ("disk_reads_total", "Reads of disks, each for one request or several joined ones", self.joined_reads.get()),
            ("refusals_total", "Requests and proofs that were refused", self.refusals.get()),
            ("broken_links_total", "Connections that an error ended", self.broken_links.get()),
            ("rdma_links_total", "Connections made by RDMA, from and to other nodes", self.rdma_links.get()),
            ("peers_in", "Connections from other nodes", self.peers_in.get()),
            ("peers_out", "Connections to other nodes", self.peers_out.get()),
            ("reducers", "Connections of reducers", self.reducers.get()),
            ("merges", "Merges for reducers under way", self.merges.get()),
            ("queued", "Requests that wait for a disk", self.queued.get()),
            ("jobs", "Jobs that are served", jobs),
            ("held_bytes", "Bytes held for reducers", budget_used),
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
        let line = metrics.line(2, 3);
        assert!(line.starts_with("served_bytes_total=7 ") && line.ends_with(" jobs=2 held_bytes=3"), "{line}");
        let text = metrics.text(2, 3);
        for (name, number) in line.split(' ').map(|pair| pair.split_once('=').unwrap()) {
            assert!(text.contains(&format!("\nvas_shuffled_{name} {number}\n")), "{name}");
        }
    }
}
