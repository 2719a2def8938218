CREATE VIEW log AS
SELECT lower(hex(r.id)) AS run, e.id & 4294967295 AS seq, k.name AS kind,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + e.time) / 1000.0, 'unixepoch') AS time,
  e.call, e.sample, lower(hex(q.hash)) AS prompt_hash, e.cause, c.body AS content,
  coalesce(e.body, '{}') AS body, lower(hex(e.hash)) AS hash, e.id, e.request
FROM events e JOIN run_ids r ON r.no = e.id >> 32 JOIN kinds k ON k.id = e.kind
  LEFT JOIN requests q ON q.id = e.request LEFT JOIN contents c ON c.id = e.content;

CREATE VIEW runs AS
SELECT s.run, json_extract(s.content, '$.name') AS name, x AS experiment, s.content AS settings,
  json_extract(s.body, '$.model') AS model,
  coalesce(json_extract(s.body, '$.model.simulated'), 0) AS simulated,
  CASE WHEN x NOT IN ('program', 'exchanges', 'decisions') THEN json_extract(s.body, '$.seed') END AS seed,
  json_extract(s.body, '$.forked_from.run') AS forked_from, s.time AS started,
  CASE l.kind WHEN 'RunFinished' THEN l.time END AS finished, json_extract(l.ended, '$.outcome') AS outcome,
  json_extract(l.ended, '$.outcome_digest') AS outcome_digest, l.seq AS events, l.hash AS head
FROM run_ids r JOIN (SELECT *, json_extract(body, '$.experiment') AS x FROM log) s ON s.id = (r.no << 32) + 1
  JOIN (SELECT *, CASE kind WHEN 'RunFinished' THEN body END AS ended FROM log) l
    ON l.id = (SELECT max(id) FROM events WHERE id < (r.no + 1) << 32);

CREATE VIEW exchanges AS
SELECT q.run, q.seq, q.time, q.call, q.sample, json_extract(q.body, '$.labels') AS labels, q.prompt_hash AS prompt,
  CASE WHEN p.dialect IS NOT NULL THEN substr(p.dialect, 1, instr(p.dialect || '@', '@') - 1)
    WHEN json_extract(p.skeleton, '$.api') = 'embedding' THEN 'openai.embeddings' ELSE 'openai.chat' END AS operation,
  json_extract(p.skeleton, '$.body.model') AS request_model, json_extract(a.j, '$.model') AS response_model,
  CASE WHEN a.id THEN 'answered' WHEN f.id THEN 'failed' ELSE 'unanswered' END AS status,
  CASE WHEN coalesce(a.id, f.id) THEN o.attempts ELSE 1 END AS attempts,
  CASE WHEN a.id THEN nullif(json_extract(a.j, '$.extra.http.status'), 200)
    ELSE json_extract(f.body, '$.status') END AS http_status,
  json_extract(f.body, '$.error') AS error, nullif(json_extract(a.j, '$.latency_ms'), 0) AS latency_ms,
  json_extract(a.j, '$.extra.http.chunks[0][1]') AS first_chunk_ms,
  json_extract(a.j, '$.finish_reason') AS finish_reason,
  json_extract(a.j, '$.prompt_tokens') AS prompt_tokens,
  json_extract(a.j, '$.completion_tokens') AS completion_tokens,
  json_extract(a.j, '$.cached_tokens') AS cached_tokens,
  json_extract(a.j, '$.reasoning_tokens') AS reasoning_tokens,
  json_extract(a.j, '$.cost') AS cost, json_extract(a.j, '$.id') AS response_id,
  json_extract(a.body, '$.run') || '/' || json_extract(a.body, '$.seq') AS reused_from,
  CASE typeof(c.body) WHEN 'blob' THEN '' ELSE c.body END AS answer,
  coalesce(json_extract(a.j, '$.extra.reasoning_content'), json_extract(a.j, '$.extra.reasoning'),
    json_extract(a.j, '$.extra.thinking')) AS reasoning,
  json_extract(a.j, '$.extra.tool_calls') AS tool_calls,
  json_extract(a.j, '$.extra.other_choices') AS other_choices, json_extract(a.j, '$.extra') AS extra,
  a.id & 4294967295 AS answer_seq, lower(nullif(hex(a.hash), '')) AS event_hash,
  CASE WHEN p.own > 0 THEN p.id ELSE p.base END || '/' || (coalesce(p.shared, 0) + coalesce(p.own, 0) - 1) AS last_message
