"""`vas accept`: checks, on a mounted client, what only a real Lustre can show."""
