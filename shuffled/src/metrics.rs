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
    pub peers_in: Count,
    pub peers_out: Count,
    pub reducers: Count,
    pub queued: Count,
}

impl Metrics {
    /// Returns all counters in Prometheus' text format, with the number of served jobs, and of bytes that are
    /// reserved for reducers.
    pub fn text(&self, jobs: u64, budget_used: u64) -> String {
        let counters = [
            ("served_bytes_total", "Bytes of segments sent to other nodes", &self.served_bytes),
            ("own_bytes_total", "Bytes of segments read for reducers of this node", &self.own_bytes),
            ("fetched_bytes_total", "Bytes of segments handed to reducers", &self.fetched_bytes),
            ("merged_bytes_total", "Bytes of merged records handed to reducers", &self.merged_bytes),
            ("merges_refused_total", "Merges that were refused, or failed", &self.merges_refused),
            ("looks_total", "Looks at segments, for reducers of any node", &self.looks),
            ("reads_total", "Pieces of segments asked for by reducers of any node", &self.reads),
            ("disk_reads_total", "Reads of disks, each for one request or several joined ones", &self.joined_reads),
            ("refusals_total", "Requests and proofs that were refused", &self.refusals),
            ("broken_links_total", "Connections that an error ended", &self.broken_links),
        ];
        let gauges = [
            ("peers_in", "Connections from other nodes", self.peers_in.get()),
            ("peers_out", "Connections to other nodes", self.peers_out.get()),
            ("reducers", "Connections of reducers", self.reducers.get()),
            ("merges", "Merges for reducers under way", self.merges.get()),
            ("queued", "Requests that wait for a disk", self.queued.get()),
            ("jobs", "Jobs that are served", jobs),
            ("held_bytes", "Bytes held for reducers", budget_used),
        ];
        let mut text = String::new();
        let mut put = |name: &str, kind: &str, help: &str, number: u64| {
            let _ = write!(text, "# HELP vas_shuffled_{name} {help}\n# TYPE vas_shuffled_{name} {kind}\nvas_shuffled_{name} {number}\n");
        };
        counters.iter().for_each(|(name, help, count)| put(name, "counter", help, count.get()));
        gauges.iter().for_each(|(name, help, number)| put(name, "gauge", help, *number));
        text
    }
}
