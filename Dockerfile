# The image of gnomon: starter, worker, migrate, reconcile and the client are one static
# binary, and beside it there are only the authorities that TLS trusts. There is no shell, and
# no place to write: the store is YDB, or a file in a volume.
FROM golang:1.26.8-bookworm AS build
ARG VERSION=dev
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOTOOLCHAIN=local go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/gnomon ./cmd/gnomon

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/gnomon /usr/bin/gnomon
# The loopback interface of a container is of no use to others. The API has no
# authentication: what may reach these ports is decided where they are published.
ENV GNOMON_GRPC_ADDRESS=0.0.0.0:7700 \
    GNOMON_HTTP_ADDRESS=0.0.0.0:7780 \
    GNOMON_METRICS_ADDRESS=0.0.0.0:9090
EXPOSE 7700 7780 9090
USER 65532:65532
# Of starter and worker alike.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
    CMD ["/usr/bin/gnomon", "health", "--http", "http://127.0.0.1:9090/readyz", "--timeout", "4s"]
ENTRYPOINT ["/usr/bin/gnomon"]
