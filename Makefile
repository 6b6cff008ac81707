# make demo and make test do all their own set-up; nothing else needs to be typed.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# What bundle, accuracy and benchmark learn from: a data set, or the folder with the public data to make one of.
PUBLIC_DATA ?= $(or $(PROFET_TEST_DATA),../shared/data)/profet
DATASET ?= build/profet.dataset
METRICS ?= build/metrics.dataset
# What own-data measures, on which core.
OWN_DATA := data/cpu.dataset
CORE ?= 1
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.DELETE_ON_ERROR:
.PHONY: demo test check docs wheel bundle catalogue accuracy own-data decisions benchmark clean

demo: $(VENV)/plain  ## predict from the shipped profile, and advise on a whole run; picture and page in demo/
	@mkdir -p demo
	$(BIN)/profet example -o demo/profile.json --force
	$(BIN)/profet predict demo/profile.json --plot demo/prediction.png --force
	$(BIN)/profet advise demo/profile.json --samples 1.28M --epochs 90 --report demo/advice.html --force

test: $(VENV)/dev  ## every test
	$(BIN)/pytest -n auto --dist loadfile --cov

check: $(VENV)/dev  ## style, types and who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/dev  ## the documentation, in docs/_build/html
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html

wheel: $(VENV)/dev  ## the wheel, in dist/
	rm -rf dist build
	$(BIN)/python -m build --wheel --outdir dist

bundle: $(VENV)/dev $(DATASET) $(METRICS)  ## rebuild the shipped bundle and example
	$(BIN)/python scripts/ship.py $(DATASET) $(METRICS)

accuracy: $(VENV)/dev $(DATASET) $(METRICS)  ## our method beside the published one, on the same folds, into docs/accuracy.md
	$(BIN)/python -m benchmarks.accuracy $(DATASET) --checkpoint build/accuracy --write docs/accuracy.md
	$(BIN)/python -m benchmarks.what_if $(DATASET) --checkpoint build/accuracy --write docs/accuracy.md
	$(BIN)/python -m benchmarks.onboarding $(DATASET) --write docs/accuracy.md
	$(BIN)/python -m benchmarks.data_sheets $(DATASET) --checkpoint build/accuracy --write docs/accuracy.md
	$(BIN)/python -m benchmarks.hardware_metrics $(DATASET) $(METRICS) --write docs/accuracy.md
	@test ! -e $(OWN_DATA) || $(BIN)/python -m benchmarks.own_data $(OWN_DATA) --checkpoint build/accuracy --write docs/accuracy.md
	@test -e $(OWN_DATA) || echo "no $(OWN_DATA): make own-data measures it"

own-data: $(VENV)/dev  ## three CPUs of one core, about 90 minutes on a quiet machine; stopped, it goes on where it was
	$(BIN)/profet sweep --workloads data/cpu.csv --repeats 3 --core $(CORE) --warm-up 3 --timed 8 --profiled 3 \
		--max-waited 0.05 --max-company 0.15 --tries 5 \
		--instance cpu-avx2:device=cpu,ATEN_CPU_CAPABILITY=avx2,ONEDNN_MAX_CPU_ISA=AVX2 \
		--instance cpu-avx:device=cpu,ATEN_CPU_CAPABILITY=default,ONEDNN_MAX_CPU_ISA=AVX \
		--instance cpu-sse41:device=cpu,ATEN_CPU_CAPABILITY=default,ONEDNN_MAX_CPU_ISA=SSE41,MKL_CBWR=COMPATIBLE \
		-o $(OWN_DATA) --force

decisions: $(VENV)/dev $(DATASET)  ## how good the advice is, into docs/decisions.md
	$(BIN)/python -m benchmarks.decisions $(DATASET) --checkpoint build/accuracy --write docs/decisions.md --plot docs/images/reliability.png

benchmark: $(VENV)/dev $(DATASET)  ## speed and memory
	$(BIN)/python -m benchmarks.foundation $(DATASET)
	$(BIN)/python -m benchmarks.predictors $(DATASET)
	$(BIN)/python -m benchmarks.readers
	$(BIN)/python -m benchmarks.advice
	$(BIN)/python -m benchmarks.web $(DATASET)
	$(BIN)/python -m benchmarks.store
	$(BIN)/python -m benchmarks.reports $(DATASET) --checkpoint build/accuracy
	$(BIN)/python -m benchmarks.partition_plans $(dir $(PUBLIC_DATA))partition-tables
	$(BIN)/python -m benchmarks.partition_runs
	$(BIN)/python -m benchmarks.partition_serving
	$(BIN)/python -m benchmarks.training_batches
	$(BIN)/python -m benchmarks.capture

build/profet.dataset: $(VENV)/dev
	@test -d $(PUBLIC_DATA) || { echo "no data in $(PUBLIC_DATA): run profet dataset fetch profet -o DIR, then say PUBLIC_DATA=DIR"; exit 2; }
	@mkdir -p build
	$(BIN)/profet dataset import profet $(PUBLIC_DATA) -o $@ --force

build/metrics.dataset: $(VENV)/dev
	@test -d $(dir $(PUBLIC_DATA))hardware-metrics || { echo "no hardware-metrics folder beside $(PUBLIC_DATA)"; exit 2; }
	@mkdir -p build
	$(BIN)/profet dataset import hardware-metrics $(dir $(PUBLIC_DATA))hardware-metrics -o $@ --force

clean:
	rm -rf $(VENV) demo build dist docs/_build src/*.egg-info

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Profet needs Python 3.11 or newer; install it, or say make PYTHON=/path/to/it"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt pip

$(VENV)/plain: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[train,history,postgresql,web,partition,openvino,torch,tvm,ray,capture,zoo]' --group dev
	@touch $@ $(VENV)/plain
