# syntax=docker/dockerfile:1
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.build.json .taprc ./
COPY build ./build
COPY schema ./schema
COPY src ./src
COPY dashboard ./dashboard
RUN npm ci && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:20-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY schema ./schema
COPY networks.yaml routes.yaml methods.yaml plans.yaml gateway.yaml /etc/tollgate/
# What `extends: catalogue` begins with.
COPY methods.yaml ./
# dataDir of the shipped gateway.yaml is ./data beside the YAML; keep it on a volume.
RUN mkdir -p /etc/tollgate/data && chown node:node /etc/tollgate/data
USER node
VOLUME /etc/tollgate/data
EXPOSE 8080
# The admin listener is on the loopback of the container.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/livez').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "dist/main.js", "serve", "--config", "/etc/tollgate"]
