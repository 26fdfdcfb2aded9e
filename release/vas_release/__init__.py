"""The files of a release: built from one commit, listed with their sums and their contents."""
