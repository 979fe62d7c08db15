"""Sentences about a Trace: facts without language, with numbers; phrases in Korean and English."""
