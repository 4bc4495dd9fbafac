"""The kill matrix: SIGKILL of a task, a committer, the driver or the broker at each step of a commit.

    cells.py    who is killed, and at which step
    hook/       a sitecustomize for all of Spark's Python processes: strikes when a step is reached
    jobs.py     what is run: the exactly-once sink, and naive ones that must fail
    driver.py   a program that runs jobs until everybody was killed who is to be, and then to the end
    arena.py    a node, input without end, the driver started again whenever it is dead; then the account

    python -m kills --rounds 5        (with tests/ on PYTHONPATH) plays all cells and prints a table

Read next: arena.py.
"""
