//! Reads the command line of the daemon.

use crate::peers::MOST_PEERS;
use crate::rdma::RdmaUse;
use crate::tls::TlsFiles;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The text that `--help` prints.
pub const HELP: &str = "\
Usage: vas-shuffled [OPTION]... LOCAL_DIR...

Serves the map output in the NodeManager's local directories to other nodes, and fetches theirs for the
reducers of this one. The NodeManager starts it and tells it its jobs on standard input; when that ends,
the daemon ends too.

  --listen ADDRESS:PORT   address that other nodes connect to (default [::]:13563)
  --memory MIB            most memory that is held for reducers, in MiB, 4 to 1048576 (default 256)
  --witness HOST:PORT     service that answers where this node's network works, such as the ResourceManager;
                          may be repeated (default: none, only other nodes are believed)
  --tls-certificate FILE  PEM of this node's certificate, and of those between it and an authority's;
                          daemons then talk by TLS alone, with certificates at both ends
  --tls-key FILE          PEM of the certificate's private key, which nobody else may read
  --tls-authorities FILE  PEM of the authorities that sign nodes' certificates
  --rdma auto|off|on      whether daemons talk by RDMA, whose bytes are not encrypted: where both ends have it and
                          else by TCP; not at all; or alone (default off)
  --peers NUMBER          most connections to other nodes at once, 4 to 512 (default 512)
  --metrics ADDRESS:PORT  loopback address that answers Prometheus (default: none)
  --version               print the version
  --help                  print this help

Example: vas-shuffled --metrics 127.0.0.1:13564 /data1/yarn/local /data2/yarn/local
";

/// The task that a command line gives: to print help or the version, or to run with options.
#[derive(Debug, PartialEq)]
pub enum Command {
    Help,
    Version,
    Run(Box<Options>),
}

/// The options of a run of the daemon.
#[derive(Debug, PartialEq)]
pub struct Options {
    pub listen: SocketAddr,
    pub memory_bytes: u64,
    pub metrics: Option<SocketAddr>,
    pub witnesses: Vec<String>,
    /// The files for TLS between daemons; None where they talk plain TCP.
    pub tls: Option<TlsFiles>,
    pub rdma: RdmaUse,
    /// Most connections to other nodes at once.
    pub peers: usize,
    pub local_dirs: Vec<PathBuf>,
}

/// Reads the words of a command line after the program's name. The error names the word that is wrong.
pub fn parse(arguments: &[String]) -> Result<Command, String> {
    let mut options = Options {
        listen: SocketAddr::from(([0u16; 8], 13563)),
        memory_bytes: 256 << 20,
        metrics: None,
        witnesses: Vec::new(),
        tls: None,
        rdma: RdmaUse::Off,
        peers: MOST_PEERS,
        local_dirs: Vec::new(),
    };
    let [mut certificate, mut key, mut authorities] = [None, None, None];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} has no value"));
        match word.as_str() {
            "--help" => return Ok(Command::Help),
            "--version" => return Ok(Command::Version),
            "--listen" => options.listen = address(value()?)?,
            "--memory" => options.memory_bytes = mebibytes(value()?)?,
            "--witness" => options.witnesses.push(witness(value()?)?),
            "--tls-certificate" => certificate = Some(path(value()?)?),
            "--tls-key" => key = Some(path(value()?)?),
            "--tls-authorities" => authorities = Some(path(value()?)?),
            "--rdma" => options.rdma = rdma_use(value()?)?,
            "--peers" => options.peers = peers(value()?)?,
            "--metrics" => options.metrics = Some(loopback(value()?)?),
            unknown if unknown.starts_with('-') => return Err(format!("{unknown} is not an option")),
            directory if directory.starts_with('/') => options.local_dirs.push(directory.into()),
            relative => return Err(format!("{relative} is not an absolute path")),
        }
    }
    options.tls = match (certificate, key, authorities) {
        (None, None, None) => None,
        (Some(certificate), Some(key), Some(authorities)) => Some(TlsFiles { certificate, key, authorities }),
        _ => return Err("--tls-certificate, --tls-key and --tls-authorities go together".to_owned()),
    };
    if options.local_dirs.is_empty() {
        return Err("no local directory is named".to_owned());
    }
    Ok(Command::Run(Box::new(options)))
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.starts_with('/') { Ok(text.into()) } else { Err(format!("{text} is not an absolute path")) }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text} is not ADDRESS:PORT"))
}

fn witness(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err(format!("{text} is not HOST:PORT")),
    }
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = address(text)?;
    if address.ip().is_loopback() { Ok(address) } else { Err(format!("{text} is not a loopback address")) }
}

fn rdma_use(text: &str) -> Result<RdmaUse, String> {
    match text {
        "auto" => Ok(RdmaUse::Auto),
        "off" => Ok(RdmaUse::Off),
        "on" => Ok(RdmaUse::On),
        other => Err(format!("{other} is not auto, off or on")),
    }
}

fn peers(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (4..=MOST_PEERS).contains(number));
    number.ok_or_else(|| format!("{text} is not a number from 4 to {MOST_PEERS}"))
}

fn mebibytes(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(number @ 4..=1_048_576) => Ok(number << 20),
        _ => Err(format!("{text} is not a number of MiB from 4 to 1048576")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read() {
        let Ok(Command::Run(options)) = parse(&words("--listen 127.0.0.1:7 --memory 64 --witness rm:8032 /a /b")) else { panic!() };
        assert_eq!((options.listen.port(), options.memory_bytes), (7, 64 << 20));
        assert_eq!(options.witnesses, ["rm:8032"]);
        assert_eq!(options.local_dirs, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!((options.tls, options.rdma, options.peers), (None, RdmaUse::Off, 512));
        let Ok(Command::Run(options)) = parse(&words("--rdma auto --peers 4 /a")) else { panic!() };
        assert_eq!((options.rdma, options.peers), (RdmaUse::Auto, 4));
        let line = "--tls-certificate /c --tls-key /k --tls-authorities /z /a";
        let Ok(Command::Run(options)) = parse(&words(line)) else { panic!() };
        let [certificate, key, authorities] = ["/c", "/k", "/z"].map(PathBuf::from);
        assert_eq!(options.tls, Some(TlsFiles { certificate, key, authorities }));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, named) in [("", "no local directory"), ("a", "a is not"), ("--memory 1 /a", "1 is not"),
            ("--metrics 0.0.0.0:1 /a", "loopback"), ("--listen /a", "/a is not"), ("--x /a", "--x is not"), ("--listen", "no value"),
            ("--rdma yes /a", "yes is not auto, off or on"), ("--peers 3 /a", "3 is not"), ("--peers 513 /a", "513 is not"),
            ("--witness a /b", "a is not HOST:PORT"), ("--tls-key k /a", "k is not an absolute path"),
            ("--tls-key /k --tls-certificate /c /a", "go together")] {
            assert!(parse(&words(line)).unwrap_err().contains(named), "{line}");
        }
    }
}
