# The one Makefile. `make` alone lists what there is.
# Needed: Go, git, make. Everything else is built from pinned sources into .bin/.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

BIN := $(CURDIR)/.bin

# The cold build of the embedded Temporal server does not count; the tests of
# one package do.
TEST_TIMEOUT ?= 10m
# How many lives make soak lives, and what it draws them from (0: it chooses).
LIVES ?= 100000
SEED ?= 0
# How many random steps make entities takes.
STEPS ?= 50000
# How many rows make rows writes.
ROWS ?= 200000
# How often make kills kills the worker of a batch.
KILLS ?= 100
# How often make stages-faults changes entities.
CHANGES ?= 10000
# More arguments for go test, such as TEST_FLAGS='-race -run TestRetry'.
TEST_FLAGS ?=
# Tests on real processes and real time run when nothing else does.
ALONE = ^gnomon/(e2e|faults)(/|$$)

TOOLS := \
	github.com/bufbuild/buf/cmd/buf \
	github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-grpc-gateway \
	github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv3 \
	go.temporal.io/sdk/contrib/tools/workflowcheck \
	google.golang.org/grpc/cmd/protoc-gen-go-grpc \
	google.golang.org/protobuf/cmd/protoc-gen-go \
	mvdan.cc/gofumpt
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Named after the Go version: a linter built with an older Go refuses newer code.
TOOLS_STAMP = $(BIN)/.built-with-$(shell go env GOVERSION)

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: dev
dev: ## Run everything in one process, data in .gnomon/
	go run ./cmd/gnomon-dev

.PHONY: test
test: ## Run the tests (TEST_FLAGS and TEST_TIMEOUT are passed on)
	go test -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) $$(go list ./... | grep -Ev '$(ALONE)')
	go test -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) -p 1 $$(go list ./... | grep -E '$(ALONE)')

.PHONY: record
record: ## Record histories of every state for the replay tests
	go test -count 1 -timeout $(TEST_TIMEOUT) ./replay/record -record

.PHONY: faults
faults: ## Break real processes (FAULTS="F1 F2", STORE=ydb, MINUTES=28, FAULTS_FLAGS="-o json")
	go run ./faults --store "$(or $(STORE),sqlite)" --commit "$$(git describe --always --dirty 2>/dev/null)" --faults "$(FAULTS)" --minutes $(or $(MINUTES),28) $(FAULTS_FLAGS)

.PHONY: bench
bench: ## Compare gnomon with a1 and others, under 5 minutes after the build (BENCH_FLAGS="--only herds")
	@mkdir -p bin
	go build -o bin/bench ./bench
	bin/bench --commit "$$(git describe --always --dirty 2>/dev/null)" $(BENCH_FLAGS)

.PHONY: bench-full
bench-full: ## The same with everything, under an hour
	@$(MAKE) bench BENCH_FLAGS="--full $(BENCH_FLAGS)"

.PHONY: mutants
mutants: ## Plant bugs one at a time; fails if the tests miss one (NAMES='key-* pause-*')
	go run ./mutants $(NAMES)

.PHONY: rows
rows: ## Page through ROWS rows on each store and reconcile them (ROWS=200000, a quarter of an hour)
	GNOMON_TEST_ROWS=$(ROWS) go test -count 1 -v -timeout 1h -p 1 -run '^(TestManyRows|TestDryRunOverManyRows)$$' ./store/sqlite ./store/ydb ./reconcile

.PHONY: kills
kills: ## Kill the worker KILLS times in batches of ten changes on BIND (KILLS=100, seven minutes)
	GNOMON_TEST_KILLS=$(KILLS) go test -count 1 -v -timeout 1h -run '^TestWorkerIsKilledAfterEachChange$$' ./e2e/bind

