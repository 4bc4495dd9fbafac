"""Those who use a simulated cluster, and remember what they were promised.

client.py      connections, questions and answers, and a script to follow; signposts.py: whom to ask for what
producer.py    sends batches, plain or idempotent, until each is acknowledged
consumer.py    reads on and on, with fetch sessions or without; fetch_session.py: one of them
admin.py       makes, changes and deletes topics
inquirer.py    asks for offsets by time and by epoch

and of coordinators:

patient.py     one who insists, is haunted by its own requests, and drops dead
transactor.py  writes in transactions, classic, of version 2, and in two phases
member.py      owns partitions of a group and commits offsets; classic_member.py, consumer_member.py: by which protocol
"""
