CREATE VIEW log AS
SELECT lower(hex(r.id)) AS run, e.id & 4294967295 AS seq, k.name AS kind,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + e.time) / 1000.0, 'unixepoch') AS time,
  e.call, e.sample, lower(hex(q.hash)) AS prompt_hash, e.cause, c.body AS content,
  coalesce(e.body, '{}') AS body, lower(hex(e.hash)) AS hash
FROM events e JOIN run_ids r ON r.no = e.id >> 32 JOIN kinds k ON k.id = e.kind
  LEFT JOIN requests q ON q.id = e.request LEFT JOIN contents c ON c.id = e.content;

CREATE VIEW runs AS
SELECT lower(hex(r.id)) AS run, json_extract(c.body, '$.name') AS name,
  json_extract(s.body, '$.experiment') AS experiment, c.body AS settings,
  json_extract(s.body, '$.model') AS model,
  coalesce(json_extract(s.body, '$.model.simulated'), 0) AS simulated,
  CASE WHEN json_extract(s.body, '$.experiment') NOT IN ('program', 'exchanges', 'decisions')
    THEN json_extract(s.body, '$.seed') END AS seed,
  json_extract(s.body, '$.forked_from.run') AS forked_from,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + s.time) / 1000.0, 'unixepoch') AS started,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + f.time) / 1000.0, 'unixepoch') AS finished,
  json_extract(f.body, '$.outcome') AS outcome,
  json_extract(f.body, '$.outcome_digest') AS outcome_digest,
  l.id & 4294967295 AS events, lower(hex(l.hash)) AS head
FROM run_ids r JOIN events s ON s.id = (r.no << 32) + 1 LEFT JOIN contents c ON c.id = s.content
  JOIN events l ON l.id = (SELECT max(id) FROM events WHERE id < (r.no + 1) << 32)
  LEFT JOIN events f ON f.id = l.id AND f.kind IN (SELECT id FROM kinds WHERE name = 'RunFinished');

