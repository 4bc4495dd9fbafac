"""What Spark runs on: a session, a Java and its JVM, Python processes, and an archive for the executors.

    session.py            a session ready for the machine, and active on every thread that writes
    java.py, jvm.py       the Java that is found, and the JVM that is started on it
    python_executable.py  what Spark starts as Python: forks (forkserver.py), asked for by python_stand_in.py
    python_worker.py      a Python worker that costs less between two tasks
    class_data.py         Spark's classes, kept from one start to the next
    shipping.py           what executors on other machines need, in one archive
    cache.py              where such things are kept; machine_memory.py how much memory there is

Read next: session.py.
"""
