"""Which path a packet between nodes of the site takes: virtio on one host, SR-IOV elsewhere."""
