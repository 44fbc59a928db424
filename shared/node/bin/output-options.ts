/** What every command that runs something says about its output and its server. */
import { type Result, denied } from '../../contract/denials.ts';
import type { ExportOptions } from '../../contract/experiments.ts';

export interface OutputOptions {
  readonly csv?: string;
  readonly json?: boolean;
  readonly simulate?: boolean;
  readonly ollama?: string;
  readonly profile: ExportOptions['profile'];
  readonly separator: ',' | ';' | 'tab';
  readonly decimalMark: ExportOptions['decimalMark'];
}

/** null = they go together. */
export function outputClash(
  options: Pick<OutputOptions, 'csv' | 'json' | 'simulate' | 'ollama'>,
): Result<never> | null {
  if (options.csv === '-' && options.json === true) {
    return denied('bad-input', '--csv - and --json both write to stdout.', {
      field: '--csv',
      next: 'Give --csv a file, or leave one out.',
    });
  }
  if (options.simulate === true && options.ollama !== undefined) {
    return denied('bad-input', '--simulate and --ollama name two servers.', {
      field: '--simulate',
      next: 'Leave one out.',
    });
  }
  return null;
}

export const csvOptionsOf = ({
  profile,
  separator,
  decimalMark,
}: Pick<OutputOptions, 'profile' | 'separator' | 'decimalMark'>): ExportOptions => ({
  format: 'csv',
  profile,
  separator: separator === 'tab' ? '\t' : separator,
  decimalMark,
});
