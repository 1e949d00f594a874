#!/bin/sh
# Fetches the console's libraries with npm as pinned in package-lock.json, and bundles them anew.
# Needed only to change a version: what it writes is kept in the repository.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && pwd)/src/windrow/apps/console/static/vendor
workshop=$(mktemp -d)
trap 'rm -rf "$workshop"' EXIT
cp "$here"/*.js "$here"/*.mjs "$here"/*.json "$workshop"
cd "$workshop"
npm ci --silent --no-audit --no-fund
node vendor.mjs "$target"
