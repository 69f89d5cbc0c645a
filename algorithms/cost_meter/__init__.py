"""The cost meter at work: what the rows of a model acquire, evaluate and pay."""
