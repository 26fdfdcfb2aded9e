//! Starts the parts of the daemon, and carries out the NodeManager's orders on standard input until that ends.

use crate::budget::MemoryBudget;
use crate::confine::{confine, FileWrites};
use crate::jobs::{parse_order, Order, ServedJobs, LONGEST_LINE};
use crate::locked;
use crate::local::Local;
use crate::metrics::{Gauges, Metrics};
use crate::options::Options;
use crate::outputs::Outputs;
use crate::own_link::Own;
use crate::pace::Pace;
use crate::peers::Peers;
use crate::rdma::{self, Rdma, RdmaUse};
use crate::reach::Reach;
use crate::sockets::{self, LocalSocket};
use crate::supplier::Supplier;
use crate::tls::TlsContext;
use crate::transport::Transports;
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How often the daemon looks whether its sockets for reducers are still there: a disk may fail and come back.
const SOCKETS: Duration = Duration::from_secs(30);
/// File descriptors that the daemon needs with as many connections and open outputs as it allows, and some to spare.
const DESCRIPTORS: u64 = 9000;

/// Runs the daemon until standard input ends. Returns an error if a file of TLS cannot be used, a socket or thread
/// cannot be made, or standard input cannot be read.
pub fn run(options: &Options) -> io::Result<()> {
    let writes = if options.rdma == RdmaUse::Off { FileWrites::Refused } else { FileWrites::Allowed };
    if let Err(error) = confine(writes) {
        eprintln!("runs without a filter of system calls: {error}");
    }
    keep_secrets()?;
    allow_descriptors();
    let (metrics, pace) = (Arc::new(Metrics::default()), Pace::default());
    let (jobs, budget) = (Arc::new(ServedJobs::default()), MemoryBudget::new(options.memory_bytes));
    let outputs = Arc::new(Outputs::new(&options.local_dirs, Arc::clone(&metrics)));
    let reach = Arc::new(Reach::new(options.witnesses.clone()));
    let transports = match &options.tls {
        Some(files) => Transports::Tls(Arc::new(TlsContext::read(files)?)),
        None => Transports::Plain,
    };
    let (rdma, why) = rdma::open(options.rdma, transports.is_sealed()).map_err(io::Error::other)?;
    note(why);
    let supplier = Supplier::new(
        Arc::clone(&jobs), Arc::clone(&outputs), Arc::clone(&metrics), Arc::clone(&reach), options.memory_bytes / 4,
        pace, transports,
    );
    let listener = sockets::listen(options.listen)?;
    let listens = listener.local_addr()?;
    let own = Own { supplier: Arc::clone(&supplier), listens };
    let rdma = listen_rdma(rdma, listens, &supplier)?;
    // A node that RDMA alone reaches needs registered memory.
    let most = if rdma.as_ref().is_some_and(|rdma| rdma.is_only) { rdma::MOST } else { usize::MAX };
    let peers = Peers::new(own, pace, reach, Arc::clone(&metrics), options.peers.min(most), rdma);
    let gauges = gauges_of(&jobs, &budget, &peers);
    let local = Local::new(Arc::clone(&jobs), peers, budget, Arc::clone(&metrics), pace);
    start("accept", move || supplier.listen(&listener))?;
    open_sockets(&options.local_dirs, &local)?;
    if let Some(address) = options.metrics {
        let listener = sockets::listen(address)?;
        let (metrics, gauges) = (Arc::clone(&metrics), gauges.clone());
        start("metrics", move || show(&listener, || metrics.text(&gauges())))?;
    }
    // The NodeManager reads this line: from here on the sockets for nodes and for reducers are open.
    println!("listening on port {}", listens.port());
    io::stdout().flush()?;
    obey(&mut io::stdin().lock(), &jobs, &outputs, || {
        println!("counts {}", metrics.line(&gauges()));
        io::stdout().flush()
    })
}

/// Returns a function that looks at these parts whenever numbers are told.
fn gauges_of(
    jobs: &Arc<ServedJobs>, budget: &Arc<MemoryBudget>, peers: &Arc<Peers>,
) -> impl Fn() -> Gauges + Clone + Send + 'static {
    let (jobs, budget, peers) = (Arc::clone(jobs), Arc::clone(budget), Arc::clone(peers));
    move || {
        let (in_flight, waiting) = peers.under_way();
        Gauges { jobs: jobs.count() as u64, held_bytes: budget.used(), in_flight, waiting }
    }
}

fn note(line: Option<String>) {
    if let Some(line) = line {
        eprintln!("vas-shuffled: {line}");
    }
}

