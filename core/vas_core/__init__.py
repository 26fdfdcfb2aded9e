"""The parts that every room of VAS shares: errors, subprocesses, the journal, the command line."""
