//! Runs the daemon as a process of its own, for tests: this test program, started again.

use crate::daemon;
use crate::options::{parse, Command as Parsed};
use crate::testing::node::SECRET;
use crate::testing::site::{own_uid, Reducer, Site, JOB, USER};
use rustix::process::{Resource, Rlimit};
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

/// The variable that has the daemon's command line in the process that is one.
const ARGUMENTS: &str = "VAS_SHUFFLED_TEST_ARGUMENTS";

/// A process that runs the daemon for the tests' job, and may write no byte to any file.
pub struct DaemonProcess {
    pub site: Site,
    pub port: u16,
    child: Child,
    _out: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
}

/// Is the daemon in the process that is started as one, and nothing in the others.
#[test]
fn the_daemon_as_a_process() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    // A write beyond this limit ends the process with SIGXFSZ; pipes and sockets have none.
    rustix::process::setrlimit(Resource::Fsize, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
    let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    let Ok(Parsed::Run(options)) = parse(&words) else { panic!("{arguments}") };
    daemon::run(&options).unwrap();
}

impl DaemonProcess {
    /// Starts the daemon with these options, and waits until its sockets are open.
    pub fn start(options: &str) -> DaemonProcess {
        let site = Site::new();
        let directories = site.local_dirs().map(|each| each.to_str().unwrap().to_owned()).join(" ");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["testing::process::the_daemon_as_a_process", "--exact", "--nocapture"])
            .env(ARGUMENTS, format!("--listen 127.0.0.1:0 {options} {directories}").replace("  ", " "))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let errors = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = out.by_ref().find_map(|line| {
            let (_, port) = line.unwrap().split_once("listening on port ").map(|(a, b)| (a.to_owned(), b.to_owned()))?;
            port.trim().parse().ok()
        });
        let secret: String = SECRET.iter().map(|byte| format!("{byte:02x}")).collect();
        let uid = own_uid();
        writeln!(child.stdin.as_mut().unwrap(), "add {JOB} {USER} {uid} {secret}").unwrap();
        DaemonProcess { site, port: port.expect("the daemon did not start"), child, _out: out, errors }
    }

    /// Connects a reducer, once the daemon knows the job.
    pub fn reducer(&self) -> Reducer {
        loop {
            let socket = self.site.local_dirs()[0].join("vas-shuffled/socket");
            match Reducer::connect(UnixStream::connect(socket).unwrap(), SECRET) {
                Ok(reducer) => return reducer,
                Err(refused) => assert!(refused.text.contains("not known"), "{}", refused.text),
            }
        }
    }

    /// Returns the next line of the log with these words.
    pub fn line(&mut self, words: &str) -> String {
        self.errors.by_ref().map(Result::unwrap).find(|line| line.contains(words)).expect("the daemon ended")
    }

    /// Ends the daemon as its NodeManager does, and returns whether it ended well.
    pub fn end(mut self) -> bool {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
