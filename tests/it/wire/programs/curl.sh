# Asks what a model may be asked with curl alone, and prints all that it gets, with bytes that are no text spelled out.
got=$(mktemp)
ask() { # ask PATH ARGUMENTS..
  path=$1
  shift
  curl -sS --max-time 20 -w '\n%{http_code} %{content_type}\n' -H "authorization: Bearer ${OPENAI_API_KEY-none}" \
    "$OPENAI_BASE_URL$path" "$@" > "$got" 2>&1
  code=$?
  cat -v "$got"
  echo "exit $code"
}
chat() { ask /chat/completions -H 'content-type: application/json' -d "$1"; }

for n in 1 2 3 4 5 6; do
  chat '{"model":"m","messages":[{"role":"user","content":"hello"}]}'
  chat '{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true}'
done
chat '{"model":"m","messages":[{"role":"user","content":"break off"}],"stream":true}'
chat '{"model":"m","messages":[{"role":"user","content":"tool"}],"tools":[{"type":"function"}]}'
ask /models
ask /unheard/of?limit=5 -X DELETE
ask /files -F purpose=test -F 'file=@-;filename=a.bin' < "$0"
ask /bytes --data-binary "$(printf 'not JSON \342\202\254')"
rm "$got"
exit 7
