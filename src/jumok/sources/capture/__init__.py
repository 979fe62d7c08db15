"""Watching a PyTorch program attend: every head, from q, k, v and the rule, without an n × n table."""
