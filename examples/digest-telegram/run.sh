#!/bin/sh
# Today's digest, from simulated news to a simulated channel. Leaves nothing behind.
set -eu
cd "$(dirname "$0")"
home=$(mktemp -d)
news= telegram=
trap 'kill "$news" "$telegram" 2>/dev/null; rm -rf "$home"' EXIT
news_listen=${NEWS_LISTEN:-127.0.0.1:8093} telegram_listen=${TELEGRAM_LISTEN:-127.0.0.1:8095}
export TELEGRAM_BOT_TOKEN=4242:AAsimulated_0123456789abcdefghijkl
almanack world news --listen "$news_listen" --quiet >"$home/news.log" 2>&1 &
news=$!
almanack world telegram --listen "$telegram_listen" --token "$TELEGRAM_BOT_TOKEN" >"$home/telegram.log" 2>&1 &
telegram=$!
until curl -sf "http://$telegram_listen/_world/faults" >/dev/null; do kill -0 "$telegram"; sleep 0.1; done
until curl -s "http://$news_listen/" >/dev/null; do kill -0 "$news"; sleep 0.1; done

cp almanack.toml "$home"
cd "$home"
almanack edition run \
  --set "edition.source.firebase_url=http://$news_listen" --set "edition.source.algolia_url=http://$news_listen" \
  --set sources.allow=127.0.0.0/8 --set "edition.telegram.api_url=http://$telegram_listen"
curl -sf "http://$telegram_listen/_world/messages/@almanack"
