/** What the parts of one gateway share: its ports, its own tools, the cache, open leases, and how texts come into a context. */
import type { Milliseconds } from '../../contract/units.ts';
import { milliseconds } from '../../contract/units.ts';
import type { Json } from '../guards/canonical.ts';
import { callFingerprint } from '../guards/fingerprint.ts';
import type { Trip } from '../guards/guards.ts';
import { createCache } from './cache.ts';
import type { GatewayPorts, GatewaySettings } from './gateway-ports.ts';
import { createLeases } from './leases.ts';
import { capOutput } from './output-cap.ts';
import { READ_BLOB, readBlobTool } from './read-blob.ts';
import { type Tool, type ToolText, textOf } from './tool.ts';

export interface Room {
  readonly ports: GatewayPorts;
  readonly settings: GatewaySettings;
  /** Calls of each tool in this run. */
  readonly callsByTool: Map<string, number>;
  readonly leases: ReturnType<typeof createLeases>;
  /** The gateway's own tools cannot be replaced by one of the same name. */
  toolOf(name: string): Tool | undefined;
  now(): Milliseconds;
  tell(trip: Trip): void;
  /** null = nothing is kept for it. */
  cachedOf(tool: Tool, args: Json): ToolText | null;
  keep(tool: Tool, args: Json, output: ToolText): void;
  /** What of an output the model sees, and where the rest of it is. */
  shownOf(
    nodeId: string,
    output: ToolText,
    keep: 'head' | 'head-and-tail',
  ): Promise<{ readonly text: string; readonly bytes: number; readonly handle: string | null }>;
  /** A text that comes into the context whether or not there is room for it: it is short, and it has been said. Its tokens. */
  chargeText(nodeId: string, text: string): number;
}

export function createRoom(ports: GatewayPorts, settings: GatewaySettings): Room {
  const { tree } = ports;
  const cache = createCache();
  const now = (): Milliseconds => milliseconds(Math.max(0, Math.round(ports.nowMs())));
  const tell = (trip: Trip): void => ports.onTrip({ ...trip, atMs: now() });
  const isCached = (tool: Tool): boolean => settings.cache && tool.spec.cacheable && !tool.spec.sideEffect;
  const cachedOf = (tool: Tool, args: Json): ToolText | null =>
    isCached(tool) ? cache.get(cacheKey(tool, args)) : null;
  /** All of the arguments: what the guards leave out of a call may still be what is asked for. */
  const cacheKey = ({ spec }: Tool, args: Json): string =>
    `${callFingerprint({ tool: spec.name, args }, [], ports.sha256)} ${spec.authorisation}`;
  const readBlob = readBlobTool(ports.blobs, tree, settings.outputTokensMax);

  async function shownOf(
    nodeId: string,
    output: ToolText,
    keep: 'head' | 'head-and-tail',
  ): Promise<{ readonly text: string; readonly bytes: number; readonly handle: string | null }> {
    const cap = tree.node(nodeId).limits.outputBytes;
    const isOver = cap !== null && output.bytes > cap;
    const isPart = output.handle !== null;
    if (!isOver && !isPart) return { text: output.head, bytes: output.bytes, handle: null };
    // Where it cannot be stored it is still cut: the rest of it is lost, and the run is not.
    const handle = output.handle ?? (await (async () => ports.blobs.put(output))().catch(() => 'not-stored'));
    const shown = capOutput(output, cap, keep, () => handle);
    return { text: shown.text, bytes: shown.bytes, handle: shown.wasCut ? handle : null };
  }

  function chargeText(nodeId: string, text: string): number {
    const tokens = ports.tokensOf(text, textOf(text).bytes);
    if (settings.chargeResults) tree.chargeAnyway(nodeId, { calls: 0, tokens, nanoDollars: 0 });
    return tokens;
  }

  return {
    ports,
    settings,
    callsByTool: new Map<string, number>(settings.callsByTool),
    leases: createLeases({ now, after: ports.after, onLease: ports.onLease }),
    toolOf(name) {
      if (name === READ_BLOB) return readBlob;
      return name === ports.delegate?.name ? undefined : ports.tools.get(name);
    },
    now,
    tell,
    cachedOf,
    keep(tool, args, output) {
      if (isCached(tool)) cache.put(cacheKey(tool, args), output);
    },
    shownOf,
    chargeText,
  };
}
