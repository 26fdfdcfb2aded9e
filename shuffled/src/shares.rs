//! Shares a scarce resource of the daemon (memory, open files, connections) fairly among jobs and users. Pure.
//!
//! A job may hold as much as is left free, and a user three times as much: one job alone gets half, two get a third
//! each, and something is left for the next one (Choudhury and Hahne's dynamic thresholds, 1998). A job and user that
//! hold nothing get whatever is free.

use crate::names::JobKey;
use std::collections::HashMap;
use std::hash::Hash;

/// The job, and the user that its tasks run as, who are charged for a part of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Payer {
    pub job: JobKey,
    pub uid: u32,
}

/// Number of times that a user may hold the amount that is left free.
const OF_A_USER: u64 = 3;

/// The amounts of one resource that jobs and users hold.
pub struct Shares {
    all: u64,
    held: u64,
    #[cfg(test)]
    most: u64,
    jobs: HashMap<JobKey, u64>,
    users: HashMap<u32, u64>,
}

impl Shares {
    pub fn new(all: u64) -> Shares {
        Shares {
            all,
            held: 0,
            #[cfg(test)]
            most: 0,
            jobs: HashMap::new(),
            users: HashMap::new(),
        }
    }

    /// Returns whether an amount is free, and within the shares of the job and of its user.
    pub fn may_take(&self, payer: Payer, amount: u64) -> bool {
        let Some(left) = self.all.saturating_sub(self.held).checked_sub(amount) else { return false };
        let fits = |held: u64, most: u64| held == 0 || held.saturating_add(amount) <= most;
        fits(self.of_job(payer.job), left) && fits(self.of_user(payer.uid), left.saturating_mul(OF_A_USER))
    }

    /// Charges an amount if it may be taken; returns whether it was.
    pub fn take(&mut self, payer: Payer, amount: u64) -> bool {
        let may = self.may_take(payer, amount);
        if may {
            self.charge(payer, amount);
        }
        may
    }

    /// Charges an amount without a look at the shares.
    pub fn charge(&mut self, payer: Payer, amount: u64) {
        self.held += amount;
        #[cfg(test)]
        {
            self.most = self.most.max(self.held);
        }
        *self.jobs.entry(payer.job).or_default() += amount;
        *self.users.entry(payer.uid).or_default() += amount;
    }

    /// Frees an amount that was charged.
    pub fn give(&mut self, payer: Payer, amount: u64) {
        self.held -= amount;
        subtract(&mut self.jobs, payer.job, amount);
        subtract(&mut self.users, payer.uid, amount);
    }

    pub fn held(&self) -> u64 {
        self.held
    }

    #[cfg(test)]
    pub fn most(&self) -> u64 {
        self.most
    }

    pub fn of_job(&self, job: JobKey) -> u64 {
        self.jobs.get(&job).copied().unwrap_or(0)
    }

    fn of_user(&self, uid: u32) -> u64 {
        self.users.get(&uid).copied().unwrap_or(0)
    }
}

fn subtract<K: Hash + Eq>(of: &mut HashMap<K, u64>, key: K, amount: u64) {
    if let Some(held) = of.get_mut(&key) {
        *held -= amount;
        if *held == 0 {
            of.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn payer(job: u32, uid: u32) -> Payer {
        Payer { job: JobKey { cluster: 1, number: job }, uid }
    }

    fn fill(shares: &mut Shares, payer: Payer) -> u64 {
        (0..).take_while(|_| shares.take(payer, 1)).count() as u64
    }

    #[test]
    fn a_job_leaves_half_and_a_user_a_quarter() {
        let mut shares = Shares::new(1000);
        assert_eq!(fill(&mut shares, payer(1, 1)), 500);
        for job in 2..100 {
            fill(&mut shares, payer(job, 1));
        }
        assert_eq!(shares.held(), 750);
        // Another user's first job gets as much as it leaves free.
        assert_eq!(fill(&mut shares, payer(100, 2)), 125);
    }

    #[test]
    fn who_holds_nothing_gets_what_is_free() {
        let mut shares = Shares::new(1000);
        assert!(shares.take(payer(1, 1), 900));
        assert!(!shares.take(payer(1, 1), 10) && !shares.take(payer(2, 1), 10));
        assert!(shares.take(payer(3, 2), 100) && !shares.take(payer(4, 3), 1));
    }

    #[test]
    fn what_is_given_back_is_free_again() {
        let mut random = Random::new(12);
        let (mut shares, mut taken) = (Shares::new(5000), Vec::new());
        for _ in 0..20_000 {
            let (who, amount) = (payer(random.below(9) as u32, random.below(3) as u32), random.below(400));
            if random.below(2) == 0 && shares.take(who, amount) {
                taken.push((who, amount));
            } else if let Some((who, amount)) = taken.pop() {
                shares.give(who, amount);
            }
            assert!(shares.held() <= 5000);
            assert_eq!(shares.held(), taken.iter().map(|(_, amount)| amount).sum::<u64>());
        }
        taken.drain(..).for_each(|(who, amount)| shares.give(who, amount));
        assert!(shares.held() == 0 && shares.jobs.values().chain(shares.users.values()).all(|held| *held == 0));
    }
}
