/** `read_blob(handle, offset)`: pages through an output that was cut. A governed tool like every other. */
import type { BudgetTree } from '../budget-tree/tree.ts';
import { type Json, isObject } from '../guards/canonical.ts';
import type { Blobs } from './gateway.ts';
import { type Tool, TOOL_DEFAULTS, textOf } from './tool.ts';

export const READ_BLOB = 'read_blob';

/** A page leaves room for the line that says where the next one begins. */
const NOTE_BYTES = 120;
const PAGE_BYTES_DEFAULT = 16_000;

export function readBlobTool(blobs: Blobs, tree: BudgetTree, outputTokensMax: number): Tool {
  return {
    spec: {
      ...TOOL_DEFAULTS,
      name: READ_BLOB,
      description: 'Reads on in an output that was cut, from a byte offset.',
      parameters: {
        type: 'object',
        properties: { handle: { type: 'string' }, offset: { type: 'integer', minimum: 0 } },
        required: ['handle'],
      },
      upstream: READ_BLOB,
      outputBytesUsual: outputTokensMax * 4,
      check: (args) => {
        if (!isObject(args)) return 'read_blob takes an object with handle and offset';
        if (typeof args.get('handle') !== 'string') return 'handle must be a text';
        const offset = args.get('offset') ?? 0;
        return typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0
          ? null
          : 'offset must be a whole number, not negative';
      },
    },
    async invoke(args: Json, { nodeId }) {
      const fields = isObject(args) ? args : new Map<string, Json>();
      const offset = Number(fields.get('offset') ?? 0);
      const cap = tree.node(nodeId).limits.outputBytes ?? PAGE_BYTES_DEFAULT;
      const page = await blobs.read(String(fields.get('handle')), offset, Math.max(1, cap - NOTE_BYTES));
      const done = { nanoDollars: 0, retryable: false, lease: null };
      if (page === null)
        return { ...done, text: textOf('There is no such handle in this run.'), failed: true, code: 'unknown-handle' };
      const note =
        page.nextOffset === null
          ? `\n[end of ${page.bytes} bytes]`
          : `\n[bytes ${offset} to ${page.nextOffset} of ${page.bytes}; go on at offset=${page.nextOffset}]`;
      return { ...done, text: textOf(`${page.text}${note}`), failed: false };
    },
  };
}
