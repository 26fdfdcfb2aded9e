"""The guest image: builds it, inspects it, boots it for a check, and packs it as a Vagrant box."""
