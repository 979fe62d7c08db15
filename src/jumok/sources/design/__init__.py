"""A wanted attention table → W_Q and W_K: the convex problem, its best answer, and the reasons why no better."""
