"""Chooses the path of packets between nodes of the site: virtio on one host, SR-IOV elsewhere."""
