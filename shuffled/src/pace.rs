//! Sets how often and how long the daemon waits. Tests take shorter times.

use std::time::Duration;

#[derive(Clone, Copy)]
pub struct Pace {
    /// How often a request that waits is told that there is progress.
    pub tick: Duration,
    /// How often a reducer is told that its merge fetches.
    pub telling: Duration,
    /// How long another node may show no sign of progress.
    pub silent: Duration,
    /// How long another node may read none of its answers.
    pub stalled: Duration,
    /// How long a reducer may take none of the records that are merged for it. One that goes on later asks again.
    pub unread: Duration,
    /// How long a new connection may take to prove a job.
    pub proof: Duration,
    /// A function that is called for each 64 KiB of a segment that is checked.
    pub block: fn(),
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            tick: Duration::from_secs(10),
            telling: Duration::from_secs(1),
            silent: Duration::from_secs(120),
            stalled: Duration::from_secs(60),
            unread: Duration::from_secs(600),
            proof: Duration::from_secs(10),
            block: || {},
        }
    }
}
