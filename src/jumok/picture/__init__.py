"""Pictures of a Trace: the terminal, and tables as Markdown and CSV."""
