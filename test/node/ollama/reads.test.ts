import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DoorLogEntry, OllamaDoor } from '../../../shared/node/ollama/door.ts';
import { createOllamaDoor } from '../../../shared/node/ollama/door.ts';
import { embeddingOf } from '../../../shared/node/ollama/embedding.ts';
import { factsOf, isCloud, modelsOf, runningOf, versionOf } from '../../../shared/node/ollama/facts.ts';
import { modelFactsSchema, modelSummarySchema, runningModelSchema } from '../../../shared/contract/server.ts';
import { milliseconds, tokens } from '../../../shared/contract/units.ts';
import { clock, freePort, never, recording, serve } from './support.ts';

/** A server that answers each path with one recording (in which long vectors were shortened, with a note as the last entry). */
async function replaying(answers: Readonly<Record<string, string>>): Promise<{ door: OllamaDoor; bodies: string[] }> {
  const bodies: string[] = [];
  const url = await serve((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      bodies.push(body);
      const { response: recorded } = recording(answers[request.url ?? ''] ?? 'real/path-unknown');
      response
        .writeHead(recorded.status, { 'Content-Type': 'application/json' })
        .end(recorded.body.replaceAll(/,"… \d+ numbers"/g, ''));
    });
  });
  return { door: createOllamaDoor({ url, clock }), bodies };
}

const answering = async (status: number, body: string, headers: Record<string, string> = {}): Promise<OllamaDoor> =>
  createOllamaDoor({ url: await serve((_request, response) => response.writeHead(status, headers).end(body)), clock });

describe('recorded reads', () => {
  test('version, tags and ps', async () => {
    const { door } = await replaying({
      '/api/version': 'real/version',
      '/api/tags': 'real/tags',
      '/api/ps': 'real/ps-loaded',
    });
    expect(await door.version(never)).toEqual({ ok: true, value: '0.33.0-rc2' });
    expect(await door.tags(never)).toEqual({
      ok: true,
      value: [
        expect.objectContaining({
          name: 'probe-native:latest',
          trainedContext: 32_768,
          capabilities: ['completion'],
          cloud: false,
        }),
        {
          name: 'probe-rendered:latest',
          digest: '06d47661e516aef9a600d36ac3ba02af3a6e901436d6d36e411ec89fa179385d',
          sizeBytes: 253_113_709,
          family: 'gemma3',
          parameterSize: '268.10M',
          quantization: 'Q4_K_M',
          trainedContext: 32_768,
          capabilities: ['completion'],
          cloud: false,
        },
      ],
    });
    const running = [
      {
        name: 'probe-native:latest',
        digest: '14f8ac0fb3c4d0781f89e8e94fb0f50f6074e4433c57f2974444117109948bb3',
        contextLength: 4096,
        sizeBytes: 287_246_908,
        vramBytes: 0,
        expiresAt: '2026-11-29T19:51:31.805051934Z',
      },
    ];
    expect(await door.ps(never)).toEqual({ ok: true, value: running });
    expect(await door.running(never)).toEqual(running);
  });

  test('an empty ps is an empty list, not an unknown one', async () => {
    expect(await (await answering(200, '{"models":[]}')).running(never)).toEqual([]);
    expect(await (await answering(200, '{"models":null}')).running(never)).toEqual([]);
    expect(await (await answering(200, '{"status":"ok"}')).running(never)).toBeNull();
  });

  test('show of a model with a template of its own, with the digest from the list', async () => {
    const { door, bodies } = await replaying({ '/api/show': 'real/show-rendered', '/api/tags': 'real/tags' });
    expect(await door.show('probe-rendered', never)).toEqual({
      ok: true,
      value: {
        name: 'probe-rendered',
        digest: '06d47661e516aef9a600d36ac3ba02af3a6e901436d6d36e411ec89fa179385d',
        architecture: 'gemma3',
        trainedContext: 32_768,
        capabilities: ['completion'],
        addsBos: true,
        promptPath: 'rendered',
        slidingWindow: 512,
        modelfileNumCtx: null,
        embeddingOnly: false,
        ownTextBytes: 100,
        keepsWindow: true,
      },
    });
    expect(bodies).toContain('{"model":"probe-rendered"}');
  });

  test('show of a model without one, and of an embedding model', async () => {
    const native = await replaying({ '/api/show': 'real/show-native' });
    expect(await native.door.show('probe-native', never)).toMatchObject({
      value: { promptPath: 'native', digest: null, addsBos: true },
    });
    const old = await replaying({ '/api/show': 'old/show-rendered', '/api/tags': 'real/tags' });
    expect(await old.door.show('probe-rendered', never)).toMatchObject({ value: { promptPath: 'rendered' } });
    const embedding = await replaying({ '/api/show': 'embed/show-embedding-model' });
    expect(await embedding.door.show('minilm', never)).toMatchObject({
      value: { embeddingOnly: true, trainedContext: 512, addsBos: null, slidingWindow: null, architecture: 'bert' },
    });
  });

  test('an unknown model is named as such', async () => {
    const { door } = await replaying({ '/api/show': 'real/show-unknown', '/api/tags': 'real/tags' });
    expect(await door.show('nope', never)).toMatchObject({
      ok: false,
      denial: { code: 'unknown-model', next: expect.any(String) },
    });
  });

  test('embeddings: counts, cut or refused', async () => {
    const two = await replaying({ '/api/embed': 'embed/embed-two' });
    const answer = await two.door.embed({ model: 'minilm', input: ['a', 'b'] }, never);
    expect(answer).toMatchObject({
      ok: true,
      value: { embeddings: [expect.any(Array), expect.any(Array)], promptEvalCount: expect.any(Number) },
    });
    expect(two.bodies).toEqual(['{"model":"minilm","input":["a","b"]}']);

    const empty = await replaying({ '/api/embed': 'embed/embed-empty-list' });
    expect(await empty.door.embed({ model: 'minilm', input: [] }, never)).toMatchObject({
      value: { embeddings: [], promptEvalCount: null },
    });

    const over = await replaying({ '/api/embed': 'embed/embed-truncate-false' });
    const asked = { model: 'minilm', input: 'x', truncate: false, numCtx: tokens(128), dimensions: 3 };
    expect(await over.door.embed(asked, never)).toMatchObject({ ok: false, denial: { code: 'over-window' } });
    expect(over.bodies).toEqual([
      '{"model":"minilm","input":"x","truncate":false,"dimensions":3,"options":{"num_ctx":128}}',
    ]);

    const wrong = await replaying({ '/api/embed': 'real/embed-unsupported' });
    expect(await wrong.door.embed({ model: 'm', input: 'x' }, never)).toMatchObject({
      ok: false,
      denial: { code: 'unsupported' },
    });
    expect(await wrong.door.embed({ model: 'm', input: 'x', numCtx: tokens(0) }, never)).toMatchObject({
      denial: { code: 'bad-input', field: 'numCtx' },
    });
  });
});