/// Accepts RDMA connections at the address where TCP's are accepted. Returns None, with a line on standard error, if
/// no RDMA device has it; an error if RDMA is the only way.
fn listen_rdma(
    rdma: Option<Rdma>, address: SocketAddr, supplier: &Arc<Supplier>,
) -> io::Result<Option<Arc<Rdma>>> {
    let Some(rdma) = rdma else { return Ok(None) };
    match rdma.listen(address) {
        Ok(listener) => {
            let supplier = Arc::clone(supplier);
            start("accept-rdma", move || supplier.listen_rdma(&listener))?;
            note(Some(format!("RDMA is used: it listens at {address}")));
            Ok(Some(Arc::new(rdma)))
        }
        Err(error) if rdma.is_only => Err(io::Error::new(error.kind(), format!("RDMA at {address}: {error}"))),
        Err(error) => {
            note(Some(format!("RDMA is not used, TCP is: {address}: {error}")));
            Ok(None)
        }
    }
}

/// Makes a socket for reducers in each local directory, and makes it again where it vanishes. Names a directory that
/// cannot be used on standard error and leaves it out; returns an error if none can be used.
fn open_sockets(local_dirs: &[PathBuf], local: &Arc<Local>) -> io::Result<()> {
    let mut all: Vec<LocalSocket> = local_dirs.iter().map(|directory| LocalSocket::new(directory)).collect();
    if all.iter_mut().filter_map(|socket| open_socket(socket, local).then_some(())).count() == 0 {
        return Err(io::Error::other("no local directory can be used"));
    }
    let local = Arc::clone(local);
    start("sockets", move || loop {
        thread::sleep(SOCKETS);
        for socket in all.iter_mut().filter(|socket| !socket.is_open()) {
            open_socket(socket, &local);
        }
    })
}

fn open_socket(socket: &mut LocalSocket, local: &Arc<Local>) -> bool {
    let local = Arc::clone(local);
    let opened = socket.open().and_then(|listener| start("accept-reducers", move || local.listen(&listener)));
    match opened {
        Ok(()) => true,
        Err(error) => {
            if socket.is_news(&error.to_string()) {
                eprintln!("a local directory is left out until it is good again: {error}");
            }
            false
        }
    }
}

/// Keeps the jobs' secrets out of core dumps and swap devices, and other processes of this user out of the daemon's
/// memory. Warns on standard error where secrets may be swapped.
fn keep_secrets() -> io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    if let Some(why) = locked::why_not() {
        eprintln!("secrets may be written to a swap device: {why}; allow 256 KiB of locked memory (LimitMEMLOCK)");
    }
    Ok(())
}

/// Raises the limit of open files as far as the kernel allows. Warns on standard error if that is below
/// `DESCRIPTORS`.
fn allow_descriptors() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let _ = rustix::process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    if let Some(most) = limit.maximum.filter(|most| *most < DESCRIPTORS) {
        eprintln!("only {most} files may be open here; a busy node needs {DESCRIPTORS} (ulimit -n)");
    }
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(body).map(drop)
}

fn obey(
    input: &mut impl BufRead,
    jobs: &ServedJobs,
    outputs: &Outputs,
    count: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() > LONGEST_LINE && !line.ends_with(b"\n") {
            // The rest of the line is not an order either.
            skip_line(input)?;
        }
        let text = std::str::from_utf8(&line).unwrap_or_default().trim_end_matches('\n');
        let order = parse_order(text);
        let told = order.as_ref().ok().and_then(Order::key);
        if matches!(order, Ok(Order::Count)) {
            count()?;
        }
        if let Err(why) = order.and_then(|order| jobs.obey(order)) {
            eprintln!("vas-shuffled: standard input: {why}");
        }
        line.fill(0);
        // A job that is announced again may have other files, or another user. After the order: what is opened from
        // here on is the new job's, and `Supplier::output` closes what was opened meanwhile.
        if let Some(key) = told {
            outputs.forget_job(key);
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = input.fill_buf()?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (count, is_end) = end.map_or((bytes.len(), bytes.is_empty()), |at| (at + 1, true));
        input.consume(count);
        if is_end {
            return Ok(());
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_line_that_is_too_long_is_no_order_in_any_part() {
        let (jobs, outputs) = (ServedJobs::default(), Outputs::new(&["/nowhere"], Arc::default()));
        let right = |number| format!("add application_17_000{number} alice 1000 00ff\n");
        for length in [LONGEST_LINE - 5, LONGEST_LINE, LONGEST_LINE + 1, LONGEST_LINE + 2, 5 * LONGEST_LINE] {
            let text = format!("{}{}{}{}", right(1), "x".repeat(length), right(2), right(3));
            obey(&mut text.as_bytes(), &jobs, &outputs, || Ok(())).unwrap();
            let is_known = |number| jobs.get(crate::names::JobKey { cluster: 17, number }).is_some();
            let known: Vec<bool> = (1..4).map(is_known).collect();
            assert_eq!(known, [true, false, true], "{length}");
            let input = "remove application_17_0001\nremove application_17_0003\ncount\n";
            let counted = Cell::new(0);
            let count = || {
                counted.set(counted.get() + 1);
                Ok(())
            };
            obey(&mut input.as_bytes(), &jobs, &outputs, count).unwrap();
            assert_eq!(counted.get(), 1);
            assert_eq!(jobs.count(), 0);
        }
    }
}
