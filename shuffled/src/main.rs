//! Runs `vas-shuffled`, the daemon that serves and fetches map output. docs/jbs.md has its purpose, docs/adr/0019 its
//! protocol.
#![forbid(unsafe_code)]

mod auth;
mod budget;
mod confine;
mod connection;
mod daemon;
mod door;
mod fair;
mod frame;
mod groups;
mod index;
mod jobs;
mod link;
mod local;
mod locked;
mod look;
mod merge;
mod metrics;
mod names;
mod options;
mod own_link;
mod outputs;
mod pace;
mod peer_link;
mod peers;
mod random;
mod rdma;
mod reach;
mod served;
mod shares;
mod sockets;
mod supplier;
mod tls;
mod transport;
mod version;
mod wire;

#[cfg(test)]
mod abuse_tests;
#[cfg(test)]
mod bound_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod own_link_tests;
#[cfg(test)]
mod testing {
    pub mod faulty;
    pub mod ifile;
    pub mod merger;
    pub mod node;
    pub mod process;
    pub mod site;
}
#[cfg(test)]
mod system_tests;
#[cfg(test)]
mod tls_tests;
#[cfg(test)]
mod wire_fault_tests;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match options::parse(&arguments) {
        Ok(options::Command::Help) => {
            print!("{}", options::HELP);
            ExitCode::SUCCESS
        }
        Ok(options::Command::Version) => {
            println!("vas-shuffled {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Ok(options::Command::Run(options)) => match daemon::run(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("vas-shuffled: {error}");
                ExitCode::from(1)
            }
        },
        Err(error) => {
            eprintln!("vas-shuffled: {error}; see vas-shuffled --help");
            ExitCode::from(2)
        }
    }
}
