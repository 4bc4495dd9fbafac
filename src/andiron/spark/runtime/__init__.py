"""What Spark runs on: a session, a Java, and an archive for the executors.

Read next: session.py.
"""
