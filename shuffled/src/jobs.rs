//! Keeps the jobs of this node. The NodeManager announces each, and its end, by a line on standard input.

use crate::auth::{Secret, LONGEST_SECRET};
use crate::names::{is_user, JobKey};
use crate::shares::Payer;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// Most bytes of a line on standard input.
pub const LONGEST_LINE: usize = 1024;
/// Most jobs at once: more than a node has containers for in a day. It is a bound, not a size.
const MOST_JOBS: usize = 10_000;

/// A job whose map output this daemon may serve and fetch.
#[derive(Debug, PartialEq)]
pub struct Job {
    pub key: JobKey,
    /// The user's name, as the directory below `usercache` has it.
    pub user: String,
    /// The number of the user that the job's tasks run as, who owns the job's files.
    pub uid: u32,
    pub secret: Secret,
}

impl Job {
    /// Returns who is charged for what this job uses.
    pub fn payer(&self) -> Payer {
        Payer { job: self.key, uid: self.uid }
    }
}

/// An order of the NodeManager: a job begins, or is over, or the daemon's numbers are asked for.
#[derive(Debug, PartialEq)]
pub enum Order {
    Add(Job),
    Remove(JobKey),
    Count,
}

impl Order {
    /// Returns the job that the order is about, if it is about one.
    pub fn key(&self) -> Option<JobKey> {
        match self {
            Order::Add(job) => Some(job.key),
            Order::Remove(key) => Some(*key),
            Order::Count => None,
        }
    }
}

/// Reads an order: `add APPLICATION USER UID SECRET`, the secret in hexadecimal, `remove APPLICATION`, or `count`. The
/// error says what is wrong, and never holds a part of the line, which may be the secret.
pub fn parse_order(line: &str) -> Result<Order, &'static str> {
    if line.len() > LONGEST_LINE {
        return Err("a line that is too long");
    }
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["add", application, user, uid, secret] => Ok(Order::Add(Job {
            key: JobKey::parse(application).ok_or("not an application")?,
            user: Some(user).filter(|name| is_user(name)).ok_or("not a user's name")?.to_owned(),
            uid: uid.parse().map_err(|_| "not the number of a user")?,
            secret: hexadecimal(secret).ok_or("not a secret")?,
        })),
        ["remove", application] => Ok(Order::Remove(JobKey::parse(application).ok_or("not an application")?)),
        ["count"] => Ok(Order::Count),
        _ => Err("none of add, remove and count"),
    }
}

fn hexadecimal(text: &str) -> Option<Secret> {
    if text.is_empty() || text.len() % 2 != 0 || text.len() > 2 * LONGEST_SECRET {
        return None;
    }
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = Secret::new(digits?);
    Some(digits.joined())
}

/// The jobs that the daemon serves now, by their numbers.
#[derive(Default)]
pub struct ServedJobs(RwLock<HashMap<JobKey, Arc<Job>>>);

impl ServedJobs {
    /// Carries out an order. A job that is added again replaces the one that is known, unless both are equal. Returns
    /// an error if too many jobs are served already.
    pub fn obey(&self, order: Order) -> Result<(), &'static str> {
        let mut jobs = self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        match order {
            Order::Add(job) if jobs.len() >= MOST_JOBS && !jobs.contains_key(&job.key) => {
                return Err("more jobs than are served at once");
            }
            // The job is announced once more: its connections can stay.
            Order::Add(job) if jobs.get(&job.key).is_some_and(|known| **known == job) => {}
            Order::Add(job) => drop(jobs.insert(job.key, Arc::new(job))),
            Order::Remove(key) => drop(jobs.remove(&key)),
            Order::Count => {}
        }
        Ok(())
    }

    pub fn get(&self, key: JobKey) -> Option<Arc<Job>> {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&key).cloned()
    }

    /// Returns whether this very job is still served: not over, and not replaced by one with another user or secret.
    pub fn serves(&self, job: &Job) -> bool {
        self.get(job.key).is_some_and(|now| std::ptr::eq(Arc::as_ptr(&now), job))
    }

    pub fn count(&self) -> usize {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn orders_are_read() {
        let order = parse_order("add application_17_0002 alice 1000 00ffA0").unwrap();
        let key = JobKey { cluster: 17, number: 2 };
        let secret = Secret::new(vec![0, 255, 160]);
        assert_eq!(order, Order::Add(Job { key, user: "alice".to_owned(), uid: 1000, secret }));
        assert_eq!(parse_order("remove application_17_0002"), Ok(Order::Remove(key)));
    }

    #[test]
    fn whatever_is_not_an_order_is_refused_without_its_words() {
        for line in ["", "add", "add application_17_0002 ../x 1 00", "add application_17_0002 a -1 00",
            "add application_17_0002 a 1 0", "add application_17_0002 a 1 0g", "add application_17_0002 a 1 ",
            "remove application_17_0002 x", "Add application_17_0002 a 1 00", "add  application_17_0002 a 1 00"] {
            assert!(parse_order(line).is_err(), "{line}");
        }
        let mut random = Random::new(5);
        for _ in 0..20_000 {
            let mut line = b"add application_17_0002 alice 1000 00ffa0".to_vec();
            let at = random.below(line.len() as u64) as usize;
            line[at] = random.next() as u8;
            if let Ok(text) = std::str::from_utf8(&line) {
                let _ = parse_order(text);
            }
        }
    }

    #[test]
    fn a_job_that_is_removed_is_not_served() {
        let jobs = ServedJobs::default();
        jobs.obey(parse_order("add application_17_0002 alice 1000 00").unwrap()).unwrap();
        let key = JobKey { cluster: 17, number: 2 };
        assert_eq!(jobs.get(key).unwrap().user, "alice");
        jobs.obey(Order::Remove(key)).unwrap();
        assert!(jobs.get(key).is_none() && jobs.count() == 0);
    }
}
