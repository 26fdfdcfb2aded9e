"""Plans: their data and files, the commands that make and explain them, and their other forms."""
