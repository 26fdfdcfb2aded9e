"""Holds the checks of `vas accept`, a file for each part of Lustre that VAS relies on."""
