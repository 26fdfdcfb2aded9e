"""The commands of `vas layout`, one per file; `options.py` holds what they share."""
