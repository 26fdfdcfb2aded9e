"""The lab's metadata server: makes layouts, as the MDS and LOD of a real Lustre do."""
