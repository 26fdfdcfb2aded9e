"""Making a placement true, reading it back, and giving everything the values it had."""