FROM (
    SELECT CASE kind WHEN 'RequestSent' THEN id ELSE id - seq + cause END AS question,
      max(CASE WHEN kind IN ('ResponseReceived', 'AnswerReused') THEN id END) AS answer,
      max(CASE kind WHEN 'AttemptFailed' THEN id END) AS failure,
      sum(CASE kind WHEN 'ResponseReceived' THEN 1
        WHEN 'AttemptFailed' THEN json_type(body, '$.from') IS NULL ELSE 0 END) AS attempts
    FROM log GROUP BY 1) o
  CROSS JOIN log q ON q.id = o.question
  JOIN (SELECT *, json_extract(skeleton, '$.body.http.dialect') AS dialect,
    json_array_length(skeleton, '$.body.messages') AS own FROM requests) p ON p.id = q.request
  LEFT JOIN (SELECT *, coalesce(json_extract(body, '$.answer'), body) AS j FROM events) a ON a.id = o.answer
  LEFT JOIN contents c ON c.id = a.content LEFT JOIN events f ON f.id = o.failure;

CREATE VIEW messages AS
WITH RECURSIVE asked (run, request, upto) AS (
  SELECT DISTINCT id >> 32, request, 4294967295 FROM events WHERE request IS NOT NULL
  UNION
  SELECT a.run, p.base, p.shared FROM asked a JOIN requests p ON p.id = a.request WHERE p.base < p.id)
SELECT lower(hex(r.id)) AS run, m.request || '/' || m.position AS message,
  CASE WHEN m.position > 0 THEN CASE m.key WHEN 0 THEN m.base ELSE m.request END || '/' || (m.position - 1) END AS after,
  m.position, json_extract(m.said, '$.role') AS role,
  CASE
    WHEN json_type(m.said, '$.content') = 'array' THEN (
      SELECT json_group_array(json(CASE p.type
        WHEN 'object' THEN CASE WHEN json_extract(p.value, '$.text') GLOB 'text:*'
          THEN json_set(p.value, '$.text', (
            SELECT body FROM contents WHERE id = substr(json_extract(p.value, '$.text'), 6)))
          ELSE p.value END
        WHEN 'text' THEN json_quote(p.value) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN 'null'
        ELSE p.value END))
      FROM json_each(m.said, '$.content') p)
    WHEN m.content GLOB 'text:*' THEN (SELECT body FROM contents WHERE id = substr(m.content, 6))
    ELSE coalesce(m.content, m.others, '{}') END AS text,
  CASE WHEN m.content IS NOT NULL THEN nullif(m.others, '{}') END AS fields
FROM (
    SELECT *, json_extract(said, '$.content') AS content, json_remove(said, '$.role', '$.content') AS others
    FROM (
      SELECT u.run, p.id AS request, p.base, m.key, coalesce(p.shared, 0) + m.key AS position,
        CASE m.type WHEN 'object' THEN m.value END AS said
      FROM (SELECT run, request, max(upto) AS upto FROM asked GROUP BY 1, 2) u
        JOIN requests p ON p.id = u.request, json_each(p.skeleton, '$.body.messages') m
      WHERE coalesce(p.shared, 0) + m.key < u.upto)) m
  JOIN run_ids r ON r.no = m.run GROUP BY 1, 2;

