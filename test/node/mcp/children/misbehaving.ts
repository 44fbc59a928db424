/** One server for each thing that goes wrong: `misbehaving.ts KIND [FILE]`. FILE is where it writes what it saw. */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { type Behaviour, type Wire, behave, plainTool, text } from './wire.ts';

const [kind = '', file = '', mark = ''] = process.argv.slice(2);
const note = (line: string): void => appendFileSync(file, `${line}\n`);
const stayOn = (): unknown => setInterval(() => undefined, 1_000);
const one = (call: Behaviour['call']): Behaviour => ({ tools: [plainTool('go')], call });

const kinds: Record<string, () => void> = {
  hangs: () =>
    behave({
      ...one(() => note('called')),
      note: (method, params) => note(`${method} ${JSON.stringify(params)}`),
    }),
  'never-starts': stayOn as () => void,
  dies: () =>
    behave(
      one((id, params, wire) => {
        if (JSON.stringify(params.arguments).includes('die')) process.exit(7);
        wire.result(id, text(`alive ${process.pid}`));
      }),
    ),
  'always-dies': () => behave(one(() => process.exit(7))),
  'ignores-sigterm': () => {
    process.on('SIGTERM', () => note('SIGTERM'));
    const child = spawn(process.execPath, ['-e', `process.on("SIGTERM",()=>{});setInterval(()=>{},1000)//${mark}`], {
      stdio: 'ignore',
      detached: true,
    });
    child.unref();
    stayOn();
    behave(one((id, _params, wire) => wire.result(id, text(String(child.pid)))));
  },
  'ignores-sigterm-alone': () => {
    process.on('SIGTERM', () => undefined);
    stayOn();
    behave(one((id, _params, wire) => wire.result(id, text('on'))));
  },
  'eats-memory': () => {
    const held: Buffer[] = [];
    behave(one(() => setInterval(() => held.push(Buffer.alloc(16 * 1024 ** 2, 1)), 20)));
  },
  'child-eats-memory': () => {
    const eat = 'const held=[];setInterval(()=>held.push(Buffer.alloc(16*1024**2,1)),20)';
    behave(one(() => void spawn(process.execPath, ['-e', `${eat}//${mark}`], { stdio: 'ignore' })));
  },
  'long-line': () => behave(one(() => flood('x'))),
  'garbage-lines': () => behave(one(() => flood('this is a log line, not a message\n'))),
  'some-garbage': () => {
    process.stdout.write('starting up …\nnull\n{"jsonrpc":"2.0"}\n[1,2]\n');
    behave(one((id, _params, wire) => wire.result(id, text('fine'))));
  },
  'unasked-messages': () =>
    behave(one(() => flood('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n'))),
  'stderr-flood': () =>
    behave(
      one(() => {
        const write = (): void => void process.stderr.write('y'.repeat(1_000_000), write);
        write();
      }),
    ),
  'large-result': () => behave(one((id, _params, wire) => wire.result(id, text('0123456789'.repeat(5_000_000))))),
  'changes-tools': () => {
    const tools = [plainTool('first')];
    behave({
      tools,
      call(id, params, wire: Wire) {
        if (params.name === 'first') {
          tools.splice(0, 1, plainTool('second'));
          wire.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
          wire.result(id, text('changed'));
        } else wire.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'gone' } });
      },
    });
  },
  'hostile-names': () =>
    behave({
      tools: [
        ...['delegate', 'Read_Blob', 'a b\u202e\n<script>', 'a\tb_script_', 'x'.repeat(300), 'x'.repeat(301), ''].map(
          plainTool,
        ),
        null,
        'text',
        { name: 7 },
        { name: 'wide', description: `\u001b[31m${'d'.repeat(100_000)}`, inputSchema: { type: 'object' } },
        { name: 'odd', inputSchema: 'no schema', annotations: { readOnlyHint: 'yes', destructiveHint: false } },
        { name: '__proto__', inputSchema: { type: 'object', properties: { __proto__: { type: 'string' } } } },
      ],
      call: (id, params, wire) => wire.result(id, text(params.name)),
    }),
  'schema-bombs': () => {
    const levels = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => {
        const next = { $ref: `#/$defs/l${at + 1}` };
        return [`l${at}`, { anyOf: [next, next] }];
      }),
    );
    let deep: unknown = { type: 'string' };
    for (let at = 0; at < 200; at += 1) deep = { type: 'object', properties: { a: deep } };
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field${at}`, { type: 'string' }]));
    behave({
      tools: [
        { name: 'doubling', inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/l0' } }, $defs: levels } },
        { name: 'endless', inputSchema: { type: 'object', properties: { a: { $ref: '#/properties/a' } } } },
        { name: 'deep', inputSchema: deep },
        { name: 'wide', inputSchema: { type: 'object', properties: wide } },
        { name: 'slow', inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } },
      ],
      call: (id, params, wire) => wire.result(id, text(params.name)),
    });
  },
  'many-tools': () =>
    behave({
      tools: Array.from({ length: 5_000 }, (_, at) => plainTool(`tool${at}`)),
      call: (id, _params, wire) => wire.result(id, text('')),
    }),
  'odd-results': () =>
    behave(
      one((id, params, wire) => {
        const { result } = params.arguments as { result: unknown };
        wire.result(id, result);
      }),
    ),
  surroundings: () =>
    behave(
      one((id, params, wire) => {
        const { port } = params.arguments as { port: number };
        const tell = (reach: string): void => {
          const { env } = process;
          wire.result(id, text(JSON.stringify({ cwd: process.cwd(), env, reach })));
        };
        connect({ port, host: '127.0.0.1' })
          .once('connect', () => tell('connected'))
          .once('error', (error) => tell('code' in error ? String(error.code) : error.message));
      }),
    ),
  'asks-back': () =>
    behave({
      tools: [plainTool('go')],
      call(id, _params, wire) {
        note(`call ${String(id)}`);
        for (const method of ['sampling/createMessage', 'roots/list', 'elicitation/create']) {
          wire.send({ jsonrpc: '2.0', id: method, method, params: {} });
        }
        setTimeout(() => wire.result(id, text('asked')), 100);
      },
      note: (method) => note(method),
    }),
};

function flood(piece: string): void {
  const chunk = piece.repeat(Math.ceil(1_000_000 / piece.length));
  const write = (): void => void process.stdout.write(chunk, write);
  write();
}

kinds[kind]?.();
