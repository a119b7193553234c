#!/bin/sh
# Imports the crontab, fires its backup once and prints what it printed. Leaves nothing behind.
set -eu
cd "$(dirname "$0")"
home=$(mktemp -d)
trap 'kill "$node" 2>/dev/null; wait "$node" 2>/dev/null; rm -rf "$home"' EXIT
node=
cp backup.sh "$home"

# 1. Import. What differs from cron is printed to standard error.
almanack import crontab crontab --tz Europe/Berlin >"$home/schedules.toml"
cat commands.toml "$home/schedules.toml" >"$home/almanack.toml"
cd "$home"
almanack check >/dev/null

# 2. A node keeps the schedules.
almanack serve --listen "${LISTEN:-127.0.0.1:8080}" 2>node.log &
node=$!
export ALMANACK_SERVER="http://${LISTEN:-127.0.0.1:8080}"
until almanack schedule list 2>/dev/null; do kill -0 "$node"; sleep 0.1; done

# 3. The backup, now.
backup=$(sed -n 's/^name = "\(.*\)"/\1/p' schedules.toml | head -n 1)
almanack schedule fire "$backup"
until almanack schedule log "$backup" 2>/dev/null | grep copied; do kill -0 "$node"; sleep 0.1; done
