/** The models of `fixtures/scripted` by the parser each was created with, and a brain that plays the scripts of the matrix. */
import { readFileSync } from 'node:fs';
import type { Brain, ModelProfile } from '../../shared/node/simulator/options.ts';
import { profileOf } from '../../shared/node/simulator/profiles.ts';

const families: Readonly<Record<string, string>> = {
  's-template': 'template',
  's-qwen3': 'qwen3',
  's-qwen35': 'qwen3.5',
  's-qwen3-thinking': 'qwen3-vl-thinking',
  's-deepseek3': 'deepseek3',
  's-glm47': 'glm-4.7',
  's-gemma4': 'gemma4',
  's-harmony': 'harmony',
  's-lfm2': 'lfm2',
  's-olmo3': 'olmo3-think',
};

export function familyOfScriptModel(model: string): string {
  const family = families[model];
  if (family === undefined) throw new Error(`No family is known for ${model}; add it to the table.`);
  return family;
}

/** Counts of the recordings have no BOS. */
export const scriptProfiles: readonly ModelProfile[] = Object.entries(families).map(([name, family]) =>
  profileOf({ name: `${name}:latest`, family, template: 'chatml', addBos: false }),
);

export const scripts = (
  JSON.parse(readFileSync(new URL('../fixtures/scripted/thinking-matrix.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string[]>;
  }
).scripts;

/** Plays the script that the prompt names with `@@name@@`; without a name, or with an unknown one, "Yes.". */
export const scriptBrain: Brain = ({ promptText }) => {
  const name = [...promptText.matchAll(/@@([\w-]+)@@/g)].at(-1)?.[1] ?? '';
  const pieces = scripts[name] ?? ['Yes.'];
  const dies = pieces.at(-1) === '@DIE';
  return { pieces: dies ? pieces.slice(0, -1) : pieces, dies };
};
