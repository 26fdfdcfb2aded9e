"""A sort by Spark, in a lab, with Spark's own shuffle and with VAS's."""
