"""A QEMU guest of an image beside a lab: its own kernel, TeraSort on its own disk."""
