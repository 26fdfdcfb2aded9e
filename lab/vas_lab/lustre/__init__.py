"""The stand-in for Lustre: a metadata server, a library at libc, `lfs` and `lctl`."""
