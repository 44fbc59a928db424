/** Lines out of a stream of bytes. A line over the limit is never put together. */

export interface Lines {
  /** false: there is a line over the limit; what comes after it is not read. */
  add(chunk: Uint8Array): boolean;
}

export function createLines(bytesMax: number, onLine: (line: string) => void): Lines {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        parts.push(chunk.subarray(from, end));
        bytes += end - from;
        if (bytes > bytesMax) return false;
        const line = Buffer.concat(parts, bytes).toString('utf8');
        parts = [];
        bytes = 0;
        from = end + 1;
        onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
      }
      if (from < chunk.length) {
        parts.push(chunk.subarray(from));
        bytes += chunk.length - from;
      }
      return bytes <= bytesMax;
    },
  };
}
