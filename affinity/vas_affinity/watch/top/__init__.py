"""Shows threads live: core, CPU use, migrations, distance from the storage interrupts."""
