/** Asks once for each checkout whether Electron shall be fetched, and remembers a no. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';

const ANSWER_MS_MAX = 20_000;
const INSTALL_MS_MAX = 300_000;

/** True when it was installed just now. Asks nobody where no person sits at the terminal. */
export async function offerElectron(root: string): Promise<boolean> {
  const note = join(root, 'node_modules/.cache/spillway/no-electron');
  if (existsSync(note) || process.stdin.isTTY !== true || process.stdout.isTTY !== true || process.env.CI) return false;
  const wanted = await ask('The desktop needs Electron, which is not installed (about 110 MB). Fetch it now? [y/N] ');
  if (!wanted) {
    mkdirSync(dirname(note), { recursive: true });
    writeFileSync(note, 'Delete this file to be asked again.\n');
    return false;
  }
  return install(join(root, 'node_modules/electron/install.js'));
}

/** No answer in time is a no. */
async function ask(question: string): Promise<boolean> {
  const line = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await line.question(question, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return /^y(es)?$/iu.test(answer.trim());
  } catch {
    process.stdout.write('\n');
    return false;
  } finally {
    line.close();
  }
}

function install(script: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script], { stdio: 'inherit', timeout: INSTALL_MS_MAX });
    child.once('error', () => {
      resolve(false);
    });
    child.once('exit', (code) => {
      resolve(code === 0);
    });
  });
}
