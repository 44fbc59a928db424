/** An MCP server whose every text is an attempt: to be run, to be taken for a person, to break a layout. */
import { attack, farmPage, longName } from '../hostile-texts.ts';
import { behave, text } from '../../node/mcp/children/wire.ts';

const tool = (name: string): unknown => ({
  name,
  description: `${attack} ${'d'.repeat(5_000)}`,
  inputSchema: { type: 'object', properties: { [attack]: { type: 'string', description: attack } } },
  annotations: { readOnlyHint: true, title: attack },
});

behave({
  tools: ['read_page', longName, attack, 'huge'].map(tool),
  call(id, { name }, wire) {
    if (name === 'huge') wire.result(id, text(`${attack}\n${'0123456789'.repeat(1_000_000)}`));
    else if (name === attack) wire.result(id, { content: [{ type: 'text', text: attack }], isError: true });
    else wire.result(id, text(farmPage));
  },
});
