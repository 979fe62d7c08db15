"""What every head does, role by role: cases of a text, sums of a Trace over them, and a table with intervals."""