describe('refusals of reads', () => {
  test.each<[number, string, string, string]>([
    [503, '{"error":"server busy, please try again.  maximum pending requests exceeded"}', 'busy', 'server busy'],
    [403, '', 'not-allowed', 'Host or Origin'],
    [404, '404 page not found', 'no-server', 'is not Ollama'],
    [405, '405 method not allowed', 'no-server', 'is not Ollama'],
    [500, '{"error":"boom"}', 'server-error', 'boom'],
    [502, '<html><title>Bad Gateway</title>', 'server-error', 'HTML page'],
    [400, '{"error":"model is required"}', 'bad-input', 'model is required'],
    [
      400,
      '{"error":"{\\"error\\":{\\"message\\":\\"too long\\",\\"n_prompt_tokens\\":9,\\"n_ctx\\":8}}"}',
      'over-window',
      'too long',
    ],
    [200, '<html>hello</html>', 'no-server', 'is not Ollama'],
    [200, '{"status":"ok"}', 'no-server', 'is not Ollama'],
    [200, '"1.2.3"', 'no-server', 'is not Ollama'],
    [200, '', 'no-server', 'is not Ollama'],
  ])('%i %s is %s', async (status, body, code, words) => {
    const denied = await (await answering(status, body)).version(never);
    expect(denied).toMatchObject({
      ok: false,
      denial: { code, message: expect.stringContaining(words), next: expect.any(String) },
    });
  });

  test('a redirect is not followed', async () => {
    const door = await answering(302, '', { Location: 'http://elsewhere/' });
    expect(await door.version(never)).toMatchObject({
      denial: { code: 'no-server', message: expect.stringContaining('http://elsewhere/') },
    });
  });

  test('nobody there: the address, the reason, the next step; running is unknown, not empty', async () => {
    const port = await freePort();
    const entries: DoorLogEntry[] = [];
    const door = createOllamaDoor({ url: `127.0.0.1:${port}`, clock, log: (entry) => entries.push(entry) });
    expect(await door.version(never)).toEqual({
      ok: false,
      denial: {
        code: 'no-server',
        message: `No Ollama at 127.0.0.1:${port} (connection refused).`,
        next: 'Start it, or use the simulator.',
      },
    });
    expect(await door.running(never)).toBeNull();
    expect(entries.map((entry) => entry.path)).toEqual(['/api/version', '/api/ps']);
  });

  test('a silent server: the limit is named', async () => {
    const url = await serve(() => undefined);
    const door = createOllamaDoor({ url, clock, limits: { readTimeoutMs: 150 } });
    expect(await door.tags(never)).toMatchObject({
      denial: { code: 'no-server', message: expect.stringContaining('gave no answer to /api/tags in 0.15 s') },
    });
    expect(await door.embed({ model: 'm', input: 'x', timeoutMs: milliseconds(150) }, never)).toMatchObject({
      denial: { message: expect.stringContaining('/api/embed in 0.15 s') },
    });
  });

  test('a connection that breaks inside the document', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('{"version":', () => response.destroy());
    });
    expect(await createOllamaDoor({ url, clock }).version(never)).toMatchObject({
      denial: { code: 'server-error', message: expect.stringContaining('connection broke') },
    });
  });

  test('a wrong address throws when the door is made', () => {
    expect(() => createOllamaDoor({ url: 'ftp://x', clock })).toThrow('ftp://');
  });
});

