/** The models a simulator has when nobody hands it others. Names begin with `sim-` so that none is taken for a real model. */
import { createHash } from 'node:crypto';
import { familyCapabilities } from './families/index.ts';
import type { Capability, ModelProfile } from './options.ts';

/** A profile from the fields that differ; everything else is that of a small instruct model. */
export function profileOf(fields: Pick<ModelProfile, 'name'> & Partial<ModelProfile>): ModelProfile {
  const weights = fields.weights ?? fields.name;
  return {
    ...smallModel,
    weights,
    digest: sha256(fields.name),
    ...fields,
    capabilities: fields.capabilities ?? capabilitiesOf(fields),
  };
}

const smallModel: Omit<ModelProfile, 'name' | 'weights' | 'digest'> = {
  mode: 'rendered',
  family: 'plain',
  template: 'turns',
  architecture: 'llama',
  parameterSize: '1.24B',
  parameterCount: 1_235_814_432,
  quantization: 'Q4_K_M',
  trainedContext: 131_072,
  embeddingLength: 2_048,
  slidingWindow: null,
  addBos: true,
  capabilities: ['completion'],
  whenLost: 'admits',
  behaviour: 'answers',
  thinks: 'never',
  sizeBytes: 807_693_984,
  modifiedAt: '2026-08-22T09:00:00.123456789Z',
  parameters: {},
  system: null,
  license: null,
  templateText: '{{ range .Messages }}<start_of_turn>{{ .Role }}\n{{ .Content }}<end_of_turn>\n{{ end }}',
  // A default sweep reads about 55,000 tokens: at this pace it takes some 15 s.
  rates: { loadMs: 700, promptTokensPerSecond: 5_000, outputTokensPerSecond: 60 },
};

export const defaultProfiles: readonly ModelProfile[] = stamped([
  profileOf({ name: 'sim-reader:latest', whenLost: 'invents' }),
  profileOf({ name: 'sim-honest:latest' }),
  profileOf({
    name: 'sim-native:latest',
    mode: 'native',
    template: 'chatml',
    generateTemplate: 'prompt-only',
    templateText: '{{ .Prompt }}',
  }),
  profileOf({ name: 'sim-sliding:latest', architecture: 'gemma3', slidingWindow: 512, trainedContext: 32_768 }),
  // Default window from its Modelfile; and an architecture whose window cannot shift, so that what is too long is refused.
  profileOf({ name: 'sim-window-2048:latest', parameters: { num_ctx: 2_048 } }),
  profileOf({ name: 'sim-no-shift:latest', architecture: 'deepseek2' }),
  profileOf({ name: 'sim-mlx:latest', mode: 'mlx', trainedContext: 16_384 }),
  profileOf({ name: 'sim-loop:latest', family: 'qwen3', template: 'chatml', behaviour: 'loops' }),
  // Thinks without end, and with think off too: the first that can think, so that the reasoning experiment shows what it is for.
  profileOf({ name: 'sim-overthink:latest', family: 'template', template: 'chatml', thinks: 'for-ever' }),
  profileOf({ name: 'sim-think:latest', family: 'template', template: 'chatml', thinks: 'asked' }),
  profileOf({ name: 'sim-qwen3.5:latest', family: 'qwen3.5', template: 'chatml', thinks: 'always' }),
  profileOf({ name: 'sim-deepseek3:latest', family: 'deepseek3', template: 'chatml', thinks: 'always' }),
  profileOf({ name: 'sim-glm-4.7:latest', family: 'glm-4.7', template: 'chatml', thinks: 'always' }),
  profileOf({ name: 'sim-gemma4:latest', family: 'gemma4', thinks: 'always' }),
  profileOf({ name: 'sim-olmo3-think:latest', family: 'olmo3-think', template: 'chatml', thinks: 'always' }),
  profileOf({
    name: 'sim-qwen3-vl-thinking:latest',
    family: 'qwen3-vl-thinking',
    template: 'chatml',
    thinks: 'always',
  }),
  profileOf({ name: 'sim-lfm2:latest', family: 'lfm2', template: 'chatml', thinks: 'always' }),
  profileOf({
    name: 'sim-harmony:latest',
    family: 'harmony',
    template: 'chatml',
    architecture: 'gptoss',
    thinks: 'always',
  }),
  profileOf({ name: 'sim-unthinking:latest', family: 'qwen3.5', template: 'chatml', thinks: 'never' }),
  profileOf({
    name: 'sim-embed:latest',
    architecture: 'bert',
    family: 'plain',
    template: 'prompt-only',
    trainedContext: 512,
    embeddingLength: 384,
    addBos: false,
    capabilities: ['embedding'],
    parameterSize: '22.57M',
    parameterCount: 22_565_376,
    quantization: 'F16',
    sizeBytes: 45_960_996,
    templateText: '{{ .Prompt }}',
  }),
  // A small model on a fast machine: for many calls in a row.
  profileOf({
    name: 'sim-quick:latest',
    rates: { loadMs: 300, promptTokensPerSecond: 20_000, outputTokensPerSecond: 400 },
  }),
]);

function capabilitiesOf(fields: Partial<ModelProfile>): Capability[] {
  const family = familyCapabilities(fields.family ?? smallModel.family);
  const capabilities: Capability[] = ['completion'];
  if (family.tools) capabilities.push('tools');
  if (family.thinking) capabilities.push('thinking');
  return capabilities;
}

/** /api/tags lists the newest first: the order of the list above is the order of their dates. */
function stamped(profiles: readonly ModelProfile[]): readonly ModelProfile[] {
  const newest = Date.parse('2026-08-22T09:00:00Z');
  return profiles.map((profile, index) => ({
    ...profile,
    modifiedAt: new Date(newest - index * 3_600_000).toISOString().replace('.000Z', '.123456789Z'),
  }));
}

function sha256(text: string): string {
  return createHash('sha256').update(`spillway simulator ${text}`).digest('hex');
}
