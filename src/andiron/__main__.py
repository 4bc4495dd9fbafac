"""python -m andiron: the command line."""

from andiron.cli.main import main

main()
