/** Structured answers of the built-in brain: the answer put into the shape that was asked for. */

/** `format` is "json" or a JSON schema; the text is always valid JSON of that shape. */
export function jsonAnswer(format: unknown, answer: string): string {
  if (format === null || typeof format !== 'object') return JSON.stringify({ answer });
  return JSON.stringify(valueFor(format as Schema, answer, 0));
}

interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
}

const depthMax = 12;

function valueFor(schema: Schema, answer: string, depth: number): unknown {
  if (depth > depthMax) return null;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    return schema.enum.find((option) => typeof option === 'string' && answer.includes(option)) ?? schema.enum[0];
  }
  if (Array.isArray(schema.anyOf) && schema.anyOf[0] !== undefined)
    return valueFor(schema.anyOf[0] as Schema, answer, depth + 1);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      return answer;
    case 'integer':
      return Number.parseInt(/-?\d+/.exec(answer)?.[0] ?? '0', 10);
    case 'number':
      return Number.parseFloat(/-?\d+(?:\.\d+)?/.exec(answer)?.[0] ?? '0');
    case 'boolean':
      return /\byes\b|\btrue\b/i.test(answer);
    case 'null':
      return null;
    case 'array':
      return schema.items === undefined ? [] : [valueFor(schema.items, answer, depth + 1)];
    default:
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, part]) => [name, valueFor(part, answer, depth + 1)]),
      );
  }
}
