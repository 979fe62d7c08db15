"""Readers of a Trace that teach: the checker of a learner's own attention."""
