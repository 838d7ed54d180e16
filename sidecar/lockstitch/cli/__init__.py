"""The `lockstitch` command: a thin layer over the operations that the wire serves.

Invariant: a verb calls operations by method name, as a client would, and never looks behind them.
Invariant: this is the only package that prints.
"""
