//! Tests of daemons that talk by TLS: they get the same bytes, and nothing of a daemon without TLS or with a wrong
//! certificate.

use crate::link::{greet, receive, LinkRole};
use crate::pace::Pace;
use crate::random::Random;
use crate::testing::node::{fetch, read, two_listeners, until, waits_on, Node, HOSTS, SECRET};
use crate::testing::site::JOB;
use crate::tls::{TlsContext, TlsFiles};
use crate::transport::Transports;
use crate::wire::{Accept, RefusalReason, LARGEST_READ};
use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, KeyPair};
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A directory of PEM files, which is removed when this is dropped.
struct Pems(PathBuf);

impl Drop for Pems {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Authority(Certificate, KeyPair);

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Authority(params.self_signed(&key).unwrap(), key)
    }

    fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0, &self.1).unwrap().pem(), key.serialize_pem())
    }
}

impl Pems {
    fn new() -> Pems {
        let unique: String = crate::random::nonce().unwrap()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let pems = Pems(std::env::temp_dir().join(format!("vas-shuffled-tls-{unique}")));
        fs::create_dir(&pems.0).unwrap();
        pems
    }

    fn put(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Writes the files of a node with this name, signed by one authority, which believes another.
    fn files(&self, name: &str, signer: &Authority, believed: &Authority) -> TlsFiles {
        let (certificate, key) = signer.sign(name);
        TlsFiles {
            certificate: self.put("certificate.pem", &certificate, 0o644),
            key: self.put("key.pem", &key, 0o600),
            authorities: self.put("authorities.pem", &believed.0.pem(), 0o644),
        }
    }

    fn transports(&self, name: &str, signer: &Authority, believed: &Authority) -> Transports {
        Transports::Tls(Arc::new(TlsContext::read(&self.files(name, signer, believed)).unwrap()))
    }
}

/// Starts two nodes with these transports; the first has an output of this segment.
fn two_nodes(transports: [Transports; 2], segment: Vec<u8>) -> ([Node; 2], Vec<u8>) {
    let [first, second] = two_listeners();
    let [of_first, of_second] = transports;
    let nodes = [(first, of_first), (second, of_second)].map(|(listener, by)| Node::by(listener, Pace::default(), by));
    let stored = nodes[0].site.write(0, &[segment]).remove(0);
    (nodes, stored)
}

/// Returns why the second node gets nothing of the first; it must not take long.
fn refusal(transports: [Transports; 2]) -> String {
    let (nodes, _) = two_nodes(transports, vec![3; 1000]);
    let begun = Instant::now();
    let call = nodes[1].peers.call(&nodes[1].jobs.get(JOB).unwrap(), read(10), &mut waits_on);
    let refused = call.unwrap_err();
    assert_eq!(refused.why, RefusalReason::Unreachable, "{}", refused.text);
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(nodes[0].metrics.served_bytes.get(), 0);
    until(|| nodes[0].metrics.peers_in.get() == 0);
    refused.text
}

#[test]
fn two_daemons_by_tls_get_every_byte_both_ways() {
    let (pems, authority) = (Pems::new(), Authority::new());
    let transports = [HOSTS[0], HOSTS[1]].map(|host| pems.transports(host, &authority, &authority));
    let mut random = Random::new(12);
    let segment = random.bytes(5_000_000);
    let (nodes, stored) = two_nodes(transports, segment);
    let more: Vec<_> = (1..4).map(|map| nodes[1].site.write_random(&mut random, map, 2, 700_000)).collect();
    thread::scope(|scope| {
        for piece in [LARGEST_READ, 65_536, 100_000, 4_001] {
            let (nodes, stored, more) = (&nodes, &stored, &more);
            scope.spawn(move || {
                let mut reducer = nodes[1].reducer(SECRET).unwrap();
                assert!(fetch(&mut reducer, HOSTS[0], 0, 0, piece) == *stored);
            });
            scope.spawn(move || {
                let mut reducer = nodes[0].reducer(SECRET).unwrap();
                for (map, segments) in (1..).zip(more) {
                    assert!(fetch(&mut reducer, HOSTS[1], map, 1, piece) == segments[1]);
                }
            });
        }
    });
    let all = 4 * stored.len() as u64;
    until(|| nodes[0].metrics.served_bytes.get() >= all);
    assert_eq!(nodes[0].metrics.served_bytes.get(), all);
    assert_eq!((nodes[0].metrics.peers_in.get(), nodes[1].metrics.peers_in.get()), (1, 1));
    // A job that demands TLS has it here.
    assert!(nodes[1].reducer(SECRET).unwrap().look_sealed(HOSTS[0], 0, 0).is_ok());
    assert_eq!(nodes[0].reducer(b"another").err().unwrap().why, RefusalReason::NotAllowed);
}

#[test]
fn a_plaintext_asker_gets_not_even_a_greeting() {
    let (pems, authority) = (Pems::new(), Authority::new());
    let tls = pems.transports(HOSTS[0], &authority, &authority);
    refusal([tls.clone(), Transports::Plain]);
    let (nodes, _) = two_nodes([tls.clone(), tls], vec![3; 1000]);
    let mut stream = TcpStream::connect((HOSTS[0], nodes[0].port)).unwrap();
    assert!(greet(&mut stream, LinkRole::Asker, String::new()).is_err());
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    assert!(!said.windows(6).any(|part| part == b"VASJBS"), "{said:?}");
}

#[test]
fn a_job_that_demands_tls_gets_nothing_of_a_plaintext_daemon() {
    let (nodes, _) = two_nodes([Transports::Plain, Transports::Plain], vec![3; 1000]);
    for host in [HOSTS[0], HOSTS[1]] {
        let refused = nodes[1].reducer(SECRET).unwrap().look_sealed(host, 0, 0).unwrap_err();
        assert_eq!(refused.why, RefusalReason::TooMuch, "{}", refused.text);
        assert!(refused.text.contains("mapreduce.shuffle.ssl.enabled"), "{}", refused.text);
    }
    assert_eq!(nodes[0].metrics.peers_in.get(), 0);
}

#[test]
fn a_plaintext_node_is_not_asked() {
    let (pems, authority) = (Pems::new(), Authority::new());
    refusal([Transports::Plain, pems.transports(HOSTS[1], &authority, &authority)]);
}

#[test]
fn a_certificate_of_another_authority_is_refused_at_either_end() {
    let (pems, authority, stranger) = (Pems::new(), Authority::new(), Authority::new());
    let right = [HOSTS[0], HOSTS[1]].map(|host| pems.transports(host, &authority, &authority));
    let strange = [HOSTS[0], HOSTS[1]].map(|host| pems.transports(host, &stranger, &authority));
    let [right_first, right_second] = right;
    let [strange_first, strange_second] = strange;
    let of_answerer = refusal([strange_first, right_second]);
    assert!(of_answerer.contains("UnknownIssuer") || of_answerer.contains("BadSignature"), "{of_answerer}");
    // The asker learns it by an alert, or by the end of the connection.
    refusal([right_first, strange_second]);
}

#[test]
fn a_certificate_of_another_node_is_refused() {
    let (pems, authority) = (Pems::new(), Authority::new());
    let text = refusal([
        pems.transports("127.0.0.77", &authority, &authority),
        pems.transports(HOSTS[1], &authority, &authority),
    ]);
    assert!(text.contains("not valid for name") || text.contains("NotValidForName"), "{text}");
}

#[test]
fn one_who_stalls_in_the_handshake_or_sends_noise_ends() {
    let (pems, authority) = (Pems::new(), Authority::new());
    let transports = [HOSTS[0], HOSTS[1]].map(|host| pems.transports(host, &authority, &authority));
    let (nodes, stored) = two_nodes(transports, vec![3; 100_000]);
    let mut random = Random::new(13);
    let silent: Vec<TcpStream> = (0..20)
        .map(|number| {
            let mut stream = TcpStream::connect((HOSTS[0], nodes[0].port)).unwrap();
            let _ = stream.write_all(&random.bytes(number * 20));
            stream
        })
        .collect();
    let mut reducer = nodes[1].reducer(SECRET).unwrap();
    assert!(fetch(&mut reducer, HOSTS[0], 0, 0, LARGEST_READ) == stored);
    // All but the proven one have 10 s.
    until(|| nodes[0].metrics.peers_in.get() == 1);
    drop(silent);
}

#[test]
fn a_changed_bit_of_the_ciphertext_ends_the_connection() {
    let (pems, authority) = (Pems::new(), Authority::new());
    let transports = pems.transports(HOSTS[0], &authority, &authority);
    let listener = TcpListener::bind((HOSTS[0], 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let answering = transports.clone();
    let end = Instant::now() + Duration::from_secs(10);
    let answerer = thread::spawn(move || {
        let socket = Arc::new(listener.accept().unwrap().0);
        let wire = answering.answerer(&socket, end).unwrap();
        (&wire).write_all(b"right").unwrap();
        // A record that this connection never made.
        (&*socket).write_all(&[23, 3, 3, 0, 32]).unwrap();
        (&*socket).write_all(&[7; 32]).unwrap();
        let _ = (&*socket).read(&mut [0; 1]);
    });
    let socket = Arc::new(TcpStream::connect(address).unwrap());
    let wire = transports.asker(&socket, HOSTS[0], end).unwrap();
    let mut bytes = [0; 5];
    (&wire).read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"right");
    assert!((&wire).read(&mut bytes).is_err());
    assert!(receive(&mut &wire, Accept::Answers).is_err());
    drop((wire, socket));
    answerer.join().unwrap();
}

#[test]
fn files_that_others_could_change_or_read_are_refused() {
    let (pems, authority) = (Pems::new(), Authority::new());
    let files = pems.files(HOSTS[0], &authority, &authority);
    let why = |files: &TlsFiles| TlsContext::read(files).err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(why(&files), "");
    let with_mode = |path: &Path, mode: u32, before: u32| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let why = why(&files);
        fs::set_permissions(path, Permissions::from_mode(before)).unwrap();
        why
    };
    assert!(with_mode(&files.key, 0o640, 0o600).contains("others have rights to it"));
    assert!(with_mode(&files.certificate, 0o664, 0o644).contains("others have rights to it"));
    assert!(with_mode(&files.authorities, 0o646, 0o644).contains("others have rights to it"));
    let link = pems.0.join("link.pem");
    symlink(&files.key, &link).unwrap();
    assert!(why(&TlsFiles { key: link, ..files.clone() }).contains("link.pem"));
    assert!(why(&TlsFiles { key: pems.0.clone(), ..files.clone() }).contains("not a regular file"));
    assert!(why(&TlsFiles { authorities: pems.put("empty.pem", "", 0o644), ..files.clone() }).contains("no certificate"));
    let other = pems.put("other.pem", &authority.sign(HOSTS[0]).1, 0o600);
    assert!(!why(&TlsFiles { key: other, ..files }).is_empty(), "a key of another certificate");
}

/// A key whose line breaks were lost is one line, which errors of the library quote whole.
#[test]
fn no_byte_of_a_key_is_in_the_error_about_its_file() {
    let (pems, authority) = (Pems::new(), Authority::new());
    let files = pems.files(HOSTS[0], &authority, &authority);
    let key = fs::read_to_string(&files.key).unwrap();
    let secret = &key.lines().nth(1).unwrap()[..16];
    let forms = [format!("{:?}", secret.as_bytes()).trim_matches(['[', ']']).to_owned(), secret.to_owned()];
    for broken in [key.replace('\n', " "), key.replace("-----\n", "-----").replace("-----END", "\n-----END")] {
        let bad = pems.put("bad.pem", &broken, 0o600);
        for (files, reads_it) in [
            (TlsFiles { key: bad.clone(), ..files.clone() }, "the key"),
            (TlsFiles { certificate: bad.clone(), ..files.clone() }, "a key in the place of the certificate"),
        ] {
            let why = TlsContext::read(&files).err().unwrap().to_string();
            assert!(why.contains("bad.pem"), "{why}");
            assert!(forms.iter().all(|form| !why.contains(form)), "{reads_it} is in the error");
        }
    }
}
