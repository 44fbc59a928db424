/** What identical fetches of a run brought in. */
import type { ToolText } from './tool.ts';

export interface TextCache {
  get(key: string): ToolText | null;
  put(key: string, text: ToolText): void;
}

const ENTRIES_MAX = 2_000;
const CHARACTERS_MAX = 32_000_000;

/** Bounded in entries and in characters; what was put in first makes room. */
export function createCache(): TextCache {
  const entries = new Map<string, ToolText>();
  const sizeOf = ({ head, tail }: ToolText): number => head.length + tail.length;
  let size = 0;
  return {
    get: (key) => entries.get(key) ?? null,
    put(key, text) {
      if (entries.has(key) || sizeOf(text) > CHARACTERS_MAX) return;
      entries.set(key, text);
      size += sizeOf(text);
      for (const [old, { head, tail }] of entries) {
        if (entries.size <= ENTRIES_MAX && size <= CHARACTERS_MAX) break;
        entries.delete(old);
        size -= head.length + tail.length;
      }
    },
  };
}
