/**
 * Long texts, each stored once. A text is cut into pieces where its own content says so, and equal pieces are kept once:
 * the same document with a needle at another place shares all but one or two of them. Pieces are deflated. What comes back
 * is exactly what went in, also where it is not well-formed Unicode.
 */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { checksumOf } from './integrity.ts';
import type { Statements } from './statements.ts';

/** A short text stands in the row itself; a long one is named. */
export type PackedText = string | { readonly text: number };

/** Up to this many characters a text stays in its row. */
export const inlineCharactersMax = 1_000;

export interface Texts {
  /** Stores a text; the same text has the same id. */
  put(text: string): number;
  /** Throws `DamagedTextError` when the stored pieces are not what was stored. */
  get(id: number): string;
  /** `use` hears the id of every text that was stored apart. */
  pack(text: string, use: (id: number) => void): PackedText;
  unpack(packed: PackedText): string;
  /** Removes those of the given texts that nothing refers to any more, and their pieces. */
  removeUnused(ids: readonly number[]): void;
}

export class DamagedTextError extends Error {
  override readonly name = 'DamagedTextError';
}

export function createTexts(statements: Statements): Texts {
  const put = (text: string): number => {
    const hash = textHash(text);
    const known = statements.get<{ id: number }>('SELECT id FROM texts WHERE sha256 = ?', hash);
    if (known !== undefined) return known.id;
    const id = Number(
      statements.run('INSERT INTO texts (sha256, characters) VALUES (?, ?)', hash, text.length).lastInsertRowid,
    );
    let position = 0;
    for (const piece of piecesOf(text)) {
      statements.run(
        'INSERT INTO text_pieces (text_id, position, piece_id) VALUES (?, ?, ?)',
        id,
        position,
        putPiece(piece),
      );
      position += 1;
    }
    return id;
  };

  const putPiece = (piece: string): number => {
    const hash = textHash(piece);
    const known = statements.get<{ id: number }>('SELECT id FROM pieces WHERE sha256 = ?', hash);
    if (known !== undefined) return known.id;
    const encoding = encodingOf(piece);
    const bytes = deflateRawSync(Buffer.from(piece, encoding), { level: 1 });
    return Number(
      statements.run(
        'INSERT INTO pieces (sha256, encoding, bytes, checksum) VALUES (?, ?, ?, ?)',
        hash,
        encodings.indexOf(encoding),
        bytes,
        checksumOf(bytes),
      ).lastInsertRowid,
    );
  };

  const get = (id: number): string => {
    const row = statements.get<{ sha256: Buffer }>('SELECT sha256 FROM texts WHERE id = ?', id);
    if (row === undefined) throw new DamagedTextError('A stored text is missing: the database is damaged.');
    const pieces = statements.all<{ encoding: number; bytes: Buffer }>(
      'SELECT encoding, bytes FROM text_pieces JOIN pieces ON pieces.id = piece_id WHERE text_id = ? ORDER BY position',
      id,
    );
    const text = joined(pieces);
    if (text === null || !textHash(text).equals(row.sha256)) {
      throw new DamagedTextError('A stored text is not what was stored: the database is damaged.');
    }
    return text;
  };

  return {
    put,
    get,
    pack: (text, use) => {
      if (text.length <= inlineCharactersMax) return text;
      const id = put(text);
      use(id);
      return { text: id };
    },
    unpack: (packed) => (typeof packed === 'string' ? packed : get(packed.text)),
    removeUnused: (ids) => {
      for (const id of new Set(ids)) removeIfUnused(statements, id);
    },
  };
}

/** SHA-256 of the UTF-8 bytes, which is what other programs compute; of UTF-16 where UTF-8 cannot hold the text. */
export function textHash(text: string): Buffer {
  const encoding = encodingOf(text);
  const hash = createHash('sha256');
  if (encoding === 'utf16le') hash.update('utf16le\0');
  return hash.update(text, encoding).digest();
}

/**
 * Cuts where a rolling hash over the last 32 characters says so, about every 8,000 characters, never inside a pair of
 * surrogates. A change in one place moves no boundary further than that away from it.
 */
export function* piecesOf(text: string): Generator<string> {
  let from = 0;
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    hash = ((hash << 1) + (gear[code & 255] ?? 0) + (code >> 8)) | 0;
    const length = at + 1 - from;
    if (length < pieceCharactersMin || (hash >>> (32 - pieceBits) !== 0 && length < pieceCharactersMax)) continue;
    if ((code & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) continue;
    yield text.slice(from, at + 1);
    from = at + 1;
  }
  if (from < text.length) yield text.slice(from);
}

const pieceCharactersMin = 2_000;
const pieceCharactersMax = 64_000;
/** One character in 2^13 ends a piece. */
const pieceBits = 13;

/** 256 fixed numbers without a pattern (steps of a 32-bit mixing function). */
const gear = Int32Array.from({ length: 256 }, (_, index) => {
  let mixed = Math.imul(index + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
});

const encodings = ['utf8', 'utf16le'] as const;

const encodingOf = (text: string): (typeof encodings)[number] => (text.isWellFormed() ? 'utf8' : 'utf16le');

function joined(pieces: readonly { encoding: number; bytes: Buffer }[]): string | null {
  try {
    return pieces.map((piece) => inflateRawSync(piece.bytes).toString(encodings[piece.encoding])).join('');
  } catch {
    // inflate refuses bytes that were changed.
    return null;
  }
}

function removeIfUnused(statements: Statements, id: number): void {
  const used = statements.get(
    'SELECT 1 FROM call_texts WHERE text_id = ? UNION ALL SELECT 1 FROM documents WHERE text_id = ? LIMIT 1',
    id,
    id,
  );
  if (used !== undefined) return;
  const pieces = statements.all<{ piece_id: number }>(
    'SELECT DISTINCT piece_id FROM text_pieces WHERE text_id = ?',
    id,
  );
  statements.run('DELETE FROM texts WHERE id = ?', id);
  for (const { piece_id } of pieces) {
    statements.run(
      'DELETE FROM pieces WHERE id = ? AND NOT EXISTS (SELECT 1 FROM text_pieces WHERE piece_id = ?)',
      piece_id,
      piece_id,
    );
  }
}
