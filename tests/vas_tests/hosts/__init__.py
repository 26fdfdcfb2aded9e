"""Hosts for Ansible: real systemd and sshd of Debian 12, in namespaces, some seconds each."""

from vas_tests.hosts.site import Played, Site, site_of_hosts

__all__ = ["Played", "Site", "site_of_hosts"]
