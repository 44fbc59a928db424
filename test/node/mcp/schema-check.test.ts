/** The small checker against the library that knows the whole of JSON Schema. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkAgainstSchema } from '../../../shared/node/mcp/schema-check.ts';
import { json } from './servers.ts';

const check = (schema: unknown, args: unknown): string | null => checkAgainstSchema(json(schema), json(args));

describe('what does not fit is named', () => {
  test.each([
    [{ type: 'object', required: ['path'] }, {}, 'path is missing'],
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, 'a must be a string'],
    [{ properties: { a: { type: ['integer', 'null'] } } }, { a: 1.5 }, 'a must be an integer or null'],
    [{ properties: { a: { enum: ['x', 1, { b: 1 }] } } }, { a: 'y' }, 'a must be one of "x", 1, {"b":1}'],
    [{ properties: { a: { const: 2 } } }, { a: 3 }, 'a must be 2'],
    [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, 'there is no field b'],
    [{ additionalProperties: { type: 'number' } }, { x: 'y' }, 'x must be a number'],
    [{ properties: { a: { items: { type: 'string' } } } }, { a: ['x', 2] }, 'a[1] must be a string'],
    [
      { properties: { a: { items: { required: ['p'], properties: { p: { minLength: 2 } } } } } },
      { a: [{ p: 'ab' }, { p: 'a' }] },
      'a[1].p must have at least 2 characters',
    ],
    [
      { properties: { a: { prefixItems: [{ type: 'string' }], items: false } } },
      { a: ['x', 1] },
      'a[1] is not allowed',
    ],
    [{ properties: { a: { minimum: 1 } } }, { a: 0 }, 'a must be at least 1'],
    [{ properties: { a: { exclusiveMaximum: 1 } } }, { a: 1 }, 'a must be below 1'],
    [{ properties: { a: { maxItems: 1 } } }, { a: [1, 2] }, 'a must have at most 1 items'],
    [{ properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, { a: 1 }, 'a must be a string'],
    [
      { properties: { a: { oneOf: [{ type: 'number' }, { minimum: 0 }] } } },
      { a: 1 },
      'a fits more than one of the forms it may have',
    ],
    [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, 'b is missing'],
    [{ $defs: { p: { type: 'string' } }, properties: { a: { $ref: '#/$defs/p' } } }, { a: 1 }, 'a must be a string'],
    [{ properties: { a: { not: { type: 'string' } } } }, { a: 'x' }, 'a is not allowed to be that'],
    [
      { properties: { ['n'.repeat(200)]: { type: 'string' } } },
      { ['n'.repeat(200)]: 1 },
      `${'n'.repeat(80)}… must be a string`,
    ],
  ])('%j', (schema, args, words) => {
    expect(check(schema, args)).toBe(words);
  });

  test.each([
    [true, { a: 1 }],
    [{ type: 'something' }, { a: 1 }],
    [{ properties: 'none', required: 'a', enum: 7, anyOf: {}, items: 3, $ref: 7 }, { a: 1 }],
    [{ $ref: 'https://example.test/schema' }, { a: 1 }],
    [{ $ref: '#/nowhere/%E0%A4' }, { a: 1 }],
    [{ patternProperties: { '^x': {} }, additionalProperties: false }, { xa: 1 }],
    [{ properties: { a: { format: 'email', pattern: '^(a+)+$' } } }, { a: 'a'.repeat(60) }],
  ])('what is not understood is left to the server: %j', (schema, args) => {
    expect(check(schema, args)).toBeNull();
  });
});

test('it says the same as the whole of JSON Schema', () => {
  const names = fc.constantFrom('a', 'b', 'c');
  const whole = fc.integer({ min: -2, max: 4 });
  const leaf = fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array') }),
    fc.record({ enum: fc.uniqueArray(fc.oneof(whole, names, fc.constant(null)), { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: fc.oneof(whole, names) }),
    fc.record({ minimum: whole, exclusiveMaximum: whole }),
    fc.record({ maxLength: fc.nat(2) }),
    fc.record({ minItems: fc.nat(2) }),
    fc.record({ maxProperties: fc.nat(2) }),
    fc.boolean(),
  );
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record(
        {
          properties: fc.dictionary(names, tie('schema')),
          required: fc.uniqueArray(names),
          additionalProperties: tie('schema'),
        },
        { requiredKeys: [] },
      ),
      fc.record({ items: tie('schema') }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: tie('schema') }),
    ),
  }));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      whole,
      fc.constantFrom(0.5, 'a', 'abc', '😀😀', null, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value')),
    ),
  }));
  fc.assert(
    fc.property(fc.record({ properties: fc.dictionary(names, schema) }), fc.dictionary(names, value), (rules, args) => {
      const library = new AjvJsonSchemaValidator().getValidator(rules as never);
      expect(check(rules, args) === null).toBe(library(args).valid);
    }),
    { numRuns: 300 },
  );
});
