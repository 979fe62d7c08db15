"""Says which mistake is in a learner's attention: by what it gives, not by how it is written."""
