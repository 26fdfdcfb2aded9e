"""A site on one machine: network namespaces as hosts, real YARN daemons, a stand-in for Lustre."""
