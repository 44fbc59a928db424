/**
 * Every entry calls this before it imports the rest: on Node 20 better-sqlite3 13 ends the process with a segmentation
 * fault and without a word.
 */
export function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return;
  process.stderr.write(
    `Spillway needs Node 22.12 or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      'Start it through npm (npm start, npm run web, npm run spillway), which brings its own Node, or install a newer one.\n',
  );
  process.exit(2);
}
