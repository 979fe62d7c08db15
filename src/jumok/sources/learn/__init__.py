"""Training W_Q, W_K and W_V on small tasks, with everything that happens on the way kept as a ``History``."""
