use super::*;
use crate::jobs::Order;
use crate::testing::site::{attempt, job, own_uid, Site, JOB};
use std::fs;

#[test]
fn an_output_whose_job_ends_while_it_is_opened_stays_not_open() {
    let site = Site::new();
    site.write(0, &[vec![7; 1000]]);
    let jobs = Arc::new(ServedJobs::default());
    let supplier = Supplier::new(
        Arc::clone(&jobs), Arc::new(Outputs::new(&site.local_dirs(), Arc::default())), Arc::default(),
        Arc::new(Reach::new(Vec::new())), 1 << 20, Pace::default(), Transports::Plain,
    );
    let is_open = || {
        let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
        open.filter_map(|each| fs::read_link(each.path()).ok()).any(|path| path.starts_with(&site.root))
    };
    let served = |secret: &[u8]| {
        jobs.obey(Order::Add(job(secret, own_uid()))).unwrap();
        jobs.get(JOB).unwrap()
    };
    let first = served(b"first");
    assert!(supplier.output(&first, attempt(0)).is_ok() && is_open());
    supplier.outputs.forget_job(JOB);
    // The first job's request came just before the job's end, or before the job was announced with another
    // secret.
    jobs.obey(Order::Remove(JOB)).unwrap();
    assert_eq!(supplier.output(&first, attempt(0)).err().unwrap().why, RefusalReason::NotAllowed);
    assert!(!is_open());
    let second = served(b"second");
    assert_eq!(supplier.output(&first, attempt(0)).err().unwrap().why, RefusalReason::NotAllowed);
    assert!(!is_open());
    assert!(supplier.output(&second, attempt(0)).is_ok());
}