CREATE VIEW exchanges AS
SELECT lower(hex(r.id)) AS run, q.id & 4294967295 AS seq,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + q.time) / 1000.0, 'unixepoch') AS time,
  q.call, q.sample, json_extract(q.body, '$.labels') AS labels, lower(hex(p.hash)) AS prompt,
  CASE
    WHEN json_extract(p.skeleton, '$.body.http.dialect') IS NOT NULL THEN
      substr(json_extract(p.skeleton, '$.body.http.dialect'), 1,
        instr(json_extract(p.skeleton, '$.body.http.dialect') || '@', '@') - 1)
    WHEN json_extract(p.skeleton, '$.api') = 'embedding' THEN 'openai.embeddings'
    ELSE 'openai.chat' END AS operation,
  json_extract(p.skeleton, '$.body.model') AS request_model,
  json_extract(a.body, k.path || 'model') AS response_model,
  CASE WHEN a.id IS NOT NULL THEN 'answered' WHEN f.id IS NOT NULL THEN 'failed'
    ELSE 'unanswered' END AS status,
  CASE WHEN coalesce(o.answer, o.failure) IS NULL THEN 1 ELSE o.attempts END AS attempts,
  CASE WHEN json_type(a.body, k.path || 'extra.http') IS NOT NULL
      THEN nullif(json_extract(a.body, k.path || 'extra.http.status'), 200)
    WHEN a.id IS NULL THEN json_extract(f.body, '$.status') END AS http_status,
  json_extract(f.body, '$.error') AS error,
  nullif(json_extract(a.body, k.path || 'latency_ms'), 0) AS latency_ms,
  json_extract(a.body, k.path || 'extra.http.chunks[0][1]') AS first_chunk_ms,
  json_extract(a.body, k.path || 'finish_reason') AS finish_reason,
  json_extract(a.body, k.path || 'prompt_tokens') AS prompt_tokens,
  json_extract(a.body, k.path || 'completion_tokens') AS completion_tokens,
  json_extract(a.body, k.path || 'cached_tokens') AS cached_tokens,
  json_extract(a.body, k.path || 'reasoning_tokens') AS reasoning_tokens,
  json_extract(a.body, k.path || 'cost') AS cost,
  json_extract(a.body, k.path || 'id') AS response_id,
  CASE WHEN k.path <> '$.' THEN json_extract(a.body, '$.run') || '/' || json_extract(a.body, '$.seq') END
    AS reused_from,
  CASE typeof(c.body) WHEN 'blob' THEN '' ELSE c.body END AS answer,
  coalesce(json_extract(a.body, k.path || 'extra.reasoning_content'),
    json_extract(a.body, k.path || 'extra.reasoning'),
    json_extract(a.body, k.path || 'extra.thinking')) AS reasoning,
  json_extract(a.body, k.path || 'extra.tool_calls') AS tool_calls,
  json_extract(a.body, k.path || 'extra.other_choices') AS other_choices,
  a.id & 4294967295 AS answer_seq, CASE WHEN a.id IS NOT NULL THEN lower(hex(a.hash)) END AS event_hash,
  CASE
    WHEN json_array_length(p.skeleton, '$.body.messages') > 0 THEN
      p.id || '/' || (coalesce(p.shared, 0) + json_array_length(p.skeleton, '$.body.messages') - 1)
    WHEN p.shared > 0 THEN (
      WITH RECURSIVE up (id, base, shared) AS (
        SELECT b.id, b.base, coalesce(b.shared, 0) FROM requests b WHERE b.id = p.base
        UNION ALL
        SELECT b.id, b.base, coalesce(b.shared, 0)
        FROM up JOIN requests b ON b.id = up.base AND b.id < up.id WHERE up.shared >= p.shared)
      SELECT up.id || '/' || (p.shared - 1) FROM up WHERE up.shared < p.shared) END AS last_message,
  coalesce(
    (WITH RECURSIVE list (id, skeleton, base, shared, upto) AS (
        SELECT p.id, p.skeleton, p.base, coalesce(p.shared, 0), 4294967295
        UNION ALL
        SELECT b.id, b.skeleton, b.base, coalesce(b.shared, 0), list.shared
        FROM list JOIN requests b ON b.id = list.base AND b.id < list.id)
      SELECT group_concat(m.said, char(10) || char(10)) FROM (
        SELECT json_extract(m.value, '$.role') || ': ' || CASE
          WHEN json_type(m.value, '$.content') = 'array' THEN (
            SELECT group_concat(CASE part.type
              WHEN 'object' THEN coalesce(t.body, json_extract(part.value, '$.text'), part.value)
              ELSE part.value END, char(10))
            FROM json_each(m.value, '$.content') part LEFT JOIN contents t ON t.id = CASE part.type
              WHEN 'object' THEN CASE WHEN json_extract(part.value, '$.text') GLOB 'text:*'
                THEN substr(json_extract(part.value, '$.text'), 6) END END)
          WHEN json_extract(m.value, '$.content') GLOB 'text:*' THEN (
            SELECT t.body FROM contents t WHERE t.id = substr(json_extract(m.value, '$.content'), 6))
          ELSE coalesce(json_extract(m.value, '$.content'), '') END AS said
        FROM list, json_each(list.skeleton, '$.body.messages') m
        WHERE list.shared + m.key < list.upto AND m.type = 'object'
        ORDER BY list.id, m.key) m),
    (SELECT t.body FROM contents t WHERE json_extract(p.skeleton, '$.body.input') GLOB 'text:*'
      AND t.id = substr(json_extract(p.skeleton, '$.body.input'), 6)),
    json_extract(p.skeleton, '$.body.input')) AS prompt_text,
  json_extract(a.body, k.path || 'extra') AS extra
FROM (
    SELECT CASE k.name WHEN 'RequestSent' THEN e.id ELSE (e.id >> 32 << 32) + e.cause END AS question,
      max(CASE WHEN k.name IN ('ResponseReceived', 'AnswerReused') THEN e.id END) AS answer,
      max(CASE k.name WHEN 'AttemptFailed' THEN e.id END) AS failure,
      sum(CASE k.name WHEN 'ResponseReceived' THEN 1
        WHEN 'AttemptFailed' THEN json_type(e.body, '$.from') IS NULL ELSE 0 END) AS attempts
    FROM events e CROSS JOIN kinds k ON k.id = e.kind
      AND k.name IN ('RequestSent', 'ResponseReceived', 'AnswerReused', 'AttemptFailed')
    GROUP BY 1) o
  CROSS JOIN events q ON q.id = o.question JOIN run_ids r ON r.no = q.id >> 32
  JOIN requests p ON p.id = q.request
  LEFT JOIN events a ON a.id = o.answer
  LEFT JOIN (SELECT id, CASE name WHEN 'AnswerReused' THEN '$.answer.' ELSE '$.' END AS path FROM kinds) k
    ON k.id = a.kind
  LEFT JOIN contents c ON c.id = a.content LEFT JOIN events f ON f.id = o.failure;

