"""A metric like TPCx-HS's, of Apache's TeraGen, TeraSort and TeraValidate: not a TPC result."""
