/** How the families write tool calls, and what becomes of calls that cannot be read. Texts of errors are the server's. */
import type { FamilyWarning } from './index.ts';
import { parseGoJson, parseGoJsonObject } from './go-json.ts';
import type { PlainCall, SpanTools, ToolRead } from './spans.ts';
import { describeTool, record } from './template.ts';
import { parsePythonCalls } from './python-calls.ts';

/** `<tool_call>{"name": …, "arguments": {…}}</tool_call>` */
export const qwenJsonTools: SpanTools = {
  openTag: '<tool_call>',
  joined: true,
  endsThinking: true,
  read: (buffer) =>
    upTo(buffer, '</tool_call>', (text) => {
      const parsed = parseGoJsonObject(text.trim());
      const error = !parsed.ok
        ? `failed to parse JSON: ${parsed.error}`
        : typeof parsed.value['name'] !== 'string' || parsed.value['name'] === ''
          ? 'empty function name'
          : null;
      if (error !== null)
        return failed(error, [
          { source: 'qwen3.go:117', message: 'qwen3 tool call parsing failed', fields: { error } },
        ]);
      return parsed.ok ? [named(parsed.value)] : [];
    }),
};

/** The same writing, refused with Go's own words. */
export const qwenVlTools: SpanTools = {
  ...qwenJsonTools,
  read(buffer) {
    const read = upTo(buffer, '</tool_call>', (text) => {
      const parsed = parseGoJsonObject(text);
      if (parsed.ok) return [named(parsed.value)];
      return failed(parsed.error, [
        { source: 'qwen3vl.go:97', message: 'qwen tool call parsing failed', fields: { error: parsed.error } },
      ]);
    });
    return read.kind === 'calls' ? { ...read, eats: true } : read;
  },
};

/** `<tool_call><function=name><parameter=key>value</parameter></function></tool_call>` */
export const qwenXmlTools: SpanTools = {
  openTag: '<tool_call>',
  joined: true,
  endsThinking: true,
  read: (buffer, tools) =>
    upTo(buffer, '</tool_call>', (text) => {
      const parsed = readFunctionElement(text, tools);
      if (typeof parsed !== 'string') return [parsed];
      return failed(parsed, [
        { source: 'qwen3coder.go:71', message: 'qwen tool call parsing failed', fields: { error: parsed } },
        { source: 'qwen35.go:108', message: 'qwen3.5 tool call parsing failed', fields: { error: parsed } },
      ]);
    }),
};

/** `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>` */
export const glmTools: SpanTools = {
  openTag: '<tool_call>',
  joined: true,
  endsThinking: false,
  read: (buffer, tools) =>
    upTo(buffer, '</tool_call>', (text) => {
      const parsed = readArgumentPairs(text.trim(), tools);
      if (typeof parsed !== 'string') return [parsed];
      return failed(parsed, [
        { source: 'glm46.go:104', message: 'glm-4.6 tool call parsing failed', fields: { error: parsed } },
      ]);
    }),
};

const deepseek = {
  listEnd: '<｜tool▁calls▁end｜>',
  callBegin: '<｜tool▁call▁begin｜>',
  callEnd: '<｜tool▁call▁end｜>',
  separator: '<｜tool▁sep｜>',
};

/** A list of calls, each `name<sep>{…}`; what cannot be read is dropped. */
export const deepseekTools: SpanTools = {
  openTag: '<｜tool▁calls▁begin｜>',
  joined: false,
  endsThinking: false,
  read(buffer) {
    const begin = buffer.indexOf(deepseek.callBegin);
    const close = begin === -1 ? -1 : buffer.indexOf(deepseek.callEnd, begin);
    if (close !== -1) {
      const [name = '', text = ''] = buffer.slice(begin + deepseek.callBegin.length, close).split(deepseek.separator);
      const parsed = parseGoJsonObject(text.trim());
      if (parsed.ok)
        return {
          kind: 'calls',
          calls: [{ name: name.trim(), arguments: parsed.value }],
          rest: buffer.slice(close + deepseek.callEnd.length).trimStart(),
          more: true,
        };
    }
    const listEnd = buffer.indexOf(deepseek.listEnd);
    if (listEnd === -1) return { kind: 'wait' };
    return { kind: 'calls', calls: [], rest: buffer.slice(listEnd + deepseek.listEnd.length).trimStart(), more: false };
  },
};

/** `<|tool_call_start|>[name(key='value')]<|tool_call_end|>` */
export const pythonTools: SpanTools = {
  openTag: '<|tool_call_start|>',
  joined: false,
  endsThinking: false,
  read(buffer) {
    const close = buffer.indexOf('<|tool_call_end|>');
    const calls = close === -1 ? null : parsePythonCalls(buffer.slice(0, close));
    if (calls === null) return { kind: 'wait' };
    const rest = buffer.slice(close + '<|tool_call_end|>'.length);
    const more = rest.startsWith('<|tool_call_start|>');
    return { kind: 'calls', calls, rest: more ? rest.slice('<|tool_call_start|>'.length) : rest.trimStart(), more };
  },
};

/** `<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>`; read at the end of the reply even without the close tag. */
export const gemmaTools: SpanTools = {
  openTag: '<|tool_call>',
  joined: true,
  endsThinking: false,
  read(buffer, _tools, ended) {
    const close = buffer.indexOf('<tool_call|>');
    if (close === -1 && !ended) return { kind: 'wait' };
    const text = close === -1 ? buffer : buffer.slice(0, close);
    const call = readGemmaCall(text);
    const warnings: FamilyWarning[] =
      call === null
        ? [{ source: 'gemma4.go:372', message: 'gemma4 tool call parsing failed', fields: { content: text } }]
        : [];
    const rest = close === -1 ? '' : buffer.slice(close + '<tool_call|>'.length).trimStart();
    return { kind: 'calls', calls: call === null ? [] : [call], rest, more: false, warnings };
  },
};

