"""Measuring over a corpus: a fixed plan, shards that merge to the same bits, one machine or many."""
