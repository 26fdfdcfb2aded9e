"""A live view of threads: core, CPU use, migrations, distance from the storage interrupts."""
