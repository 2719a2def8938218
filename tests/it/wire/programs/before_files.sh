ask() { curl -sS --max-time 20 -H 'content-type: application/json' "$@" | tr -d "\n"; echo; }
hello='"messages":[{"role":"user","content":"hello"}]'
ask "$COHERE_BASE_URL/v2/chat" -d "{\"model\":\"m\",$hello}"
ask "$COHERE_BASE_URL/v2/chat" -d "{\"model\":\"m\",$hello}"
ask "$COHERE_BASE_URL/v2/chat" -d "{\"model\":\"m\",$hello}" -H 'x-retold-call: greeting/1'
ask "$COHERE_BASE_URL/v2/chat" -d "{\"model\":\"m\",\"stream\":true,$hello}"
ask "$COHERE_BASE_URL/v2/embed" -d '{"model":"m","texts":["a","b"]}'
ask "$COHERE_BASE_URL/v2/rerank" -d '{"model":"m","query":"q","documents":["a","b"]}'
for kind in converse converse-stream; do
  ask "$BEDROCK_BASE_URL/model/m%3A0/$kind" -d '{"messages":[{"role":"user","content":[{"text":"hello"}]}]}'
done
for kind in invoke invoke-with-response-stream; do
  ask "$BEDROCK_BASE_URL/model/m%3A0/$kind" -d "{\"max_tokens\":9,$hello}"
done
ask "$GOOGLE_VERTEX_BASE_URL/projects/p/locations/l/publishers/anthropic/models/m:rawPredict" -d "{$hello}"
ask "$GOOGLE_VERTEX_BASE_URL/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict" -d "{\"stream\":true,$hello}"
ask "$MISTRAL_BASE_URL/fim/completions" -d '{"model":"m","prompt":"def f(","suffix":"return 1"}'
ask "$OPENAI_BASE_URL/completions" -d '{"model":"m","prompt":"One, two"}'
ask "$OPENAI_BASE_URL/completions" -d '{"model":"m","prompt":"One, two","stream":true}'
ask "$OPENAI_BASE_URL/images/generations" -d '{"model":"m","prompt":"a hat"}'
ask "$OPENAI_BASE_URL/audio/speech" -d '{"model":"m","input":"hello","voice":"v"}'
