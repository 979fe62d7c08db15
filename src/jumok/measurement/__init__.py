"""Numbers about attention: what was measured, of how many, and against which theory."""
