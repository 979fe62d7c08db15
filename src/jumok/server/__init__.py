"""The page with a live Python behind it: ``jumok serve``, for one person or a class.

One asynchronous process answers and does no heavy work; worker processes design, capture, train and measure.
``app`` has the routes, ``safety`` who may ask, ``jobs`` what is done for whom, ``lanes`` by which process, ``work`` how.
"""
