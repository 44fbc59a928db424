/** The request as a command for a POSIX shell. The body stands in single quotes, where only the quote itself is special. */
export function curlOf(server: string, path: string, body: string): string {
  return `curl -sS ${quoted(`${server.replace(/\/$/u, '')}${path}`)} -H 'Content-Type: application/json' --data-binary ${quoted(body)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
