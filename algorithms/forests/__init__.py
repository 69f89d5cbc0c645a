"""What BudgetRF and BudgetPrune share: growing and voting, and prunings by minimum cuts."""
