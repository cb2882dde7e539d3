# The service as an image: docker build --tag property-events .
# How to run it, and what was tried of this: docs/operating/containers.md
FROM node:26.10.0-trixie-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY packages/cli/package.json packages/cli/
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
COPY packages/demo/package.json packages/demo/
COPY packages/protocol/package.json packages/protocol/
COPY packages/server/package.json packages/server/
COPY packages/tables/package.json packages/tables/
# What serves, in the versions of package-lock.json; the Node of the image takes the place of the one that comes with the packages.
# Of better-sqlite3 only what is loaded is kept, not the sources it was made from.
RUN npm ci --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund \
  && rm -r node_modules/@property-events node_modules/better-sqlite3/deps node_modules/better-sqlite3/src \
  && mv node_modules /served
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY LICENSE README.md PROTOCOL.md SECURITY.md CHANGELOG.md tsconfig.json ./
COPY docs docs
COPY scripts scripts
COPY packages packages
RUN node packages/cli/build.ts /program && cp -R /served/. /program/node_modules/

FROM node:26.10.0-trixie-slim
COPY --from=build /program /opt/property-events
RUN ln -s /opt/property-events/bin/property-events.mjs /usr/local/bin/property-events \
  && install -d -o node -g node -m 0700 /var/lib/property-events
ENV PROPERTY_EVENTS_DATA=/var/lib/property-events \
    PROPERTY_EVENTS_HOST=0.0.0.0
# Number and not name, so that Kubernetes sees that it is not root.
USER 1000:1000
WORKDIR /var/lib/property-events
VOLUME /var/lib/property-events
EXPOSE 8080
# /livez and not /readyz: while a database is away, a restart helps nobody.
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PROPERTY_EVENTS_METRICS_PORT || 9464}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/property-events/bin/property-events.mjs"]
CMD ["serve"]
