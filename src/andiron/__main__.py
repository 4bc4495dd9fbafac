"""python -m andiron: the command line."""

from andiron.cli.start import main

main()
