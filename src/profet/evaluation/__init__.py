"""How wrong predictors are on what they have not seen, and training with that measured."""
