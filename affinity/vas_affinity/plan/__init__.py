"""`vas affinity plan`: guests of a storage server, or threads of a host."""
