"""Running cells: the plan, the workers, the store of finished cells, where results come from."""
