"""`sluice sweep`: compiles models for targets with options, and collects the figures of each combination."""
