"""Hosts for Ansible: real systemd and sshd of Debian 12, in namespaces, some seconds each."""

from vas_tests.hosts.site import PlaybookOutcome, Site, site_of_hosts

__all__ = ["PlaybookOutcome", "Site", "site_of_hosts"]
