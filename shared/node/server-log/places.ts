/** Which log belongs to the server that is used: the setting, the platform's place, or none. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

export type LogPlan =
  | { readonly kind: 'off' }
  | { readonly kind: 'none' }
  | { readonly kind: 'simulator' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'journal' }
  | { readonly kind: 'serve'; readonly address: string };

export interface LogQuestion {
  /** '' = the platform's place, off, journal, serve, or a path. */
  readonly setting: string;
  /** The simulator in this process answers. */
  readonly isOwnSimulator: boolean;
  /** A simulator that another process runs. */
  readonly isOtherSimulator: boolean;
  /** Host and port of the server. */
  readonly host: string;
  readonly port: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

/** The service of the platform listens here; a server elsewhere writes elsewhere. */
const SERVICE_PORT = 11_434;

export function planLog(question: LogQuestion): LogPlan {
  const setting = question.setting.trim();
  if (setting === 'off') return { kind: 'off' };
  if (question.isOwnSimulator) return { kind: 'simulator' };
  if (setting === 'journal') return { kind: 'journal' };
  if (setting === 'serve' && !isHere(question.host)) return { kind: 'none' };
  if (setting === 'serve') return { kind: 'serve', address: `${question.host}:${question.port}` };
  if (setting !== '') return { kind: 'file', path: resolve(withHome(setting, question.environment)) };
  if (question.isOtherSimulator || !isHere(question.host) || question.port !== SERVICE_PORT) return { kind: 'none' };
  return platformLog(question.environment, question.platform ?? process.platform);
}

/** macOS and Windows: the app's file, also before it is there. Linux: a file where there is one, else the service's journal. */
export function platformLog(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): LogPlan {
  if (platform === 'win32') {
    const folder = environment.LOCALAPPDATA ?? '';
    return folder === '' ? { kind: 'none' } : { kind: 'file', path: join(folder, 'Ollama', 'server.log') };
  }
  const path = join(homeOf(environment), '.ollama', 'logs', 'server.log');
  if (platform === 'darwin' || existsSync(path)) return { kind: 'file', path };
  return UNIT_FILES.some((file) => existsSync(file)) ? { kind: 'journal' } : { kind: 'none' };
}

const UNIT_FILES = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'].map((folder) =>
  join(folder, 'ollama.service'),
);

const homeOf = (environment: NodeJS.ProcessEnv): string => environment.HOME ?? homedir();

function withHome(path: string, environment: NodeJS.ProcessEnv): string {
  return /^~(?=[/\\]|$)/.test(path) ? join(homeOf(environment), path.slice(1)) : path;
}

function isHere(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|0\.0\.0\.0)$/i.test(host);
}
