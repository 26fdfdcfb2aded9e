//! Carries bytes between daemons by TLS 1.3, with rustls. Both ends show a certificate that the site's authorities
//! signed, and the end that is asked must have the host name by which it was asked. The proofs of jobs are made
//! within the TLS connection.

use crate::link::Until;
use crate::transport::{send_by_reading, Transport};
use rustix::fs::{FileType, Mode, OFlags};
use rustls::client::Resumption;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const LARGEST_FILE: u64 = 1 << 20;
/// Most bytes that one TLS record carries.
const RECORD: usize = 16 << 10;
const LABEL: &[u8] = b"EXPORTER-vas-jbs";

/// The PEM files of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The node's certificate, and those between it and an authority's.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The certificates of the authorities that sign nodes' certificates.
    pub authorities: PathBuf,
}

/// The TLS settings of a node, for connections that it makes and for those that it accepts.
pub struct TlsContext {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl TlsContext {
    /// Reads a node's PEM files. Returns an error that names the file if users other than the daemon's and root could
    /// have written it or read the key, if it is a link, or if the files do not fit one another.
    pub fn read(files: &TlsFiles) -> io::Result<TlsContext> {
        let certificates_of = |path: &Path, forbidden: u32| {
            let bytes = read_safely(path, forbidden)?;
            let parsed = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
            let certificates = parsed.map_err(|error| at(path, fault(&error)))?;
            if certificates.is_empty() { Err(at(path, "holds no certificate")) } else { Ok(certificates) }
        };
        let chain = certificates_of(&files.certificate, 0o022)?;
        let mut roots = RootCertStore::empty();
        for each in certificates_of(&files.authorities, 0o022)? {
            roots.add(each).map_err(|error| at(&files.authorities, error))?;
        }
        let roots = Arc::new(roots);
        let mut secret = read_safely(&files.key, 0o077)?;
        let key = PrivateKeyDer::from_pem_slice(&secret).map_err(|error| at(&files.key, fault(&error)));
        secret.fill(0);
        std::hint::black_box(&mut secret);
        TlsContext::of(chain, key?, roots).map_err(|error| at(&files.certificate, error))
    }

    fn of(
        chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>, roots: Arc<RootCertStore>,
    ) -> Result<TlsContext, Box<dyn std::error::Error>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = [&rustls::version::TLS13];
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider)).build()?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain.clone(), key.clone_key())?;
        // Connections last, so no TLS session is ever resumed.
        server.send_tls13_tickets = 0;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)?;
        client.resumption = Resumption::disabled();
        Ok(TlsContext { client: Arc::new(client), server: Arc::new(server) })
    }
}

fn at(path: &Path, error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
}

/// Returns what is wrong with a PEM file, without any of its bytes. The library's own text may quote a whole line,
/// which is the key itself where the line breaks were lost, and the text goes to the log.
fn fault(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "has no END line of its own after a BEGIN line",
        pem::Error::IllegalSectionStart { .. } => "has a BEGIN line that does not end with -----",
        pem::Error::Base64Decode(_) => "holds what is not base64",
        pem::Error::NoItemsFound => "holds no section of the kind that belongs here",
        _ => "is not PEM",
    }
}

fn read_safely(path: &Path, forbidden: u32) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| at(path, error))?;
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(at(path, "not a regular file"));
    }
    if stat.st_uid != 0 && stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(at(path, "belongs neither to root nor to the daemon's user"));
    }
    if stat.st_mode & forbidden != 0 {
        return Err(at(path, format!("others have rights to it: take away {forbidden:03o}")));
    }
    let mut bytes = Vec::new();
    File::from(file).take(LARGEST_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Ciphertext that has arrived and is not decrypted yet.
struct Incoming {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// A TLS connection after its handshake. Its mutexes are locked in the order of the fields.
pub struct Tls {
    socket: Arc<TcpStream>,
    incoming: Mutex<Incoming>,
    outgoing: Mutex<Vec<u8>>,
    state: Mutex<Connection>,
    binding: String,
}

/// Does the handshake of the end that connected to `host`, before the instant `end`. Returns an error if the other
/// end's certificate is not signed by the site's authorities, or not that of `host`.
pub fn asker(context: &TlsContext, socket: &Arc<TcpStream>, host: &str, end: Instant) -> io::Result<Tls> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let state = ClientConnection::new(Arc::clone(&context.client), name).map_err(io::Error::other)?;
    shake_hands(state.into(), socket, end)
}

/// Does the handshake of the end that accepted a connection, before the instant `end`. Returns an error if the other
/// end's certificate is not signed by the site's authorities.
pub fn answerer(context: &TlsContext, socket: &Arc<TcpStream>, end: Instant) -> io::Result<Tls> {
    let state = ServerConnection::new(Arc::clone(&context.server)).map_err(io::Error::other)?;
    shake_hands(state.into(), socket, end)
}

fn shake_hands(mut state: Connection, socket: &Arc<TcpStream>, end: Instant) -> io::Result<Tls> {
    let mut until = Until { stream: &**socket, end };
    while state.is_handshaking() {
        state.complete_io(&mut until)?;
    }
    let secret = state.export_keying_material([0; 32], LABEL, None).map_err(io::Error::other)?;
    let binding = secret.iter().fold(String::from(" "), |text, byte| format!("{text}{byte:02x}"));
    Ok(Tls {
        socket: Arc::clone(socket),
        incoming: Mutex::new(Incoming { buffer: vec![0; 4 * RECORD], start: 0, end: 0 }),
        outgoing: Mutex::default(),
        state: Mutex::new(state),
        binding,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Transport for Tls {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut incoming = lock(&self.incoming);
        loop {
            {
                let mut state = lock(&self.state);
                match state.reader().read(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    other => return other,
                }
                if incoming.start < incoming.end {
                    // Only a part is given at a time: rustls holds few decrypted bytes.
                    let Incoming { buffer, start, end } = &mut *incoming;
                    *start += state.read_tls(&mut &buffer[*start..*end])?;
                    state.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                    continue;
                }
            }
            // No thread waits for the lock of `state` while this one waits for the other end.
            incoming.end = (&*self.socket).read(&mut incoming.buffer)?;
            incoming.start = 0;
            if incoming.end == 0 {
                lock(&self.state).read_tls(&mut io::empty())?;
            }
        }
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut outgoing = lock(&self.outgoing);
        for part in bytes.chunks(RECORD) {
            outgoing.clear();
            {
                let mut state = lock(&self.state);
                state.writer().write_all(part)?;
                while state.wants_write() {
                    state.write_tls(&mut *outgoing)?;
                }
            }
            (&*self.socket).write_all(&outgoing)?;
        }
        Ok(())
    }

    fn send_file(&self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        send_by_reading(self, file, offset, length)
    }

    fn binding(&self) -> &str {
        &self.binding
    }
}
