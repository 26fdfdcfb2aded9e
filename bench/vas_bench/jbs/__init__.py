"""`vas bench jbs`: map output on the nodes' own disks, copied by vas-shuffled, against stock's."""
