"""The commands of `vas guest`, a file each."""
