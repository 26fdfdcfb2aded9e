use super::*;
use crate::site::{attempt, job, own_uid, Site, JOB, USER};
use std::fs;
use std::os::unix::fs::symlink;

fn outputs(site: &Site) -> Outputs {
    Outputs::new(&site.local_dirs()).unwrap()
}

fn why(outputs: &Outputs, uid: u32) -> Refusal {
    match outputs.get(&job(b"s", uid), attempt(0)).and_then(|output| output.look(0, 0, true)) {
        Ok(looked) => panic!("{looked:?}"),
        Err(refused) => refused.why,
    }
}

#[test]
fn a_look_tells_sizes_and_the_checksum_of_each_block() {
    let site = Site::new();
    let stored = site.write(0, &[vec![7; 200_000], vec![255, 255], vec![1, 1, 9, 9, 255, 255]]);
    let output = outputs(&site).get(&job(b"s", own_uid()), attempt(0)).unwrap();
    let large = output.look(0, 1000, true).unwrap();
    assert_eq!((large.stored_bytes, large.raw_bytes, large.held.len()), (200_004, 200_000, 0));
    let expected: Vec<u32> = stored[0].chunks(CHECKSUM_BYTES as usize).map(crc32c::crc32c).collect();
    assert_eq!(large.checksums, expected);
    assert_eq!(output.look(1, 1000, true).unwrap().stored_bytes, 0);
    assert_eq!(output.look(2, 1000, true).unwrap().held, stored[2]);
    assert_eq!(output.look(3, 1000, true).unwrap_err().why, Refusal::Damaged);
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
        assert_eq!(why(&outputs(&site), own_uid()), Refusal::Damaged, "byte {at}");
    }
    fs::write(&file, &right[..100_000]).unwrap();
    assert_eq!(why(&outputs(&site), own_uid()), Refusal::Damaged, "a short file");
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
    assert_eq!(output.look(0, 2000, false).unwrap().held[0], 6);
    assert_eq!(output.look(0, 2000, true).unwrap_err().why, Refusal::Damaged);
}

#[test]
fn only_a_file_of_the_jobs_user_is_opened() {
    let site = Site::new();
    site.write(0, &[vec![7; 1000]]);
    assert_eq!(why(&outputs(&site), own_uid() + 1), Refusal::Gone);
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
        assert_eq!(why(&outputs(&site), own_uid()), Refusal::Gone, "{}", place.display());
        fs::remove_file(&place).unwrap();
        fs::rename(&elsewhere, &place).unwrap();
    }
    assert!(outputs(&site).get(&job(b"s", own_uid()), attempt(0)).is_ok());
}

#[test]
fn few_outputs_stay_open() {
    let site = Site::new();
    let outputs = outputs(&site);
    for map in 0..MOST_OPEN as u32 + 20 {
        site.write(map, &[vec![map as u8; 10]]);
        outputs.get(&job(b"s", own_uid()), attempt(map)).unwrap();
    }
    assert_eq!(outputs.cache().outputs.len(), MOST_OPEN);
    outputs.forget_job(JOB);
    let cache = outputs.cache();
    assert_eq!((cache.outputs.len(), cache.index_bytes), (0, 0));
}
