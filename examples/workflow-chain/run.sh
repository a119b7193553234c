#!/bin/sh
# Two chains against a simulated GitHub. Leaves nothing behind.
set -eu
cd "$(dirname "$0")"
home=$(mktemp -d)
github=
trap 'kill "$github" 2>/dev/null; rm -rf "$home"' EXIT
listen=${GITHUB_LISTEN:-127.0.0.1:8091}
almanack world github --listen "$listen" --setup github.json >"$home/github.log" 2>&1 &
github=$!
until curl -sf "http://$listen/_world/faults" >/dev/null; do kill -0 "$github"; sleep 0.1; done

# What GitHub Actions gives a step, and the two tokens that the workflows pass on.
export GITHUB_API_URL="http://$listen" GITHUB_REPOSITORY=acme/clock GITHUB_REF_NAME=main
export GH_TOKEN=s-chain PAT=s-pat
GITHUB_SHA=$(curl -sf "http://$listen/_world/repos/acme/clock/refs" | sed 's/.*"refs\/heads\/main": *"\([0-9a-f]*\)".*/\1/')
export GITHUB_SHA
chain() {
  run=$(curl -sf "http://$listen/_world/repos/acme/clock/runs" -H 'Content-Type: application/json' \
    -d "{\"workflow\": \"tick-$1.yml\"}" | sed 's/.*"id": *\([0-9]*\).*/\1/')
  GITHUB_RUN_ID=$run almanack chain --self "tick-$1" --dispatch DISPATCH --round 200ms --for "${FOR:-5s}" >"$home/$1.log" 2>&1
}
chain a & a=$!
chain b & b=$!
wait "$a"; wait "$b"

for name in a b; do
  echo "chain $name: fired $(grep -c ' fired ' "$home/$name.log" || true), left $(grep -c ' left ' "$home/$name.log" || true) to the other"
done
curl -sf "http://$listen/_world/dispatches" >"$home/dispatches"
locks=$(curl -sf "http://$listen/_world/repos/acme/clock/refs" | grep -o 'refs/tags/lock/[^"]*' | wc -l)
started=$(grep -o 'poll.yml' "$home/dispatches" | wc -l)
echo "GitHub started poll.yml for $started slots, under $locks locks"
