/** What /api/version, tags, show and ps say, read leniently: a field that is missing or of the wrong type is null. */
import { type Bytes, bytes } from '../../contract/units.ts';
import type { ModelFacts, ModelSummary, RunningModel } from '../../contract/server.ts';
import { asRecord, asText, asTokens } from './reply-line.ts';

export function versionOf(body: unknown): string | null {
  return textOrNull(asRecord(body).version);
}

/** null when the document has no list of models at all. */
export function modelsOf(body: unknown): ModelSummary[] | null {
  const models = listOf(body);
  return models === null ? null : models.map(summaryOf);
}

/** null when the document has no list of models at all; an empty list is a server with nothing loaded. */
export function runningOf(body: unknown): RunningModel[] | null {
  const models = listOf(body);
  if (models === null) return null;
  return models.map((model) => ({
    name: asText(model.name) || asText(model.model),
    digest: textOrNull(model.digest),
    contextLength: asTokens(model.context_length),
    sizeBytes: asBytes(model.size),
    vramBytes: asBytes(model.size_vram),
    expiresAt: textOrNull(model.expires_at),
  }));
}

/** `digest` comes from tags: show does not tell it. */
export function factsOf(name: string, body: unknown, digest: string | null): ModelFacts {
  const show = asRecord(body);
  const info = asRecord(show.model_info);
  const architecture = textOrNull(info['general.architecture']);
  const capabilities = Array.isArray(show.capabilities) ? texts(show.capabilities) : [];
  return {
    name,
    digest,
    architecture,
    trainedContext: asTokens(info[`${architecture ?? ''}.context_length`]),
    capabilities,
    addsBos: addsBos(info, architecture),
    promptPath: promptPathOf(show),
    slidingWindow: asTokens(info[`${architecture ?? ''}.attention.sliding_window`]) || null,
    modelfileNumCtx: modelfileNumCtx(asText(show.parameters)),
    embeddingOnly: capabilities.includes('embedding') && !capabilities.includes('completion'),
    ownTextBytes: ownTextBytes(show),
    keepsWindow: asText(asRecord(show.details).format) !== 'safetensors',
  };
}

/** System text, example messages and the literals of the template; the messages are listed, or stand in the Modelfile alone. */
function ownTextBytes(show: Readonly<Record<string, unknown>>): Bytes {
  const literals = asText(show.template).replaceAll(/\{\{[^]*?\}\}/g, '');
  const listed = Array.isArray(show.messages) ? show.messages.map((message) => asText(asRecord(message).content)) : [];
  const written = listed.length > 0 ? [] : [...asText(show.modelfile).matchAll(/^MESSAGE (?:\w+ """[^]*?"""|.*)/gm)];
  const parts = [literals, asText(show.system), ...listed, ...written.map(([text]) => text)];
  return bytes(parts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
}

/** A name with this tag runs elsewhere. */
export function isCloud(name: string): boolean {
  const tag = name.slice(name.lastIndexOf(':') + 1);
  return name.includes(':') && (tag === 'cloud' || tag.endsWith('-cloud'));
}

function summaryOf(model: Readonly<Record<string, unknown>>): ModelSummary {
  const details = asRecord(model.details);
  const name = asText(model.name) || asText(model.model);
  return {
    name,
    digest: textOrNull(model.digest),
    sizeBytes: asBytes(model.size),
    family: textOrNull(details.family),
    parameterSize: textOrNull(details.parameter_size),
    quantization: textOrNull(details.quantization_level),
    trainedContext: asTokens(details.context_length),
    capabilities: Array.isArray(model.capabilities) ? texts(model.capabilities) : null,
    cloud: isCloud(name) || asText(model.remote_host) !== '' || asText(model.remote_model) !== '',
  };
}

/** Two pretokenizers and one architecture add it without saying so in their metadata. */
function addsBos(info: Readonly<Record<string, unknown>>, architecture: string | null): boolean | null {
  const pre = asText(info['tokenizer.ggml.pre']);
  if (pre === 'lfm2' || pre === 'gemma4' || architecture === 'gemma4') return true;
  const said = info['tokenizer.ggml.add_bos_token'];
  return typeof said === 'boolean' ? said : null;
}

/**
 * Rendered: a renderer or parser in the Modelfile, the harmony family, or a Go template of its own. Native: none of these, so
 * show prints the default template and the runner uses the one of the GGUF file. A file of another format (safetensors) runs
 * on an engine that never cuts, so neither word fits. A Modelfile that spells out the default template looks the same as one
 * without any; it is read as native, as nearly all of them are.
 */
function promptPathOf(show: Readonly<Record<string, unknown>>): ModelFacts['promptPath'] {
  const details = asRecord(show.details);
  const format = asText(details.format);
  if (format !== '' && format !== 'gguf') return 'unknown';
  const modelfile = asText(show.modelfile);
  if (/^(?:RENDERER|PARSER)\s+\S/im.test(outsideQuotes(modelfile))) return 'rendered';
  if (/^gpt-?oss$/i.test(asText(details.family))) return 'rendered';
  if (typeof show.template !== 'string') return 'unknown';
  return /^\s*(?:\{\{-?\s*\.Prompt\s*-?\}\})?\s*$/.test(show.template) ? 'native' : 'rendered';
}

/** The Modelfile without its long quoted texts, in which a line may start with any word. */
function outsideQuotes(modelfile: string): string {
  return modelfile.replace(/"""[\s\S]*?"""/g, '""');
}

/** A line such as `num_ctx                        8192`; 0 is what the server takes for not set. */
function modelfileNumCtx(parameters: string): ModelFacts['modelfileNumCtx'] {
  const match = /^num_ctx\s+"?(\d+)"?\s*$/m.exec(parameters);
  return match === null ? null : asTokens(Number(match[1])) || null;
}

/** Go writes an empty list as null in some versions. */
function listOf(body: unknown): Readonly<Record<string, unknown>>[] | null {
  const { models } = asRecord(body);
  if (models === null) return [];
  return Array.isArray(models) ? models.map(asRecord) : null;
}

function texts(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function asBytes(value: unknown): Bytes | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? bytes(value) : null;
}
