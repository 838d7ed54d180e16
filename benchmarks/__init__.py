"""What the sidecar costs, as ratios: each row measured beside its floor in one run, on this machine.

Invariant: nothing here is a test of what is right; a row that cannot be measured says so and hides no other.
Invariant: every process that is started here is ended here, and nothing is left behind on the disk.
"""
