/** The models of `fixtures/scripted`, by the parser each was created with. */
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

export const scriptModelNames: readonly string[] = Object.keys(families);
