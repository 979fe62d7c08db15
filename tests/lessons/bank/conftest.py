"""Learners' files are run by the checker, not collected as tests."""

collect_ignore_glob = ["*_code/*"]
