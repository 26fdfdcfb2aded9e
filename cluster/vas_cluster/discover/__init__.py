"""Drafts a cluster map from what a Lustre client and the storage servers can tell."""