CREATE VIEW messages AS
WITH RECURSIVE asked (run, request, upto) AS (
  SELECT DISTINCT id >> 32, request, 4294967295 FROM events WHERE request IS NOT NULL
  UNION
  SELECT asked.run, p.base, min(p.shared, asked.upto)
  FROM asked JOIN requests p ON p.id = asked.request WHERE p.base < p.id)
SELECT m.run, m.request || '/' || m.position AS message,
  CASE
    WHEN m.position > m.shared THEN m.request || '/' || (m.position - 1)
    WHEN m.shared > 0 THEN (
      WITH RECURSIVE up (id, base, shared) AS (
        SELECT b.id, b.base, coalesce(b.shared, 0) FROM requests b WHERE b.id = m.base
        UNION ALL
        SELECT b.id, b.base, coalesce(b.shared, 0)
        FROM up JOIN requests b ON b.id = up.base AND b.id < up.id WHERE up.shared >= m.shared)
      SELECT up.id || '/' || (m.shared - 1) FROM up WHERE up.shared < m.shared) END AS after,
  m.position, json_extract(m.said, '$.role') AS role,
  CASE
    WHEN json_type(m.said, '$.content') = 'array' THEN (
      SELECT json_group_array(json(CASE part.type
        WHEN 'object' THEN CASE WHEN json_extract(part.value, '$.text') GLOB 'text:*'
          THEN json_set(part.value, '$.text', (
            SELECT t.body FROM contents t WHERE t.id = substr(json_extract(part.value, '$.text'), 6)))
          ELSE part.value END
        WHEN 'array' THEN part.value WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN 'null'
        ELSE json_quote(part.value) END))
      FROM json_each(m.said, '$.content') part)
    WHEN json_extract(m.said, '$.content') GLOB 'text:*' THEN (
      SELECT t.body FROM contents t WHERE t.id = substr(json_extract(m.said, '$.content'), 6))
    ELSE coalesce(json_extract(m.said, '$.content'), json_remove(m.said, '$.role', '$.content'), '{}') END AS text,
  CASE WHEN json_extract(m.said, '$.content') IS NOT NULL
    THEN nullif(json_remove(m.said, '$.role', '$.content'), '{}') END AS fields
FROM (
    SELECT lower(hex(r.id)) AS run, p.id AS request, p.base, coalesce(p.shared, 0) AS shared,
      coalesce(p.shared, 0) + m.key AS position, CASE m.type WHEN 'object' THEN m.value END AS said
    FROM (SELECT run, request, max(upto) AS upto FROM asked GROUP BY run, request) u
      JOIN run_ids r ON r.no = u.run JOIN requests p ON p.id = u.request,
      json_each(p.skeleton, '$.body.messages') m
    WHERE coalesce(p.shared, 0) + m.key < u.upto) m;

CREATE VIEW decisions AS
SELECT lower(hex(r.id)) AS run, d.id & 4294967295 AS seq,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + d.time) / 1000.0, 'unixepoch') AS time,
  q.call, q.sample, json_extract(q.body, '$.labels') AS labels,
  coalesce(json_extract(s.body, '$.in_place_of'), CASE
    WHEN json_extract(s.body, '$.parser.name') = 'program'
      OR json_extract(s.body, '$.parser.name') IN ('function', 'person', 'judge')
        AND json_type(s.body, '$.parser.params.name') = 'text'
      THEN json_extract(s.body, '$.parser.params.name')
    ELSE json_extract(s.body, '$.parser.name') END, '?') AS name,
  json_extract(d.body, '$.choice') AS choice,
  CASE json_type(d.body, '$.value') WHEN 'null' THEN NULL WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
    ELSE json_quote(json_extract(d.body, '$.value')) END AS value,
  CASE WHEN json_type(d.body, '$.value') IN ('integer', 'real') THEN json_extract(d.body, '$.value') END AS number,
  CASE json_type(d.body, '$.value') WHEN 'text' THEN json_extract(d.body, '$.value') END AS text,
  json_extract(s.body, '$.method') AS method, json_extract(d.body, '$.reasoning') AS reasoning,
  json_extract(d.body, '$.warnings') AS warnings, json_extract(s.body, '$.parser.name') AS parser,
  CAST(json_extract(s.body, '$.parser.version') AS TEXT) AS parser_version, d.cause AS answer_seq,
  json_extract(s.body, '$.parser.params') AS params,
  CASE typeof(c.body) WHEN 'blob' THEN '' ELSE c.body END AS answer
