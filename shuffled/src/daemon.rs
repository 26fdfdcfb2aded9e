//! Puts the parts together, and obeys the NodeManager on standard input until that ends.

use crate::budget::Budget;
use crate::jobs::{parse_order, Jobs, Order, LONGEST_LINE};
use crate::local::Local;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::outputs::Outputs;
use crate::peers::Peers;
use crate::supplier::Supplier;
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use std::fs::{DirBuilder, Permissions};
use std::io::{self, BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The directory of the socket below a local directory, and the socket's name.
const DIRECTORY: &str = "vas-shuffled";
const SOCKET: &str = "socket";

/// Serves until standard input ends.
pub fn run(options: &Options) -> io::Result<()> {
    keep_secrets()?;
    let metrics = Arc::new(Metrics::default());
    let (jobs, budget) = (Arc::new(Jobs::default()), Budget::new(options.memory_bytes));
    let outputs = Arc::new(Outputs::new(&options.local_dirs)?);
    let supplier = Supplier::start(Arc::clone(&jobs), Arc::clone(&outputs), Arc::clone(&metrics))?;
    let listener = TcpListener::bind(options.listen).map_err(|error| named(options.listen, &error))?;
    let port = listener.local_addr()?.port();
    let peers = Peers::new(port, Arc::clone(&metrics));
    let local = Arc::new(Local {
        jobs: Arc::clone(&jobs),
        peers,
        budget: Arc::clone(&budget),
        metrics: Arc::clone(&metrics),
    });
    start("accept", move || supplier.listen(&listener))?;
    for directory in &options.local_dirs {
        let (local, listener) = (Arc::clone(&local), socket_below(directory)?);
        start("accept-reducers", move || local.listen(&listener))?;
    }
    if let Some(address) = options.metrics {
        let listener = TcpListener::bind(address).map_err(|error| named(address, &error))?;
        let (jobs, budget) = (Arc::clone(&jobs), Arc::clone(&budget));
        start("metrics", move || show(&listener, || metrics.text(jobs.count() as u64, budget.used())))?;
    }
    // The NodeManager reads this line: from here on both doors are open.
    println!("listening on port {port}");
    io::stdout().flush()?;
    obey(&mut io::stdin().lock(), &jobs, &outputs)
}

fn named(place: impl std::fmt::Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{place}: {error}"))
}

/// Keeps the secrets out of core dumps, and other processes of this user out of its memory.
fn keep_secrets() -> io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    Ok(())
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(body).map(drop)
}

/// Makes the socket for reducers. Every task's user may connect, and proves its job then.
fn socket_below(local_dir: &Path) -> io::Result<UnixListener> {
    let directory = local_dir.join(DIRECTORY);
    match DirBuilder::new().mode(0o755).create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(named(directory.display(), &error)),
        _ => {}
    }
    let described = std::fs::symlink_metadata(&directory)?;
    let is_own = std::os::unix::fs::MetadataExt::uid(&described) == rustix::process::getuid().as_raw();
    if !described.is_dir() || !is_own || described.permissions().mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("{}: not a directory that only its owner writes", directory.display())));
    }
    // The NodeManager's umask is not meant for the tasks' way to the socket.
    std::fs::set_permissions(&directory, Permissions::from_mode(0o755))?;
    // A path of any length: the kernel takes 107 bytes of a socket's, so it is bound from beside it.
    std::env::set_current_dir(&directory)?;
    match std::fs::remove_file(SOCKET) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(directory.display(), &error)),
        _ => {}
    }
    let listener = UnixListener::bind(SOCKET).map_err(|error| named(directory.display(), &error))?;
    std::fs::set_permissions(SOCKET, Permissions::from_mode(0o666))?;
    std::env::set_current_dir("/")?;
    Ok(listener)
}

fn obey(input: &mut impl BufRead, jobs: &Jobs, outputs: &Outputs) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = std::str::from_utf8(&line).unwrap_or_default().trim_end_matches('\n');
        // A job that is told anew may have other files, or another secret.
        let order = parse_order(text);
        if let Ok(Order::Add(job)) = &order {
            outputs.forget_job(job.key);
        }
        let removed = if let Ok(Order::Remove(key)) = &order { Some(*key) } else { None };
        if let Err(why) = order.and_then(|order| jobs.obey(order)) {
            eprintln!("vas-shuffled: standard input: {why}");
        }
        line.fill(0);
        if let Some(key) = removed {
            outputs.forget_job(key);
        }
    }
}

fn show(listener: &TcpListener, text: impl Fn() -> String) {
    for stream in listener.incoming().flatten() {
        let _ = respond(stream, &text());
    }
}

fn respond(mut stream: TcpStream, text: &str) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    let mut request = [0; 1024];
    let count = stream.read(&mut request)?;
    let is_right = request[..count].starts_with(b"GET /metrics ");
    let (status, body) = if is_right { ("200 OK", text) } else { ("404 Not Found", "") };
    let length = body.len();
    write!(stream, "HTTP/1.0 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n\r\n{body}")
}
