"""One site on one machine with real virtual functions: QEMU's igb, and a guest that has one."""
