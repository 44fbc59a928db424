/** Names and errors of a server are hostile text: no control characters reach the terminal, and no more than a line of it. */
export function plainText(text: string, charactersMax = 300): string {
  const plain = text
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return plain.length > charactersMax ? `${plain.slice(0, charactersMax)}…` : plain;
}
