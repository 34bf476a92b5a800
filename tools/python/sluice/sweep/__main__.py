"""Starts a sweep: `python3 -m sluice.sweep`, or by its path, as the command `sluice sweep` does."""
import sys
from pathlib import Path

if not __package__: # by its path: the modules of this folder are not top-level ones
    sys.path[0] = str(Path(__file__).resolve().parents[2])

if __name__ == "__main__":
    try:
        from sluice.sweep.command import main
    except ImportError as reason:
        sys.stderr.write(f"error[E0621]: cannot start the sweep: {reason}\n")
        sys.exit(2)
    sys.exit(main())