describe('what show lets one conclude', () => {
  const path = (show: object): string => factsOf('m', { details: { format: 'gguf' }, ...show }, null).promptPath;
  test.each([
    ['the default template', { template: '{{ .Prompt }}' }, 'native'],
    ['the default template with trims', { template: ' {{- .Prompt -}}\n' }, 'native'],
    ['an empty template', { template: '' }, 'native'],
    ['a template', { template: '{{ .System }}{{ .Prompt }}' }, 'rendered'],
    ['a renderer', { template: '{{ .Prompt }}', modelfile: 'FROM x\nRENDERER qwen3-coder\n' }, 'rendered'],
    ['a parser', { template: '{{ .Prompt }}', modelfile: 'FROM x\nPARSER harmony\n' }, 'rendered'],
    [
      'the word parser inside a system text',
      { template: '{{ .Prompt }}', modelfile: 'SYSTEM """\nPARSER of dates\n"""\n' },
      'native',
    ],
    [
      'the word parser inside the licence',
      { template: '{{ .Prompt }}', modelfile: 'LICENSE """a\nRENDERER b"""\n' },
      'native',
    ],
    ['the harmony family', { template: '{{ .Prompt }}', details: { format: 'gguf', family: 'gptoss' } }, 'rendered'],
    ['safetensors', { template: 'x', details: { format: 'safetensors' } }, 'unknown'],
    ['no template at all', {}, 'unknown'],
    ['a template of the wrong type', { template: 7 }, 'unknown'],
  ])('%s', (_what, show, expected) => expect(path(show)).toBe(expected));

  test('num_ctx of the Modelfile, in any order of the parameters', () => {
    const of = (parameters: unknown): number | null => factsOf('m', { parameters }, null).modelfileNumCtx;
    expect(
      of('stop                           "a"\nnum_ctx                        8192\ntop_k                          1'),
    ).toBe(8192);
    expect(of('stop                           "num_ctx 5"')).toBeNull();
    expect(of('num_ctx                        0')).toBeNull();
    expect(of(undefined)).toBeNull();
  });

  test('begin-of-text token: said, or known from the family', () => {
    const of = (info: object): boolean | null => factsOf('m', { model_info: info }, null).addsBos;
    expect(of({ 'tokenizer.ggml.add_bos_token': false })).toBe(false);
    expect(of({ 'tokenizer.ggml.pre': 'lfm2', 'tokenizer.ggml.add_bos_token': false })).toBe(true);
    expect(of({ 'general.architecture': 'gemma4' })).toBe(true);
    expect(of({})).toBeNull();
  });

  test('models that run elsewhere', () => {
    expect(['a:cloud', 'a:120b-cloud', 'a/b:cloud'].map(isCloud)).toEqual([true, true, true]);
    expect(['a', 'cloud', 'a-cloud', 'a:cloudy', 'a:latest'].map(isCloud)).toEqual([false, false, false, false, false]);
    expect(modelsOf({ models: [{ name: 'x:latest', remote_host: 'https://ollama.com' }] })?.[0]?.cloud).toBe(true);
  });

  test('any document gives what the contract allows, and never throws', () => {
    const value = fc.jsonValue();
    const keys = [
      'version',
      'models',
      'details',
      'model_info',
      'template',
      'parameters',
      'capabilities',
      'modelfile',
      'name',
      'size',
      'digest',
      'embeddings',
    ];
    const object = fc.dictionary(
      fc.constantFrom(...keys),
      fc.oneof(
        value,
        fc.array(fc.dictionary(fc.constantFrom(...keys, 'size_vram', 'context_length', 'expires_at'), value)),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(value, object), (body) => {
        expect(modelFactsSchema.safeParse(factsOf('m', body, null)).success).toBe(true);
        expect((modelsOf(body) ?? []).every((each) => modelSummarySchema.safeParse(each).success)).toBe(true);
        expect((runningOf(body) ?? []).every((each) => runningModelSchema.safeParse(each).success)).toBe(true);
        const version = versionOf(body);
        expect(version === null || version !== '').toBe(true);
        embeddingOf(body);
      }),
      { numRuns: 500 },
    );
  });
});
