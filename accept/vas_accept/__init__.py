"""`vas accept`: what only a real Lustre can answer, asked on a mounted client."""
