"""python3 -m drywarp: the command in a clone, without installing it."""

import sys

from drywarp import cli

sys.argv[0] = "drywarp"  # messages begin with this name
cli.main()
