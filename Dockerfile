# syntax=docker/dockerfile:1
# The base image is pinned by its digest, because a tag can be moved. This one names linux/amd64 and linux/arm64. To take a newer one:
#   docker buildx imagetools inspect node:24.21.0-bookworm-slim        # shows the digest of today
#   docker build --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:<digest> .
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# What is installed changes seldom, and is kept from build to build.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY build ./build
COPY schema ./schema
# The build parses the catalogue and compiles the schemas, so that a start need not.
COPY networks.yaml routes.yaml methods.yaml plans.yaml gateway.yaml ./
COPY src ./src
COPY dashboard ./dashboard
COPY README.md LICENSE ./
COPY deploy ./deploy
COPY docs ./docs
COPY examples ./examples
RUN npm run build && npm pack --ignore-scripts

FROM ${NODE_IMAGE}
WORKDIR /app
# The listeners for clients, and for probes and scrapes, are open to the container's network, the admin listener is not.
ENV NODE_ENV=production TOLLGATE_DATA=/var/lib/tollgate TOLLGATE_LISTEN=0.0.0.0:8080 TOLLGATE_PROBES=0.0.0.0:9465
COPY --from=build /app/tollgate-0.1.0.tgz ./tollgate-0.1.0.tgz
RUN npm install --global ./tollgate-0.1.0.tgz && rm ./tollgate-0.1.0.tgz
COPY networks.yaml routes.yaml methods.yaml plans.yaml gateway.yaml /etc/tollgate/
# The one place that is written: the root file system can be read-only.
RUN install -d -m 0700 -o node -g node /var/lib/tollgate
USER node
VOLUME /var/lib/tollgate
EXPOSE 8080 9465
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9465/livez').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["tollgate", "serve", "--config", "/etc/tollgate"]
