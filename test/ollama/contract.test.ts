/** The contract against a real server: `OLLAMA_HOST=127.0.0.1:11434 npm run test:ollama`. */
import { parseOllamaHost } from '../../shared/node/ollama/address.ts';
import { contractSuite } from './suite.ts';

const address = parseOllamaHost(process.env.OLLAMA_HOST ?? '');
if (!address.ok) throw new Error(`OLLAMA_HOST: ${address.denial.message} ${address.denial.next ?? ''}`);

contractSuite(`Ollama at ${address.value.label}`, () => Promise.resolve({ url: address.value.url }));
