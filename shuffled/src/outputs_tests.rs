use super::*;
use crate::look::look;
use crate::testing::site::{attempt, job, own_uid, Site, JOB, USER};
use crate::wire::CHECKSUM_BYTES;
use std::fs;
use std::os::unix::fs::symlink;

fn outputs(site: &Site) -> Outputs {
    Outputs::new(&site.local_dirs(), Arc::default())
}

fn why(outputs: &Outputs, uid: u32) -> RefusalReason {
    match outputs.get(&job(b"s", uid), attempt(0)).and_then(|output| look(&output, 0, 0, true)) {
        Ok(looked) => panic!("{looked:?}"),
        Err(refused) => refused.why,
    }
}

#[test]
fn a_look_tells_sizes_and_the_checksum_of_each_block() {
    let site = Site::new();
    let stored = site.write(0, &[vec![7; 200_000], vec![255, 255], vec![1, 1, 9, 9, 255, 255]]);
    let output = outputs(&site).get(&job(b"s", own_uid()), attempt(0)).unwrap();
    let large = look(&output, 0, 1000, true).unwrap();
    assert_eq!((large.stored_bytes, large.raw_bytes, large.held.len()), (200_004, 200_000, 0));
    let expected: Vec<u32> = stored[0].chunks(CHECKSUM_BYTES as usize).map(crc32c::crc32c).collect();
    assert_eq!(large.checksums, expected);
    assert_eq!(look(&output, 1, 1000, true).unwrap().stored_bytes, 0);
    assert_eq!(look(&output, 2, 1000, true).unwrap().held, stored[2]);
    assert_eq!(look(&output, 3, 1000, true).unwrap_err().why, RefusalReason::Damaged);
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let site = Site::new();
    site.write(0, &[(0..150_000u32).map(|i| i as u8).collect()]);
    let file = site.output(0, 0).join("file.out");
    let right = fs::read(&file).unwrap();
    for at in [0, 65_535, 65_536, 149_999, 150_000, 150_003] {
        let mut wrong = right.clone();
        wrong[at] ^= 4;
        fs::write(&file, wrong).unwrap();
        assert_eq!(why(&outputs(&site), own_uid()), RefusalReason::Damaged, "byte {at}");
    }
    fs::write(&file, &right[..100_000]).unwrap();
    assert_eq!(why(&outputs(&site), own_uid()), RefusalReason::Damaged, "a short file");
}

#[test]
fn an_encrypted_segment_is_left_to_the_job() {
    let site = Site::new();
    site.write(0, &[vec![7; 1000]]);
    let file = site.output(0, 0).join("file.out");
    let mut bytes = fs::read(&file).unwrap();
    bytes[0] ^= 1;
    fs::write(&file, bytes).unwrap();
    let output = outputs(&site).get(&job(b"s", own_uid()), attempt(0)).unwrap();
    assert_eq!(look(&output, 0, 2000, false).unwrap().held[0], 6);
    assert_eq!(look(&output, 0, 2000, true).unwrap_err().why, RefusalReason::Damaged);
}

#[test]
fn only_a_file_of_the_jobs_user_is_opened() {
    let site = Site::new();
    site.write(0, &[vec![7; 1000]]);
    assert_eq!(why(&outputs(&site), own_uid() + 1), RefusalReason::Gone);
}

#[test]
fn no_link_leads_out_of_the_applications_directory() {
    let site = Site::new();
    site.write(0, &[vec![7; 1000]]);
    let output = site.output(0, 0);
    let elsewhere = site.root.join("elsewhere");
    // A link in place of the file, of the attempt's directory, and of the application's.
    let application = site.local_dirs()[0].join(format!("usercache/{USER}/appcache/{JOB}"));
    for place in [output.join("file.out"), output, application] {
        fs::rename(&place, &elsewhere).unwrap();
        symlink(&elsewhere, &place).unwrap();
        assert_eq!(why(&outputs(&site), own_uid()), RefusalReason::Gone, "{}", place.display());
        fs::remove_file(&place).unwrap();
        fs::rename(&elsewhere, &place).unwrap();
    }
    assert!(outputs(&site).get(&job(b"s", own_uid()), attempt(0)).is_ok());
}

fn other_job(number: u32, uid: u32) -> Job {
    let key = JobKey { number, ..JOB };
    Job { key, ..job(b"s", uid) }
}

/// Writes the output of one map task of this job.
fn write_of(site: &Site, job: &Job, map: u32) -> MapAttemptId {
    site.write(map, &[vec![map as u8; 10]]);
    for directory in site.local_dirs() {
        let of = |key: JobKey| directory.join(format!("usercache/{USER}/appcache/{key}/output"));
        let name = MapAttemptId { job: job.key, ..attempt(map) };
        let (from, to) = (of(JOB).join(attempt(map).to_string()), of(job.key).join(name.to_string()));
        if job.key != JOB {
            fs::create_dir_all(of(job.key)).unwrap();
            fs::rename(from, to).unwrap();
        }
    }
    MapAttemptId { job: job.key, ..attempt(map) }
}

