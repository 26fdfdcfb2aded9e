"""AppCDS: the classes that every task loads, mapped from one archive instead of parsed."""
