"""Ways to a Trace: arrays of your own, example files; later a wanted table, training, any PyTorch program."""
