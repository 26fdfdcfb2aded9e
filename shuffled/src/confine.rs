//! Gives up what the daemon never needs, for as long as it runs: a fault in it is then worth less to an attacker.

use seccompiler::{apply_filter_all_threads, BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeMap;
use std::io;

/// System calls that start programs, look into other processes, or change the machine.
const REFUSED: [i64; 21] = [
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
];

/// Refuses these calls to every thread of this process, with EPERM, and gains no rights by any program file. Returns an
/// error where the kernel has no such filters.
pub fn confine() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    apply_filter_all_threads(&filter()?).map_err(io::Error::other)
}

fn filter() -> io::Result<BpfProgram> {
    let refused: BTreeMap<i64, Vec<_>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let here = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32), here)
        .map_err(io::Error::other)?;
    filter.try_into().map_err(|error: seccompiler::BackendError| io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// In a process of its own, as a filter cannot be taken back: this test, started again by its name.
    #[test]
    fn a_confined_process_starts_no_program() {
        const CHILD: &str = "VAS_SHUFFLED_TEST_CONFINED";
        if std::env::var_os(CHILD).is_none() {
            let name = "confine::tests::a_confined_process_starts_no_program";
            let ran = Command::new(std::env::current_exe().unwrap())
                .args([name, "--exact", "--nocapture"])
                .env(CHILD, "1")
                .output()
                .unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            return;
        }
        assert!(Command::new("/bin/true").status().unwrap().success());
        confine().unwrap();
        let refused = Command::new("/bin/true").status().unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
        let (listener, file) = (std::net::TcpListener::bind("127.0.0.1:0"), std::fs::File::open("/proc/self/status"));
        assert!(listener.is_ok() && file.is_ok(), "what it needs is left");
        assert!(std::thread::spawn(|| Command::new("/bin/true").status().is_err()).join().unwrap());
    }
}
