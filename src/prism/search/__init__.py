"""What every kind of motion shares: descent, pursuit, noise, false-alarm thresholds."""
