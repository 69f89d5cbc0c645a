"""What asv follows over time. Nothing else is here: asv imports all that it finds.

What a process that measures has imported counts in its peak of memory, and an earlier commit may
lack it.
"""
