/** The messages of one cell: document and question in one user message, which both routes take. */
import type { Message } from '../../contract/calls.ts';

export interface PromptParts {
  readonly document: string;
  readonly question: string;
  readonly position: 'last' | 'first';
}

export function contextMessages(parts: PromptParts): Message[] {
  const asked = `Question: ${parts.question}`;
  const content = parts.position === 'last' ? `${parts.document}\n\n${asked}` : `${asked}\n\n${parts.document}`;
  return [{ role: 'user', content }];
}