.PHONY: stages-faults
stages-faults: ## Kill and stop all around CHANGES changes of entities (CHANGES=10000, a quarter of an hour)
	GNOMON_TEST_LIMITS=60 GNOMON_TEST_RATE=5 go test -count 1 -v -timeout 30m -run '^TestLimits$$' ./e2e/stages
	GNOMON_TEST_STOPPED=60 go test -count 1 -v -timeout 30m -run '^TestOneStageIsStopped$$' ./e2e/stages
	GNOMON_TEST_CHANGES=$(CHANGES) GNOMON_TEST_SECONDS=200 go test -count 1 -v -timeout 30m -run '^TestKilled$$' ./e2e/stages

.PHONY: stages-ts
stages-ts: ## Build and test the example stage in TypeScript, with npm
	cd examples/stages-ts && npm ci --ignore-scripts && npm test

.PHONY: soak
soak: ## Compare LIVES random lives with the model (LIVES=100000 SEED=any)
	@mkdir -p bin
	go test -c -o bin/soak.test ./model
	cd model && ../bin/soak.test -test.run '^TestSoak$$' -test.timeout 0 -lives $(LIVES) -seed $(SEED)

.PHONY: entities
entities: ## Live random lives of entities on a real store (STEPS=50000 SEED=any)
	@mkdir -p bin
	go test -c -o bin/entities.test ./workflows
	cd workflows && ../bin/entities.test -test.run '^TestEntityLives$$' -test.v -test.timeout 0 -entity-steps $(STEPS) -entity-seed $(SEED)

.PHONY: lint
lint: tools ## Check format, code, import directions, determinism, protos
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | grep -Ev '\.pb(\.gw)?\.go$$' | xargs $(BIN)/gofumpt -l); \
	if [[ -n $$unformatted ]]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi
	@# No linter knows the go statement; the rules and the workflows must not have it.
	@if git grep -nE --untracked '^[[:space:]]*go[[:space:]]+(func\>|[[:alnum:]_.]+\()' -- action batch rule workflows ':!*_test.go'; then \
	echo "go statements are not for rules and workflows"; exit 1; fi
	$(BIN)/golangci-lint run ./...
	$(BIN)/workflowcheck -config workflowcheck.config.yaml ./workflows/... ./reconcile/periodic/...
	cd api && $(BIN)/buf lint && $(BIN)/buf format --diff --exit-code --path gnomon

.PHONY: format
format: tools ## Format the Go code and the protos in place
	git ls-files -co --exclude-standard '*.go' | grep -Ev '\.pb(\.gw)?\.go$$' | xargs $(BIN)/gofumpt -w
	cd api && $(BIN)/buf format --write --path gnomon

.PHONY: generate
generate: tools ## Generate the Go code and the OpenAPI document from the protos
	cd api && PATH="$(BIN):$$PATH" $(BIN)/buf generate

.PHONY: verify
verify: generate ## Fail if generated code or go.mod is not up to date
	@stale=$$(git status --porcelain api); \
	if [[ -n $$stale ]]; then echo "generated code is stale, commit what make generate made:"; echo "$$stale"; exit 1; fi
	go mod tidy -diff

.PHONY: build
build: ## Build bin/gnomon (slim, static) and bin/gnomon-dev
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/ ./cmd/gnomon ./cmd/gnomon-dev

.PHONY: image
image: ## Build the binary of the Dockerfile without Docker and try it
	GNOMON_TEST_IMAGE=1 go test -count 1 -v -timeout $(TEST_TIMEOUT) -run '^TestImageBinary$$' ./deploy/compose

.PHONY: tools
tools: $(TOOLS_STAMP) ## Build the pinned tools into .bin/, if their versions changed

# golangci-lint has a go.mod of its own, as its hundreds of dependencies would
# decide the versions of the generators.
$(TOOLS_STAMP): tools/go.mod tools/go.sum tools/golangci/go.mod tools/golangci/go.sum
	@mkdir -p $(BIN)
	go build -modfile=tools/go.mod -o $(BIN)/ $(TOOLS)
	go build -modfile=tools/golangci/go.mod -o $(BIN)/ $(GOLANGCI_LINT)
	@rm -f $(BIN)/.built-with-*
	@touch $@

.PHONY: clean
clean: ## Remove what was built (not .gnomon/, which holds data)
	rm -rf $(BIN) bin
