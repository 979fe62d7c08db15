"""Texts to measure on: plain and annotated files, and words laid over a tokenizer's pieces."""
