/**
 * Loaded by npm's scripts before their entry: on a Node that cannot read TypeScript the entry itself would only end with
 * ERR_UNKNOWN_FILE_EXTENSION. Written for every old Node.
 */
'use strict';
var parts = process.versions.node.split('.').map(Number);
if (parts[0] < 22 || (parts[0] === 22 && parts[1] < 18) || (parts[0] === 23 && parts[1] < 6)) {
  process.stderr.write(
    'Spillway needs Node 22.18 or newer to run from its sources; this is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\n' +
      'npm ci brings one on Linux and Windows; elsewhere install a newer Node, then start again.\n',
  );
  process.exit(2);
}