FROM events d CROSS JOIN kinds k ON k.id = d.kind AND k.name = 'DecisionMade'
  JOIN run_ids r ON r.no = d.id >> 32 CROSS JOIN contents s ON s.id = d.content
  JOIN events a ON a.id = (d.id >> 32 << 32) + d.cause JOIN contents c ON c.id = a.content
  JOIN events q ON q.id = (d.id >> 32 << 32) + a.cause;

CREATE VIEW facts AS
SELECT lower(hex(r.id)) AS run, e.id & 4294967295 AS seq,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + e.time) / 1000.0, 'unixepoch') AS time,
  json_extract(e.body, x.name) AS name,
  CASE json_type(e.body, x.value) WHEN 'null' THEN NULL WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
    ELSE json_quote(json_extract(e.body, x.value)) END AS value,
  CASE WHEN json_type(e.body, x.value) IN ('integer', 'real') THEN json_extract(e.body, x.value) END AS number,
  CASE json_type(e.body, x.value) WHEN 'text' THEN json_extract(e.body, x.value) END AS text,
  json_extract(e.body, x.lane) AS lane,
  nullif((
    WITH RECURSIVE range (n, upto) AS (
      SELECT CASE c.type WHEN 'array' THEN json_extract(c.value, '$[0]') ELSE c.value END,
        CASE c.type WHEN 'array' THEN min(json_extract(c.value, '$[1]'), e.id & 4294967295) ELSE c.value END
      FROM json_each(e.body, '$.causes') c
      UNION ALL
      SELECT n + 1, upto FROM range WHERE n < upto)
    SELECT json_group_array(n) FROM (SELECT n FROM range ORDER BY n)), '[]') AS because
FROM events e CROSS JOIN kinds k ON k.id = e.kind AND k.name = 'Occurred'
  JOIN run_ids r ON r.no = e.id >> 32
  JOIN (
    SELECT b.id >> 32 AS run, CASE WHEN is_of_study THEN '$.fact.fact' ELSE '$.fact.name' END AS name,
      CASE WHEN is_of_study THEN '$.fact' ELSE '$.fact.value' END AS value,
      CASE WHEN is_of_study THEN '$.none' ELSE '$.fact.lane' END AS lane
    FROM (
      SELECT s.id, json_extract(s.body, '$.experiment') NOT IN ('program', 'exchanges', 'decisions') AS is_of_study
      FROM run_ids n JOIN events s ON s.id = (n.no << 32) + 1) b) x ON x.run = r.no;

CREATE VIEW attempts AS
SELECT lower(hex(r.id)) AS run, f.id & 4294967295 AS seq,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + f.time) / 1000.0, 'unixepoch') AS time,
  q.call, q.sample, json_extract(q.body, '$.labels') AS labels, f.cause AS question_seq,
  json_extract(f.body, '$.attempt') AS attempt, json_extract(f.body, '$.failure') AS failure,
  json_extract(f.body, '$.status') AS http_status, json_extract(f.body, '$.error') AS error,
  json_extract(f.body, '$.retry_after_ms') AS retry_after_ms,
  coalesce(json_extract(f.body, '$.final'), 0) AS last,
  json_extract(f.body, '$.from.run') || '/' || json_extract(f.body, '$.from.seq') AS reused_from
FROM events f CROSS JOIN kinds k ON k.id = f.kind AND k.name = 'AttemptFailed'
  JOIN run_ids r ON r.no = f.id >> 32 JOIN events q ON q.id = (f.id >> 32 << 32) + f.cause;
