/** How a chat becomes one prompt text, by the layout a profile names. */
import type { ChatMessage, ModelProfile, ParsedRequest } from './options.ts';

export type Layout = ModelProfile['template'];

/** The prompt of a chat, generation prompt at its end. Roles the layout does not know vanish, as with a real template. */
export function renderChat(layout: Layout, messages: readonly ChatMessage[], tools: readonly unknown[] = []): string {
  switch (layout) {
    case 'turns':
      return renderTurns(messages, tools);
    case 'chatml':
      return renderChatml(messages, tools);
    case 'prompt-only':
      return messages
        .filter((message) => message.role !== 'system')
        .map((message) => message.content)
        .join('');
  }
}

/** /api/generate as a chat of system and prompt. */
export function generateMessages(profile: ModelProfile, request: ParsedRequest): readonly ChatMessage[] {
  const system = request.system ?? profile.system ?? '';
  const prompt: ChatMessage = { role: 'user', content: request.prompt };
  return system === '' ? [prompt] : [{ role: 'system', content: system }, prompt];
}

/** A template in the request: the two fields people use; everything else of Go's template language stays as it is. */
export function fillTemplate(profile: ModelProfile, request: ParsedRequest): string {
  const system = request.system ?? profile.system ?? '';
  const fields: Readonly<Record<string, string>> = { System: system, Prompt: request.prompt };
  return request.template.replace(/\{\{-?\s*\.(System|Prompt)\s*-?\}\}/g, (_match, name: string) => fields[name] ?? '');
}

/** The system text goes into the first user turn; an assistant turn at the end stays open, to be continued. */
function renderTurns(messages: readonly ChatMessage[], tools: readonly unknown[]): string {
  let system = [
    toolText(tools),
    ...messages.filter((message) => message.role === 'system').map((message) => message.content),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
  let text = '';
  messages.forEach((message, index) => {
    const isLast = index === messages.length - 1;
    if (message.role === 'user' || message.role === 'tool') {
      const head = system === '' ? '' : `${system}\n\n`;
      system = '';
      text += `<start_of_turn>user\n${head}${message.content}<end_of_turn>\n`;
      if (isLast) text += '<start_of_turn>model\n';
    } else if (message.role === 'assistant') {
      text += `<start_of_turn>model\n${assistantText(message)}${isLast ? '' : '<end_of_turn>\n'}`;
    }
  });
  return text;
}

function renderChatml(messages: readonly ChatMessage[], tools: readonly unknown[]): string {
  const head = tools.length > 0 ? `<|im_start|>system\n${toolText(tools)}<|im_end|>\n` : '';
  const open = messages.at(-1)?.role === 'assistant' ? messages.at(-1) : undefined;
  const closed = open === undefined ? messages : messages.slice(0, -1);
  const turns = closed.map((message) => `<|im_start|>${message.role}\n${assistantText(message)}<|im_end|>\n`);
  const thought = open?.thinking === undefined ? '' : `<think>\n${open.thinking}\n</think>\n\n`;
  return `${head}${turns.join('')}<|im_start|>assistant\n${open === undefined ? '' : thought + assistantText(open)}`;
}

function assistantText(message: ChatMessage): string {
  const calls = (message.toolCalls ?? []).map((call) => `<tool_call>${JSON.stringify(call.function)}</tool_call>`);
  return [message.content, ...calls].filter((part) => part !== '').join('\n');
}

/** Tool schemas cost prompt tokens in every turn. */
function toolText(tools: readonly unknown[]): string {
  return tools.length === 0 ? '' : `You may call these tools:\n${tools.map((tool) => JSON.stringify(tool)).join('\n')}`;
}
