"""What is handed to estimators, tables and price lists, before anything else looks at it."""
