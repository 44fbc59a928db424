/** The bytes of a reply as text, up to a limit; the count goes on behind it. */
import { type Bytes, bytes } from '../../contract/units.ts';

export interface RawCopy {
  add(part: Uint8Array): void;
  read(): { readonly raw: string; readonly rawClipped: boolean; readonly rawBytes: Bytes };
}

const firstBytes = 4096;

export function createRawCopy(bytesMax: number): RawCopy {
  // One buffer that doubles: a long stream has tens of thousands of lines, and an object for each would outweigh the text.
  let kept = new Uint8Array(Math.min(firstBytes, bytesMax));
  let keptBytes = 0;
  let seenBytes = 0;
  return {
    add(part) {
      seenBytes += part.byteLength;
      const taken = Math.min(part.byteLength, bytesMax - keptBytes);
      if (taken <= 0) return;
      if (keptBytes + taken > kept.byteLength) {
        const wider = new Uint8Array(Math.min(bytesMax, Math.max(kept.byteLength * 2, keptBytes + taken)));
        wider.set(kept.subarray(0, keptBytes));
        kept = wider;
      }
      kept.set(taken === part.byteLength ? part : part.subarray(0, taken), keptBytes);
      keptBytes += taken;
    },
    read() {
      const rawClipped = seenBytes > keptBytes;
      // `stream` holds back a character that the limit cut in two.
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      const raw = decoder.decode(kept.subarray(0, keptBytes), { stream: rawClipped });
      return { raw, rawClipped, rawBytes: bytes(seenBytes) };
    },
  };
}
