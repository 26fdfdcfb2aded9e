"""A QEMU guest of an image next to a lab: its own kernel, TeraSort on its own disk."""
