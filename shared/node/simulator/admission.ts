/** What decides whether a request is let in at all: its model's name, its fields, and what the model can do. */
import type { ModelProfile, ParsedRequest, SimulatorState } from './options.ts';

export type LookUp = { ok: true; profile: ModelProfile } | { ok: false; status: number; error: string };

/** Finds a profile by name, with or without the public registry in front and `:latest` behind, in any case. */
export function findProfile(state: SimulatorState, name: string): ModelProfile | null {
  const full = withTag(name.replace(/^(?:registry\.ollama\.ai\/)?library\//i, '')).toLowerCase();
  return state.profiles.find((profile) => profile.name.toLowerCase() === full) ?? null;
}

export function withTag(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).includes(':') ? name : `${name}:latest`;
}

export function isValidName(name: string): boolean {
  return /^(?:[\w.-]+(?::\d+)?\/)?(?:[\w.-]+\/)?[\w][\w.-]*(?::[\w][\w.-]*)?$/.test(name);
}

/** The model of a request, or the refusal that comes before everything else. */
export function lookUp(state: SimulatorState, request: ParsedRequest): LookUp {
  const name = request.model;
  if (name === '' && request.kind === 'chat') return { ok: false, status: 400, error: 'model is required' };
  if (name !== '' && !isValidName(name)) return { ok: false, status: 400, error: 'invalid model name' };
  const profile = name === '' ? null : findProfile(state, name);
  if (profile === null) return { ok: false, status: 404, error: `model '${name}' not found` };
  if (request.topLogprobs < 0 || request.topLogprobs > 20) {
    return { ok: false, status: 400, error: 'top_logprobs must be between 0 and 20' };
  }
  if (request.raw && (request.template !== '' || request.system !== undefined || request.context.length > 0)) {
    return { ok: false, status: 400, error: 'raw mode does not support template, system, or context' };
  }
  return { ok: true, profile };
}

/** Asks for nothing: loads the model. */
export function isEmpty(request: ParsedRequest): boolean {
  return request.kind === 'chat' ? (request.messages ?? []).length === 0 : request.prompt === '';
}

/** Text of the 400, or null. `think: false` is fine everywhere. */
export function capabilityProblem(profile: ModelProfile, request: ParsedRequest): string | null {
  const can = profile.capabilities;
  const full = `registry.ollama.ai/library/${profile.name}`;
  const wantsThinking = request.think !== undefined && request.think !== false;
  if (wantsThinking && !can.includes('thinking') && request.relaxThinking !== true)
    return `"${request.model}" does not support thinking`;
  if (!can.includes('completion'))
    return `"${request.model}" does not support ${request.kind === 'chat' ? 'chat' : 'generate'}`;
  if (request.tools.length > 0 && !can.includes('tools')) return `${full} does not support tools`;
  if (request.suffix !== '' && !can.includes('insert')) return `${full} does not support insert`;
  return null;
}
