"""The kill matrix: SIGKILL of a task, a committer, the driver or the broker at each step of a commit.

    cells.py    who is killed, and at which step
    hook/       a sitecustomize for all of Spark's Python processes: strikes when a step is reached
    jobs.py     what is run: the exactly-once sink, and naive ones that must fail
    driver.py   a program that runs jobs until everybody was killed who is to be, and then to the end
    bare.py     the same without Spark, for hundreds of deaths of a driver
    arena.py    a node, input without end, the driver started again whenever it is dead; then the account

    python -m kills --rounds 5        (with tests/ on PYTHONPATH) plays all cells and prints a table
    python -m kills --rounds 50 --on kafka --bare --job hasty       the deaths of drivers, against Apache Kafka

Read next: arena.py.
"""
