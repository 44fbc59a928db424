/** Approvals on the command line: asked on a terminal, one after the other; where there is none the answer is no. */
import { createInterface } from 'node:readline';
import type { Approval } from '../../contract/agents.ts';
import { exactDollars, nanoDollars } from '../../contract/costs.ts';
import { plainText } from './plain-text.ts';

export interface Person {
  /** Resolves with the answer; no when the question was taken back meanwhile. */
  ask(approval: Approval): Promise<boolean>;
  /** Nobody has to answer that any more. */
  takeBack(id: string): void;
  release(): void;
}

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export function createPerson({ input, output }: Terminal): Person {
  const isThere = input.isTTY === true && output.isTTY === true;
  const waiting: { readonly approval: Approval; resolve(allow: boolean): void }[] = [];
  let lines: ReturnType<typeof createInterface> | null = null;
  let isClosed = false;

  function show(): void {
    const [first] = waiting;
    if (first === undefined) return;
    output.write(`${questionOf(first.approval)} [y/N] `);
    if (lines !== null) return;
    lines = createInterface({ input, terminal: false });
    lines.on('line', (line) => {
      const answered = waiting.shift();
      answered?.resolve(/^\s*y(?:es)?\s*$/i.test(line));
      show();
    });
    lines.on('close', () => {
      isClosed = true;
      for (const { resolve } of waiting.splice(0)) resolve(false);
    });
  }

  return {
    ask(approval) {
      if (!isThere || isClosed) {
        output.write(`${questionOf(approval)} Denied: there is no terminal to ask on.\n`);
        return Promise.resolve(false);
      }
      return new Promise((resolve) => {
        waiting.push({ approval, resolve });
        if (waiting.length === 1) show();
      });
    },
    takeBack(id) {
      const at = waiting.findIndex(({ approval }) => approval.id === id);
      if (at < 0) return;
      const [gone] = waiting.splice(at, 1);
      gone?.resolve(false);
      if (at !== 0) return;
      output.write('taken back\n');
      show();
    },
    release() {
      isClosed = true;
      lines?.close();
    },
  };
}

function questionOf({ kind, nodeId, call, nanoDollarsWorst, exhaustion, limitAsked }: Approval): string {
  const who = plainText(nodeId, 60);
  if (kind === 'raise' && exhaustion !== null) {
    const { dimension, limit } = exhaustion;
    return `${who} has used up its ${dimension} (${limit}). Raise the limit once to ${limitAsked ?? limit}?`;
  }
  const price = nanoDollarsWorst === null ? '' : ` for at most ${exactDollars(nanoDollars(nanoDollarsWorst))}`;
  return `${who} asks for ${plainText(call?.tool ?? 'a call', 100)} ${plainText(call?.argumentsHead ?? '', 300)}${price}. Allow it?`;
}
