"""The pages, typed as a reader would type them: what they show works, or says why it is not tried.

markdown.py   the blocks of a page: what it shows to be typed, with the remark before it
pages.py      which pages there are, and what each takes for given; a new page is a line there
desk.py       where a page is typed: a folder, a bash, a Python, and servers that end with it
test_*.py     every page is typed; and no block of any page is neither run nor marked
"""
