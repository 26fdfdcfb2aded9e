"""`vas bench shuffle`: VAS's shuffle against stock MapReduce's and Tez's."""
