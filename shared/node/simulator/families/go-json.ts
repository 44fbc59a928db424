/**
 * JSON as Go's encoding/json reads it, for its error texts: a model's broken tool call reaches the client with them.
 * Values come out as JSON.parse gives them; only the refusal differs.
 */
export type GoJson<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: string };

export function parseGoJson(text: string): GoJson<unknown> {
  const problem = new Scanner(text).problem();
  if (problem !== null) return { ok: false, error: problem };
  return { ok: true, value: JSON.parse(text) as unknown };
}

/** Decodes into a Go map: other kinds are refused with Go's words. */
export function parseGoJsonObject(text: string): GoJson<Readonly<Record<string, unknown>>> {
  const parsed = parseGoJson(text);
  if (!parsed.ok) return parsed;
  if (parsed.value === null) return { ok: true, value: {} };
  if (typeof parsed.value === 'object' && !Array.isArray(parsed.value))
    return { ok: true, value: parsed.value as Record<string, unknown> };
  return {
    ok: false,
    error: `json: cannot unmarshal ${goKind(parsed.value)} into Go value of type map[string]interface {}`,
  };
}

export function goKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}

/** A character as Go prints it in an error: `'x'`, with `'\''` and `'"'` as special cases. */
export function goQuoteCharacter(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  const escaped = JSON.stringify(character).slice(1, -1);
  return `'${/^\\u00/.test(escaped) ? `\\x${escaped.slice(4)}` : escaped}'`;
}

const end = 'unexpected end of JSON input';
const white = new Set([' ', '\t', '\n', '\r']);

/** Walks the text once; JSON.parse decides nothing here, so that the place of the first mistake is Go's. */
class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  problem(): string | null {
    const found = this.value();
    if (found !== null) return found;
    this.skip();
    return this.at < this.text.length ? this.invalid('after top-level value') : null;
  }

  private value(): string | null {
    this.skip();
    const character = this.text[this.at];
    if (character === undefined) return end;
    if (character === '{') return this.object();
    if (character === '[') return this.array();
    if (character === '"') return this.string();
    if (character === '-' || isDigit(character)) return this.number();
    for (const literal of ['true', 'false', 'null']) if (character === literal[0]) return this.literal(literal);
    return this.invalid('looking for beginning of value');
  }

  private object(): string | null {
    this.at++;
    this.skip();
    if (this.text[this.at] === '}') return this.advance();
    for (;;) {
      this.skip();
      if (this.at >= this.text.length) return end;
      if (this.text[this.at] !== '"') return this.invalid('looking for beginning of object key string');
      const found = this.string() ?? this.expect(':', 'after object key') ?? this.value();
      if (found !== null) return found;
      this.skip();
      if (this.text[this.at] === '}') return this.advance();
      const separator = this.expect(',', 'after object key:value pair');
      if (separator !== null) return separator;
    }
  }

  private array(): string | null {
    this.at++;
    this.skip();
    if (this.text[this.at] === ']') return this.advance();
    for (;;) {
      const found = this.value();
      if (found !== null) return found;
      this.skip();
      if (this.text[this.at] === ']') return this.advance();
      const separator = this.expect(',', 'after array element');
      if (separator !== null) return separator;
    }
  }

  private string(): string | null {
    for (this.at++; ; this.at++) {
      const character = this.text[this.at];
      if (character === undefined) return end;
      if (character === '"') return this.advance();
      if (character < ' ') return this.invalid('in string literal');
      if (character !== '\\') continue;
      const problem = this.escape();
      if (problem !== null) return problem;
    }
  }

  private escape(): string | null {
    const kind = this.text[++this.at];
    if (kind === undefined) return end;
    if ('bfnrt\\/"'.includes(kind)) return null;
    if (kind !== 'u') return this.invalid('in string escape code');
    for (let digit = 0; digit < 4; digit++) {
      const character = this.text[++this.at];
      if (character === undefined) return end;
      if (!/[0-9a-fA-F]/.test(character)) return this.invalid('in \\u hexadecimal character escape');
    }
    return null;
  }

  private number(): string | null {
    if (this.text[this.at] === '-') this.at++;
    if (this.text[this.at] === '0') this.at++;
    else if (!this.digits()) return this.endOr('in numeric literal');
    if (this.text[this.at] === '.') {
      this.at++;
      if (!this.digits()) return this.endOr('after decimal point in numeric literal');
    }
    if (this.text[this.at] !== 'e' && this.text[this.at] !== 'E') return null;
    this.at++;
    if (this.text[this.at] === '+' || this.text[this.at] === '-') this.at++;
    return this.digits() ? null : this.endOr('in exponent of numeric literal');
  }

  private digits(): boolean {
    const start = this.at;
    while (isDigit(this.text[this.at] ?? '')) this.at++;
    return this.at > start;
  }

  private literal(word: string): string | null {
    for (let index = 1; index < word.length; index++) {
      this.at++;
      if (this.text[this.at] !== word[index])
        return this.endOr(`in literal ${word} (expecting ${goQuoteCharacter(word[index] ?? '')})`);
    }
    return this.advance();
  }

  private expect(character: string, where: string): string | null {
    this.skip();
    if (this.text[this.at] !== character) return this.endOr(where);
    return this.advance();
  }

  private advance(): null {
    this.at++;
    return null;
  }

  private skip(): void {
    while (white.has(this.text[this.at] ?? '')) this.at++;
  }

  private endOr(where: string): string {
    return this.at >= this.text.length ? end : this.invalid(where);
  }

  private invalid(where: string): string {
    return `invalid character ${goQuoteCharacter(this.text[this.at] ?? '')} ${where}`;
  }
}

const isDigit = (character: string): boolean => character >= '0' && character <= '9';