type Read = readonly PlainCall[] | Extract<ToolRead, { kind: 'error' }>;

const failed = (error: string, warnings: readonly FamilyWarning[]): Extract<ToolRead, { kind: 'error' }> => ({
  kind: 'error',
  error,
  warnings,
});

function upTo(buffer: string, closeTag: string, read: (text: string) => Read): ToolRead {
  const close = buffer.indexOf(closeTag);
  if (close === -1) return { kind: 'wait' };
  const result = read(buffer.slice(0, close));
  if ('kind' in result) return result;
  return { kind: 'calls', calls: result, rest: buffer.slice(close + closeTag.length).trimStart(), more: false };
}

const named = (value: Readonly<Record<string, unknown>>): PlainCall => ({
  name: typeof value['name'] === 'string' ? value['name'] : '',
  arguments: record(value['arguments']),
});

/** The call, or Go's XML error. */
function readFunctionElement(text: string, tools: readonly unknown[]): PlainCall | string {
  const tags = [...text.matchAll(/<(function|parameter)=([^>]+)>|<\/(function|parameter)>/g)];
  const first = tags[0];
  if (first === undefined) return 'EOF';
  if (first[1] !== 'function')
    return first[1] === undefined
      ? syntax(text, first.index, `unexpected end element </${first[3] ?? ''}>`)
      : 'expected element type <function> but have <parameter>';
  const name = first[2] ?? '';
  const found: Record<string, unknown> = {};
  let open: RegExpMatchArray | null = null;
  for (const tag of tags.slice(1)) {
    if (tag[1] === 'parameter' && open === null) open = tag;
    else if (tag[3] === 'parameter' && open !== null) {
      const key = open[2] ?? '';
      found[key] = typedValue(text.slice((open.index ?? 0) + open[0].length, tag.index), typesOf(tools, name, key));
      open = null;
    } else if (tag[3] === 'function' && open === null) return { name, arguments: found };
    else
      return syntax(
        text,
        tag.index,
        `element <${open === null ? 'function' : 'parameter'}> closed by </${tag[3] ?? 'function'}>`,
      );
  }
  return syntax(text, text.length, 'unexpected EOF');
}

const syntax = (text: string, at: number, what: string): string =>
  `XML syntax error on line ${text.slice(0, at).split('\n').length}: ${what}`;

function readArgumentPairs(text: string, tools: readonly unknown[]): PlainCall | string {
  const name = (text.split('<arg_key>')[0] ?? '').trim();
  if (name === '') return 'empty function name';
  const keys = [...text.matchAll(/<arg_key>([\s\S]*?)<\/arg_key>/g)].map((match) => (match[1] ?? '').trim());
  const values = [...text.matchAll(/<arg_value>([\s\S]*?)<\/arg_value>/g)].map((match) => match[1] ?? '');
  if (keys.length !== values.length)
    return `mismatched arg_key and arg_value counts: ${keys.length} keys, ${values.length} values`;
  return {
    name,
    arguments: Object.fromEntries(
      keys.map((key, index) => [key, typedValue(values[index] ?? '', typesOf(tools, name, key))]),
    ),
  };
}

function typesOf(tools: readonly unknown[], name: string, key: string): readonly string[] {
  const tool = tools.map(describeTool).find((entry) => entry.name === name);
  const property = record(tool?.parameters[key]);
  const kinds = Array.isArray(property['anyOf'])
    ? property['anyOf'].map((one) => record(one)['type'])
    : [property['type']];
  return kinds.flat().filter((kind): kind is string => typeof kind === 'string');
}

/** Text of a parameter as the first of its types that can read it; text where none can. */
function typedValue(raw: string, types: readonly string[]): unknown {
  const text = raw.replace(/^\n/, '').replace(/\n$/, '');
  if (text.toLowerCase() === 'null') return null;
  if (types.includes('boolean')) {
    if (text.toLowerCase() === 'true') return true;
    if (text.toLowerCase() === 'false' || types.length === 1) return false;
  }
  if (types.includes('integer') && /^[+-]?\d+$/.test(text)) return Number(text);
  if (types.includes('number') && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  const structured = types.includes('array') || types.includes('object') ? parseGoJson(text) : null;
  if (
    structured?.ok === true &&
    types.includes(Array.isArray(structured.value) ? 'array' : 'object') &&
    typeof structured.value === 'object'
  )
    return structured.value;
  return text;
}

/** Bare keys and `<|"|>` around strings become JSON; null where that is not enough. */
function readGemmaCall(text: string): PlainCall | null {
  const head = /^call:([^{]+)/.exec(text);
  if (head === null) return null;
  const strings: string[] = [];
  const body = text
    .slice(head[0].length)
    .replace(/<\|"\|>([\s\S]*?)<\|"\|>/g, (_all, inner: string) => `"\u0000${strings.push(JSON.stringify(inner)) - 1}"`)
    .replace(/([{,]\s*)([A-Za-z_][\w.-]*)\s*:/g, '$1"$2":')
    .replace(/"\u0000(\d+)"/g, (_all, index: string) => strings[Number(index)] ?? '""');
  const parsed = parseGoJsonObject(body.trim());
  return parsed.ok ? { name: (head[1] ?? '').trim(), arguments: parsed.value } : null;
}
