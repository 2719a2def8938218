# Asks the same question COUNT times, PARALLEL at a time, in an order that ORDER gives to sort, and prints all answers,
# sorted. With NAMED, each request names its call, and the answers are printed by call.
cd "$(mktemp -d)" || exit 9
body='{"model":"m","temperature":1,"messages":[{"role":"user","content":"draw a number"}]}'
seq "${COUNT:-30}" | sort ${ORDER:--n} | xargs -P "${PARALLEL:-8}" -I N \
  curl -sS --max-time 30 -o answer.N -H 'content-type: application/json' ${NAMED:+-H "x-retold-call: caller/N"} -d "$body" \
  "$OPENAI_BASE_URL/chat/completions"
if [ -n "${NAMED-}" ]; then
  for n in $(seq "${COUNT:-30}"); do printf '%s: ' "$n"; cat "answer.$n"; echo; done
else
  for n in $(seq "${COUNT:-30}"); do cat "answer.$n"; echo; done | sort
fi
exit "${EXIT:-0}"
