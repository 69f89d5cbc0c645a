"""What is handed to estimators, before anything else looks at it."""