CREATE VIEW decisions AS
SELECT d.run, d.seq, d.time, q.call, q.sample, json_extract(q.body, '$.labels') AS labels,
  coalesce(json_extract(d.said, '$.name'), CASE
    WHEN d.parser = 'program' OR d.parser IN ('function', 'person', 'judge')
      AND json_type(d.said, '$.parser.params.name') = 'text'
    THEN json_extract(d.said, '$.parser.params.name') ELSE d.parser END, '?') AS name,
  json_extract(d.body, '$.choice') AS choice,
  CASE WHEN d.t IN ('true', 'false') THEN d.t WHEN d.t IN ('object', 'array') THEN d.v
    WHEN d.t <> 'null' THEN json_quote(d.v) END AS value,
  CASE WHEN d.t IN ('integer', 'real') THEN d.v END AS number, CASE d.t WHEN 'text' THEN d.v END AS text,
  json_extract(d.said, '$.method') AS method, json_extract(d.body, '$.reasoning') AS reasoning,
  json_extract(d.body, '$.warnings') AS warnings, d.parser,
  CAST(json_extract(d.said, '$.parser.version') AS TEXT) AS parser_version, d.cause AS answer_seq,
  json_extract(d.said, '$.parser.params') AS params,
  CASE typeof(a.content) WHEN 'blob' THEN '' ELSE a.content END AS answer
FROM (
    SELECT *, json_extract(said, '$.parser.name') AS parser, json_type(body, '$.value') AS t,
      json_extract(body, '$.value') AS v
    FROM (SELECT *, CASE kind WHEN 'DecisionMade' THEN content END AS said FROM log WHERE kind = 'DecisionMade')) d
  JOIN log a ON a.id = d.id - d.seq + d.cause JOIN log q ON q.id = a.id - a.seq + a.cause;

CREATE VIEW facts AS
SELECT e.run, e.seq, e.time, json_extract(e.body, CASE WHEN e.p = '$.fact' THEN '$.fact.fact' ELSE '$.fact.name' END) AS name,
  CASE WHEN e.t IN ('true', 'false') THEN e.t WHEN e.t IN ('object', 'array') THEN e.v
    WHEN e.t <> 'null' THEN json_quote(e.v) END AS value,
  CASE WHEN e.t IN ('integer', 'real') THEN e.v END AS number, CASE e.t WHEN 'text' THEN e.v END AS text,
  CASE WHEN e.p <> '$.fact' THEN json_extract(e.body, '$.fact.lane') END AS lane,
  nullif((
    WITH RECURSIVE range (n, upto) AS (
      SELECT CASE type WHEN 'array' THEN json_extract(value, '$[0]') ELSE value END,
        CASE type WHEN 'array' THEN min(json_extract(value, '$[1]'), e.seq) ELSE value END
      FROM json_each(e.body, '$.causes')
      UNION ALL
      SELECT n + 1, upto FROM range WHERE n < upto)
    SELECT json_group_array(n) FROM (SELECT n FROM range ORDER BY n)), '[]') AS because
FROM (
    SELECT *, json_type(body, p) AS t, json_extract(body, p) AS v
    FROM (
      SELECT e.*, CASE WHEN json_extract(s.body, '$.experiment') IN ('program', 'exchanges', 'decisions')
        THEN '$.fact.value' ELSE '$.fact' END AS p
      FROM log e JOIN events s ON s.id = e.id - e.seq + 1 WHERE e.kind = 'Occurred')) e;

CREATE VIEW attempts AS
SELECT f.run, f.seq, f.time, q.call, q.sample, json_extract(q.body, '$.labels') AS labels, f.cause AS question_seq,
  json_extract(f.body, '$.attempt') AS attempt, json_extract(f.body, '$.failure') AS failure,
  json_extract(f.body, '$.status') AS http_status, json_extract(f.body, '$.error') AS error,
  json_extract(f.body, '$.retry_after_ms') AS retry_after_ms, coalesce(json_extract(f.body, '$.final'), 0) AS last,
  json_extract(f.body, '$.from.run') || '/' || json_extract(f.body, '$.from.seq') AS reused_from
FROM log f JOIN log q ON q.id = f.id - f.seq + f.cause WHERE f.kind = 'AttemptFailed';
