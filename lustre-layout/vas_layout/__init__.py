"""Reads and sets Lustre stripe layouts: which OST, OSS and VM own a byte range."""
