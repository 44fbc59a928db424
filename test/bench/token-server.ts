/** A server in a process of its own that streams a fixed number of tokens as fast as they are taken. */
import { createServer } from 'node:http';

const tokens = Number(process.argv[2]);
const head =
  '{"model":"probe","created_at":"2026-11-29T19:44:07.3974922Z","message":{"role":"assistant","content":" token"},"done":false}\n';
const last = `{"model":"probe","created_at":"2026-11-29T19:44:07.3974922Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":1000000,"load_duration":1000000,"prompt_eval_count":12,"prompt_eval_duration":1000000,"eval_count":${tokens},"eval_duration":1000000}\n`;

createServer((request, response) => {
  request.resume();
  if (request.url === '/api/ps') {
    response.end('{"models":[]}');
    return;
  }
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  let left = tokens;
  const pump = (): void => {
    while (left > 0) {
      const count = Math.min(left, 1);
      left -= count;
      if (!response.write(head.repeat(count))) return void response.once('drain', pump);
    }
    response.end(last);
  };
  pump();
}).listen(0, '127.0.0.1', function (this: { address(): unknown }) {
  process.stdout.write(`${(this.address() as { port: number }).port}\n`);
});
