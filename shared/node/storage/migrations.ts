/**
 * The schema as one rising list: entry n takes a database from version n to n + 1. Entries that were shipped are never
 * edited. The database holds the law too: STRICT types, CHECKs, foreign keys.
 */
import type { Database } from 'better-sqlite3';

export const migrations: readonly string[] = [
  `
  CREATE TABLE settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    json TEXT NOT NULL CHECK (json_valid(json))
  ) STRICT;

  CREATE TABLE learned_ratios (
    model TEXT PRIMARY KEY,
    json TEXT NOT NULL CHECK (json_valid(json))
  ) STRICT;

  -- checksum: CRC-32 of the content of a row (integrity.ts).
  -- Texts are cut into pieces by content, and equal pieces are kept once: the prompts of a sweep share nearly all of theirs.
  CREATE TABLE pieces (
    id INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    encoding INTEGER NOT NULL CHECK (encoding IN (0, 1)),
    bytes BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    characters INTEGER NOT NULL CHECK (characters >= 0)
  ) STRICT;

  CREATE TABLE text_pieces (
    text_id INTEGER NOT NULL REFERENCES texts (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 0),
    piece_id INTEGER NOT NULL REFERENCES pieces (id),
    PRIMARY KEY (text_id, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX text_pieces_by_piece ON text_pieces (piece_id);

  CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    text_id INTEGER NOT NULL UNIQUE REFERENCES texts (id),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    created_at TEXT NOT NULL
  ) STRICT;

  CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'cancelled', 'interrupted', 'failed')),
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    cells_total INTEGER NOT NULL CHECK (cells_total >= 0),
    cells_done INTEGER NOT NULL DEFAULT 0 CHECK (cells_done >= 0),
    cells_failed INTEGER NOT NULL DEFAULT 0 CHECK (cells_failed >= 0),
    cells_truncated INTEGER NOT NULL DEFAULT 0 CHECK (cells_truncated >= 0),
    tokens_evaluated INTEGER NOT NULL DEFAULT 0 CHECK (tokens_evaluated >= 0),
    search_text TEXT NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json)),
    checksum INTEGER NOT NULL,
    CHECK (cells_done + cells_failed <= cells_total)
  ) STRICT;
  CREATE INDEX runs_by_time ON runs (created_at);
  CREATE INDEX runs_open ON runs (state) WHERE state = 'running';

  CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    run_id TEXT REFERENCES runs (id) ON DELETE CASCADE,
    cell_key TEXT,
    started_at TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    prompt_tokens INTEGER CHECK (prompt_tokens >= 0),
    output_tokens INTEGER CHECK (output_tokens >= 0),
    summary TEXT NOT NULL CHECK (json_valid(summary)),
    checksum INTEGER NOT NULL,
    CHECK (cell_key IS NULL OR run_id IS NOT NULL)
  ) STRICT;
  CREATE INDEX calls_by_run ON calls (run_id, started_at);
  CREATE INDEX calls_by_time ON calls (started_at);

  -- The long part of a call, apart from it, so that lists never read it. Long texts in it are {"text": id}.
  CREATE TABLE call_bodies (
    call_id TEXT PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
    request TEXT NOT NULL CHECK (json_valid(request)),
    preflight TEXT NOT NULL CHECK (json_valid(preflight)),
    reply TEXT NOT NULL CHECK (json_valid(reply)),
    messages TEXT NOT NULL CHECK (json_valid(messages)),
    sent_body TEXT NOT NULL CHECK (json_valid(sent_body)),
    thinking TEXT NOT NULL CHECK (json_valid(thinking)),
    answer TEXT NOT NULL CHECK (json_valid(answer)),
    raw_reply TEXT NOT NULL CHECK (json_valid(raw_reply)),
    checksum INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE call_texts (
    call_id TEXT NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    text_id INTEGER NOT NULL REFERENCES texts (id),
    PRIMARY KEY (call_id, text_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX call_texts_by_text ON call_texts (text_id);

  CREATE TABLE cells (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    warm_up INTEGER NOT NULL CHECK (warm_up IN (0, 1)),
    document_characters INTEGER CHECK (document_characters >= 0),
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    checksum INTEGER NOT NULL,
    call_id TEXT REFERENCES calls (id) ON DELETE SET NULL,
    -- What this cell adds to the counters of its run, so that a second result replaces the first exactly.
    counted_tokens INTEGER NOT NULL DEFAULT 0 CHECK (counted_tokens >= 0),
    counted_truncated INTEGER NOT NULL DEFAULT 0 CHECK (counted_truncated IN (0, 1)),
    PRIMARY KEY (run_id, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX cells_in_order ON cells (run_id, position, key);
  CREATE INDEX cells_by_call ON cells (call_id) WHERE call_id IS NOT NULL;
  `,
  `
  -- date: '' for prices that cannot change.
  CREATE TABLE price_sets (
    position INTEGER PRIMARY KEY,
    name TEXT NOT NULL CHECK (name <> ''),
    date TEXT NOT NULL,
    json TEXT NOT NULL CHECK (json_valid(json)),
    UNIQUE (name, date)
  ) STRICT;
  `,
  `
  -- Plans, tenants and users. revision: rises with every change.
  CREATE TABLE directory (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL CHECK (revision > 0),
    json TEXT NOT NULL CHECK (json_valid(json)),
    checksum INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- The journal is the truth: written once, never changed. lines: [[account key, unit, amount, overrun], …].
  -- resolves: the entry 'reserve' that this one ends. Only 'reserve' has expires_at_ms and detail.
  -- Lists are written as OR: SQLite makes a table of an IN at every insert, which took as long as the insert itself.
  CREATE TABLE ledger_journal (
    seq INTEGER PRIMARY KEY CHECK (seq > 0),
    at_ms INTEGER NOT NULL,
    operation TEXT NOT NULL CHECK (
      operation = 'reserve' OR operation = 'settle' OR operation = 'forfeit' OR operation = 'void'
      OR operation = 'expire' OR operation = 'grant' OR operation = 'alert'
    ),
    book TEXT NOT NULL CHECK (book = 'real' OR book = 'simulated'),
    reservation_id TEXT CHECK ((reservation_id IS NULL) = (operation = 'grant')),
    resolves INTEGER REFERENCES ledger_journal (seq)
      CHECK ((resolves IS NULL) = (operation = 'reserve' OR operation = 'grant' OR operation = 'alert')),
    key TEXT CHECK ((key IS NULL) = (operation = 'grant' OR operation = 'alert')),
    owner TEXT NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT,
    model TEXT,
    lines TEXT NOT NULL,
    input_tokens INTEGER CHECK (input_tokens BETWEEN 0 AND 1000000000000000),
    output_tokens INTEGER CHECK (output_tokens BETWEEN 0 AND 1000000000000000),
    nano_dollars INTEGER CHECK (nano_dollars BETWEEN 0 AND 1000000000000000),
    source TEXT CHECK (source = 'reported' OR source = 'observed' OR source = 'reserved' OR source = 'none'),
    reason TEXT NOT NULL,
    expires_at_ms INTEGER CHECK ((expires_at_ms IS NULL) = (operation <> 'reserve')),
    detail TEXT CHECK ((detail IS NULL) = (operation <> 'reserve'))
  ) STRICT;
  CREATE UNIQUE INDEX ledger_one_key ON ledger_journal (key, tenant, book) WHERE operation = 'reserve';
  CREATE UNIQUE INDEX ledger_one_id ON ledger_journal (reservation_id) WHERE operation = 'reserve';
  CREATE UNIQUE INDEX ledger_one_resolution ON ledger_journal (resolves) WHERE resolves IS NOT NULL;
  CREATE INDEX ledger_journal_by_book ON ledger_journal (book);
  CREATE TRIGGER ledger_journal_is_not_changed BEFORE UPDATE ON ledger_journal
    BEGIN SELECT RAISE (ABORT, 'an entry of the ledger is never changed'); END;
  CREATE TRIGGER ledger_journal_is_not_deleted BEFORE DELETE ON ledger_journal
    BEGIN SELECT RAISE (ABORT, 'an entry of the ledger is never deleted'); END;

  -- What the entries of an account sum to, kept beside them; the audit compares. touched: rises with every entry.
  CREATE TABLE ledger_accounts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    book TEXT NOT NULL CHECK (book = 'real' OR book = 'simulated'),
    tenant TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (
      scope = 'conversation' OR scope = 'experiment' OR scope = 'user' OR scope = 'model' OR scope = 'tenant'
    ),
    name TEXT NOT NULL,
    window TEXT NOT NULL CHECK (
      window = 'run' OR window = 'month' OR window = 'week' OR window = 'day' OR window = 'minute'
    ),
    period TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit = 'tokens' OR unit = 'nano-dollars' OR unit = 'requests'),
    ends_at_ms INTEGER,
    time_zone TEXT NOT NULL,
    alerts_percent TEXT NOT NULL,
    limit_now INTEGER CHECK (limit_now BETWEEN 0 AND 1000000000000000),
    limit_max INTEGER CHECK (limit_max BETWEEN 0 AND 1000000000000000),
    granted INTEGER NOT NULL CHECK (granted BETWEEN 0 AND 1000000000000000),
    spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND 1000000000000000),
    held INTEGER NOT NULL CHECK (held BETWEEN 0 AND 1000000000000000),
    overrun INTEGER NOT NULL CHECK (overrun BETWEEN 0 AND spent),
    alerts_raised TEXT NOT NULL,
    touched INTEGER NOT NULL,
    -- Conservation. The rolling minute has one limit for each minute, so its sums of all time have none.
    CHECK (window = 'minute' OR limit_max IS NULL OR spent + held <= limit_max + overrun)
  ) STRICT;
  CREATE INDEX ledger_accounts_by_end ON ledger_accounts (book, ends_at_ms);

  -- One row for every open hold, taken away by its resolution; what it holds stands in its entry.
  CREATE TABLE ledger_holds (
    seq INTEGER PRIMARY KEY REFERENCES ledger_journal (seq),
    expires_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX ledger_holds_by_expiry ON ledger_holds (expires_at_ms);

  -- The rolling minute by seconds since 1970: what was opened in that second.
  CREATE TABLE ledger_buckets (
    account_id INTEGER NOT NULL REFERENCES ledger_accounts (id),
    second INTEGER NOT NULL,
    spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND 1000000000000000),
    held INTEGER NOT NULL CHECK (held BETWEEN 0 AND 1000000000000000),
    PRIMARY KEY (account_id, second)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- view: what screens draw of the run, summary: the same without calls and turns. restart: what a run that was cut off goes on from.
  CREATE TABLE agent_runs (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'ended', 'cancelled', 'interrupted', 'failed')),
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    summary TEXT NOT NULL CHECK (json_valid(summary)),
    view TEXT NOT NULL CHECK (json_valid(view)),
    restart TEXT CHECK (restart IS NULL OR json_valid(restart)),
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX agent_runs_by_time ON agent_runs (created_at);
  `,
  `
  -- A key whose reservation was voided is given again. follows: that reservation, of which nothing was sent; NULL for the first
  -- under its key. So the reservations of a key are one chain, and only its end is not voided.
  -- checksum: CRC-32 of the other columns in their order (ledger-rows.ts); NULL for entries that are older than it.
  ALTER TABLE ledger_journal ADD COLUMN follows INTEGER REFERENCES ledger_journal (seq)
    CHECK (follows IS NULL OR operation = 'reserve');
  ALTER TABLE ledger_journal ADD COLUMN checksum INTEGER;
  DROP INDEX ledger_one_key;
  CREATE UNIQUE INDEX ledger_one_key ON ledger_journal (key, tenant, book, ifnull(follows, 0)) WHERE operation = 'reserve';
  CREATE TRIGGER ledger_key_follows_a_void BEFORE INSERT ON ledger_journal
    WHEN new.follows IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM ledger_journal AS closing CROSS JOIN ledger_journal AS opening ON opening.seq = closing.resolves
      WHERE closing.resolves = new.follows AND closing.operation = 'void'
        AND opening.key = new.key AND opening.tenant = new.tenant AND opening.book = new.book
    )
    BEGIN SELECT RAISE (ABORT, 'a key of the ledger is given again only after a void'); END;
  `,
];

/** The version this program writes. */
export const schemaVersion = migrations.length;

export const versionOf = (database: Database): number => Number(database.pragma('user_version', { simple: true }));

/** Brings the database up to date, all or nothing. */
export function migrate(database: Database): void {
  if (versionOf(database) >= schemaVersion) return;
  database
    .transaction(() => {
      for (const step of migrations.slice(versionOf(database))) database.exec(step);
      database.pragma(`user_version = ${schemaVersion}`);
    })
    .immediate();
}
