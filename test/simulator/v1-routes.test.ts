/** What the compatibility routes do beyond the recordings: rules read in the server's behaviour sheet. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../shared/node/simulator/index.ts';
import type { BrainAsk, ModelText, Simulator } from '../../shared/node/simulator/options.ts';
import { profileOf } from '../../shared/node/simulator/profiles.ts';
import { rawRequest, type ChunkedReply } from './raw-http.ts';

let simulator: Simulator;
let asked: BrainAsk | null = null;
let said: ModelText = { pieces: ['Yes.'] };

beforeAll(async () => {
  simulator = await startSimulator({
    port: 0,
    timeScale: 0,
    profiles: [
      profileOf({ name: 'm:latest', template: 'chatml' }),
      profileOf({ name: 'deep:latest', family: 'template', template: 'chatml' }),
      profileOf({ name: 'oss:latest', family: 'harmony', template: 'chatml' }),
      profileOf({ name: 'caller:latest', family: 'qwen3', template: 'chatml' }),
      profileOf({
        name: 'vectors:latest',
        capabilities: ['embedding'],
        trainedContext: 512,
        embeddingLength: 64,
        addBos: false,
      }),
    ],
    brain: (ask) => {
      asked = ask;
      return said;
    },
  });
});
afterAll(() => simulator.stop());

const post = (path: string, body: object): Promise<ChunkedReply> =>
  rawRequest(simulator.url, { method: 'POST', path, body });
const json = (reply: ChunkedReply): Record<string, unknown> => JSON.parse(reply.body) as Record<string, unknown>;
const events = (reply: ChunkedReply): unknown[] =>
  reply.body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as unknown);
const hi = [{ role: 'user', content: 'hi' }];
const tools = [
  {
    type: 'function',
    function: { name: 'lookup', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
  },
];

describe('/v1/chat/completions', () => {
  test('only max_tokens bounds the reply; options and max_completion_tokens do nothing', async () => {
    said = { pieces: Array.from({ length: 50 }, (_, index) => ` w${index}`) };
    const ignored = json(
      await post('/v1/chat/completions', {
        model: 'm',
        messages: hi,
        max_completion_tokens: 3,
        options: { num_predict: 4, num_ctx: 8 },
      }),
    );
    expect(ignored['usage']).toMatchObject({ completion_tokens: 51 });
    const bounded = json(await post('/v1/chat/completions', { model: 'm', messages: hi, max_tokens: 3 }));
    expect(bounded).toMatchObject({
      choices: [{ message: { content: ' w0 w1 w2' }, finish_reason: 'length' }],
      usage: { completion_tokens: 3 },
    });
    said = { pieces: ['Yes.'] };
  });

  test('temperature and top_p are 1 when absent', async () => {
    await post('/v1/chat/completions', { model: 'm', messages: hi, stop: 'x', seed: 4 });
    expect(asked?.request.options).toEqual({ temperature: 1, top_p: 1, stop: ['x'], seed: 4 });
  });

  test('each part of a content list is a message of its own', async () => {
    await post('/v1/chat/completions', {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    });
    expect(asked?.request.messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
  });

  test('a tool result finds the name of its call', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '{"q":"x"}' } };
    await post('/v1/chat/completions', {
      model: 'caller',
      messages: [
        ...hi,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'found' },
      ],
    });
    expect(asked?.request.messages?.slice(1)).toEqual([
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'call_1', function: { index: 0, name: 'lookup', arguments: { q: 'x' } } }],
      },
      { role: 'tool', content: 'found', toolName: 'lookup', toolCallId: 'call_1' },
    ]);
  });

  test.each([
    ['none', false],
    ['minimal', 'low'],
    ['high', 'high'],
    ['xhigh', 'max'],
  ])('reasoning_effort %s is think %s', async (effort, think) => {
    await post('/v1/chat/completions', { model: 'oss', messages: hi, reasoning_effort: effort });
    expect(asked?.thinkSetting).toBe(think);
  });

  test.each([
    [{ model: 'm', messages: [] }, 400, "[] is too short - 'messages'", 'invalid_request_error'],
    [
      { model: 'm', messages: hi, reasoning_effort: 'banana' },
      400,
      `invalid reasoning value: 'banana' (must be "high", "medium", "low", "max", or "none")`,
      'invalid_request_error',
    ],
    [
      { model: 'm', messages: [{ role: 'user', content: 5 }] },
      400,
      'invalid message content type: float64',
      'invalid_request_error',
    ],
    [{ model: 'none', messages: hi }, 404, "model 'none' not found", 'not_found_error'],
  ])('%j is refused', async (body, status, message, type) => {
    const reply = await post('/v1/chat/completions', body);
    expect({ status: reply.status, body: json(reply) }).toEqual({
      status,
      body: { error: { message, type, param: null, code: null } },
    });
  });

  test('a failure in mid-stream loses its text: an empty chunk without a model, no [DONE]', async () => {
    said = { pieces: ['one ', 'two '], dies: true };
    const reply = await post('/v1/chat/completions', { model: 'm', messages: hi, stream: true });
    expect(events(reply).at(-1)).toMatchObject({
      model: '',
      choices: [{ index: 0, delta: {}, finish_reason: null }],
    });
    expect({ status: reply.status, done: reply.body.includes('[DONE]') }).toEqual({ status: 200, done: false });
    said = { pieces: ['Yes.'] };
  });

  test('harmony: the call of the done chunk comes before the finish chunk', async () => {
    said = { pieces: ['<|channel|>commentary to=functions.lookup<|message|>', '{"q":"x"}'] };
    const reply = await post('/v1/chat/completions', { model: 'oss', messages: hi, tools, stream: true });
    expect(events(reply)).toMatchObject([
      {
        choices: [
          {
            delta: {
              role: 'assistant',
              content: '',
              tool_calls: [{ index: 0, type: 'function', function: { name: 'lookup', arguments: '{"q":"x"}' } }],
            },
            finish_reason: null,
          },
        ],
      },
      { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
    ]);
    expect(reply.chunks).toHaveLength(1);
    said = { pieces: ['Yes.'] };
  });

  test('thinking and answer of one piece come in two deltas of one write', async () => {
    said = { pieces: ['<think>hm</think>Yes.'] };
    const reply = await post('/v1/chat/completions', { model: 'deep', messages: hi, stream: true });
    expect(events(reply)).toMatchObject([
      { choices: [{ delta: { role: 'assistant', content: '', reasoning: 'hm' } }] },
      { choices: [{ delta: { content: 'Yes.' } }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ]);
    expect(reply.chunks).toHaveLength(2);
    said = { pieces: ['Yes.'] };
  });

  test('response_format becomes format', async () => {
    await post('/v1/chat/completions', { model: 'm', messages: hi, response_format: { type: 'json_object' } });
    expect(asked?.request.format).toBe('json');
    await post('/v1/chat/completions', {
      model: 'm',
      messages: hi,
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    });
    expect(asked?.request.format).toEqual({ type: 'object' });
  });
});

describe('bodies', () => {
  test.each([
    ['/v1/chat/completions', '', 'EOF'],
    ['/v1/chat/completions', '{"model":"m"', 'unexpected EOF'],
    [
      '/v1/chat/completions',
      '{"model":5}',
      'json: cannot unmarshal number into Go struct field ChatCompletionRequest.model of type string',
    ],
    ['/v1/chat/completions', '[]', 'json: cannot unmarshal array into Go value of type openai.ChatCompletionRequest'],
    [
      '/v1/completions',
      '{"model":"m","prompt":["a"]}',
      'json: cannot unmarshal array into Go struct field CompletionRequest.prompt of type string',
    ],
    [
      '/v1/messages',
      '{"max_tokens":"5"}',
      'json: cannot unmarshal string into Go struct field MessagesRequest.max_tokens of type int',
    ],
    [
      '/v1/responses',
      '{"stream":1}',
      'json: cannot unmarshal number into Go struct field ResponsesRequest.stream of type bool',
    ],
  ])('%s %j is refused', async (path, body, message) => {
    const reply = await rawRequest(simulator.url, { method: 'POST', path, body });
    expect({ status: reply.status, message: (json(reply)['error'] as { message: string }).message }).toEqual({
      status: 400,
      message,
    });
  });

  test('a model that fails before its first chunk: an error of unknown length when streaming, of known length when not', async () => {
    said = { pieces: ['<tool_call>nope</tool_call>'] };
    for (const stream of [true, false]) {
      const reply = await post('/v1/chat/completions', { model: 'caller', messages: hi, tools, stream });
      expect({ status: reply.status, chunked: reply.chunked, body: json(reply) }).toEqual({
        status: 500,
        chunked: stream,
        body: {
          error: {
            message: "failed to parse JSON: invalid character 'o' in literal null (expecting 'u')",
            type: 'api_error',
            param: null,
            code: null,
          },
        },
      });
    }
    said = { pieces: ['Yes.'] };
  });
});

describe('/v1/models/{name}', () => {
  test('one model, by its name as asked; another is not found', async () => {
    const found = await rawRequest(simulator.url, { method: 'GET', path: '/v1/models/deep' });
    expect({ status: found.status, ...json(found), created: 0 }).toEqual({
      status: 200,
      id: 'deep',
      object: 'model',
      created: 0,
      owned_by: 'library',
    });
    const missing = await rawRequest(simulator.url, { method: 'GET', path: '/v1/models/none' });
    expect({ status: missing.status, body: json(missing) }).toEqual({
      status: 404,
      body: { error: { message: "model 'none:latest' not found", type: 'not_found_error', param: null, code: null } },
    });
  });
});

describe('/v1/completions', () => {
  test('streams text, with usage zero until the end', async () => {
    said = { pieces: ['a', 'b'] };
    const reply = await post('/v1/completions', {
      model: 'm',
      prompt: 'hi',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(
      events(reply).map((event) => [
        (event as { choices: { text: string }[] }).choices[0]?.text,
        (event as { usage: { completion_tokens: number } }).usage.completion_tokens,
      ]),
    ).toEqual([
      ['a', 0],
      ['b', 0],
      ['', 0],
      [undefined, 3],
    ]);
    expect(reply.body.endsWith('data: [DONE]\n\n')).toBe(true);
    said = { pieces: ['Yes.'] };
  });
});

describe('/v1/embeddings', () => {
  test('base64 carries the same numbers', async () => {
    const plain = json(await post('/v1/embeddings', { model: 'vectors', input: 'hello' })) as {
      data: { embedding: number[] }[];
    };
    const packed = json(
      await post('/v1/embeddings', { model: 'vectors', input: 'hello', encoding_format: 'base64' }),
    ) as { data: { embedding: string }[] };
    const bytes = Buffer.from(packed.data[0]?.embedding ?? '', 'base64');
    const numbers = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
    expect(numbers).toEqual(plain.data[0]?.embedding.map(Math.fround));
  });

  test.each([
    [{ model: 'vectors', input: [] }, 'invalid input'],
    [
      { model: 'vectors', input: 'x', encoding_format: 'hex' },
      "Invalid value for 'encoding_format' = hex. Supported values: ['float', 'base64'].",
    ],
  ])('%j is refused', async (body, message) => {
    const reply = await post('/v1/embeddings', body);
    expect({ status: reply.status, message: (json(reply)['error'] as { message: string }).message }).toEqual({
      status: 400,
      message,
    });
  });
});

describe('/v1/messages', () => {
  test('blocks follow each other: thinking, text, a call', async () => {
    said = { pieces: ['Let me look. ', '<tool_call>', '{"name":"lookup","arguments":{"q":"x"}}', '</tool_call>'] };
    const reply = await post('/v1/messages', {
      model: 'caller',
      max_tokens: 50,
      messages: hi,
      stream: true,
      tools: [{ name: 'lookup', input_schema: { type: 'object', properties: { q: { type: 'string' } } } }],
    });
    expect(events(reply)).toMatchObject([
      { type: 'message_start' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me look.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', name: 'lookup', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"q":"x"}' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ]);
    said = { pieces: ['Yes.'] };
  });

  test('thinking that the model cannot do is dropped, not refused', async () => {
    expect(
      (
        await post('/v1/messages', {
          model: 'm',
          max_tokens: 5,
          messages: hi,
          thinking: { type: 'enabled', budget_tokens: 10 },
        })
      ).status,
    ).toBe(200);
  });

  test('tool results of a turn come before its text', async () => {
    const content = [
      { type: 'text', text: 'and now?' },
      { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'found' }] },
    ];
    await post('/v1/messages', {
      model: 'caller',
      max_tokens: 5,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content }],
    });
    expect(asked?.request.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'tool', content: 'found', toolCallId: 'call_1' },
      { role: 'user', content: 'and now?' },
    ]);
  });

  test.each([
    [{ max_tokens: 5, messages: hi }, 400, 'invalid_request_error', 'model is required'],
    [{ model: 'm', messages: hi }, 400, 'invalid_request_error', 'max_tokens is required and must be positive'],
    [{ model: 'm', max_tokens: 5, messages: [] }, 400, 'invalid_request_error', 'messages is required'],
    [{ model: 'none', max_tokens: 5, messages: hi }, 404, 'not_found_error', "model 'none' not found"],
  ])('%j is refused', async (body, status, type, message) => {
    const reply = await post('/v1/messages', body);
    const refused = json(reply);
    expect({ status: reply.status, ...refused, request_id: String(refused['request_id']).slice(0, 4) }).toEqual({
      status,
      type: 'error',
      error: { type, message },
      request_id: 'req_',
    });
  });
});

describe('headers of a stream that is announced', () => {
  test.each(['/v1/messages', '/v1/responses'])(
    '%s: also with an error; a client that keeps the connection is told so',
    async (path) => {
      const names = async (model: string, headers: Record<string, string>): Promise<string[]> => {
        const body = { model, max_tokens: 5, messages: hi, input: 'hi', stream: true };
        const reply = await rawRequest(simulator.url, { method: 'POST', path, body, headers });
        return reply.headers.map(([name, value]) => (/^(?:Cache|Conn)/.test(name) ? `${name}: ${value}` : name));
      };
      expect(await names('m', {})).toEqual([
        'Cache-Control: no-cache',
        'Content-Type',
        'Date',
        'Connection: close',
        'Transfer-Encoding',
      ]);
      expect(await names('none', {})).toEqual([
        'Cache-Control: no-cache',
        'Content-Type',
        'Date',
        'Content-Length',
        'Connection: close',
      ]);
      const kept = await fetch(simulator.url + path, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', max_tokens: 5, messages: hi, input: 'hi', stream: true }),
      });
      await kept.text();
      expect([kept.headers.get('cache-control'), kept.headers.get('connection')]).toEqual(['no-cache', 'keep-alive']);
    },
  );
});

describe('/v1/responses', () => {
  test('a streamed reply numbers its events and ends with the whole response', async () => {
    said = { pieces: ['<think>', 'hm', '</think>', 'Yes', '.'] };
    const reply = await post('/v1/responses', { model: 'deep', input: 'hi', stream: true });
    const list = events(reply) as { type: string; sequence_number: number }[];
    expect(list.map((event) => event.type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(list.map((event) => event.sequence_number)).toEqual(list.map((_, index) => index));
    expect(list.at(-1)).toMatchObject({
      response: {
        status: 'completed',
        output: [{ type: 'reasoning' }, { type: 'message', content: [{ text: 'Yes.' }] }],
        usage: { output_tokens: 6 },
      },
    });
    said = { pieces: ['Yes.'] };
  });

  test('items become messages, calls join the assistant before them', async () => {
    const input = [
      { role: 'user', content: 'q' },
      { type: 'reasoning', encrypted_content: 'hm' },
      { type: 'function_call', call_id: 'call_1', name: 'lookup', arguments: '{"q":"x"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'found' },
    ];
    await post('/v1/responses', { model: 'caller', instructions: 'Be brief.', input });
    expect(asked?.request.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: '',
        thinking: 'hm',
        toolCalls: [{ id: 'call_1', function: { name: 'lookup', arguments: { q: 'x' } } }],
      },
      { role: 'tool', content: 'found', toolCallId: 'call_1' },
    ]);
  });
});
