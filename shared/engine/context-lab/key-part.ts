/** A part of a cell's key: long names are cut and told apart by a hash. */
export function keyPart(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 17)}~${hash64(text)}`;
}

/** 16 hex digits; two FNV-1a hashes with different starts. */
function hash64(text: string): string {
  let first = 0x811c9dc5;
  let second = 0x1b873593;
  for (let index = 0; index < text.length; index++) {
    first = Math.imul(first ^ text.charCodeAt(index), 0x01000193) >>> 0;
    second = Math.imul(second ^ text.charCodeAt(index), 0x85ebca6b) >>> 0;
  }
  return first.toString(16).padStart(8, '0') + second.toString(16).padStart(8, '0');
}