#[test]
fn few_outputs_stay_open() {
    let site = Site::new();
    let outputs = Outputs::bounded(&site.local_dirs(), Arc::default(), 20, 1 << 20);
    for map in 0..40 {
        site.write(map, &[vec![map as u8; 10]]);
        outputs.get(&job(b"s", own_uid()), attempt(map)).unwrap();
    }
    assert!(outputs.get(&job(b"s", own_uid()), attempt(39)).is_ok());
    assert!(outputs.get(&job(b"s", own_uid()), attempt(40)).is_err());
    assert_eq!((outputs.metrics.outputs_opened.get(), outputs.metrics.outputs_found.get()), (40, 1));
    assert_eq!(lock(&outputs.held).files.held(), 10, "half: a job leaves as much as it has");
    outputs.forget_job(JOB);
    let held = lock(&outputs.held);
    assert_eq!((held.files.held(), held.index_bytes.held()), (0, 0));
}

#[test]
fn a_job_whose_outputs_are_all_in_use_waits_and_others_do_not() {
    let site = Site::new();
    let outputs = Outputs::bounded(&site.local_dirs(), Arc::default(), 20, 1 << 20);
    let (greedy, modest) = (other_job(7, own_uid()), other_job(8, own_uid()));
    let mut in_use = Vec::new();
    let refused = loop {
        match outputs.get(&greedy, write_of(&site, &greedy, in_use.len() as u32)) {
            Ok(output) => in_use.push(output),
            Err(refused) => break refused,
        }
        assert!(in_use.len() <= 20);
    };
    assert_eq!((refused.why, in_use.len()), (RefusalReason::Busy, 10));
    for map in 0..15 {
        assert!(outputs.get(&modest, write_of(&site, &modest, map)).is_ok(), "its own idle ones close");
    }
    drop(in_use);
    assert!(outputs.get(&greedy, write_of(&site, &greedy, 90)).is_ok());
}

#[test]
fn large_indexes_have_shares_too() {
    let site = Site::new();
    let outputs = Outputs::bounded(&site.local_dirs(), Arc::default(), 500, 1000);
    let in_use: Vec<_> = (0..40)
        .filter_map(|map| {
            site.write(map, &[vec![1; 10], vec![2; 10], vec![3; 10]]);
            outputs.get(&job(b"s", own_uid()), attempt(map)).ok()
        })
        .collect();
    assert_eq!(in_use.len(), 500 / 80);
}

#[test]
fn a_bad_local_directory_hides_nothing_of_the_others() {
    let site = Site::new();
    let stored = site.write(0, &[vec![7; 1000]]);
    let bad = site.root.join("a-file");
    fs::write(&bad, b"").unwrap();
    let away = site.root.join("away");
    let link = site.root.join("link");
    symlink(&link, &link).unwrap();
    let [one, two] = site.local_dirs();
    let all = Outputs::new(&[&bad, &away, &link, &one, &two], Arc::default());
    let output = all.get(&job(b"s", own_uid()), attempt(0)).unwrap();
    assert_eq!(look(&output, 0, 2000, true).unwrap().held, stored[0]);
    // Of an output that is nowhere the directory is named.
    let refused = all.get(&job(b"s", own_uid()), attempt(1)).err().unwrap();
    assert!(refused.text.contains("a-file"), "{}", refused.text);
    // A disk that comes back is used again.
    fs::rename(&one, &away).unwrap();
    assert!(all.get(&job(b"s", own_uid()), attempt(0)).is_ok());
}

#[test]
fn a_disk_that_hangs_is_left_alone_until_it_answers() {
    let site = Site::new();
    site.write(0, &[vec![7; 1000]]);
    let outputs = outputs(&site);
    let long_ago = Instant::now().checked_sub(2 * HANGING).unwrap();
    // The second directory has the index, the first all else.
    let hang = |number| {
        let call = outputs.local_dirs[1].begin();
        outputs.local_dirs[1].under_way.lock().unwrap().insert(number, long_ago);
        call.unwrap()
    };
    let calls = [hang(0), hang(1)];
    let refused = outputs.get(&job(b"s", own_uid()), attempt(0)).err().unwrap();
    assert_eq!(refused.why, RefusalReason::Sick);
    assert!(refused.text.contains("does not answer in") && refused.text.ends_with("two"), "{}", refused.text);
    drop(calls);
    assert!(outputs.get(&job(b"s", own_uid()), attempt(0)).is_ok());
}

#[test]
fn nothing_beyond_a_mount_is_opened() {
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    assert_eq!(beneath(&root, "proc/version", OFlags::RDONLY).err(), Some(rustix::io::Errno::XDEV));
}
