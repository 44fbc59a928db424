/** The map's absences, read from the sources: who may import whom, and what the engine never touches. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folder -> folders it may import (its own is always allowed) and packages it owns. Longest match wins. */
const LAYERS: Record<string, { from: string[]; packages: RegExp }> = {
  'shared/contract': { from: [], packages: /^zod$/ },
  'shared/engine': { from: ['shared/contract'], packages: /^$/ },
  'shared/node/ollama': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|ollama(\/browser)?|zod)$/,
  },
  'shared/node/storage': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|better-sqlite3|env-paths|zod)$/,
  },
  'shared/node/redis': {
    from: ['shared/contract', 'shared/engine'],
    packages: /^(node:.*|ioredis)$/,
  },
  'shared/node/rpc': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|fastify|@fastify\/static|ws|zod)$/,
  },
  'shared/node/telemetry': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|pino|rotating-file-stream)$/,
  },
  'shared/node/csv': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|csv-parse\/sync)$/,
  },
  'shared/node/mcp': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|@modelcontextprotocol\/sdk\/.+|zod)$/,
  },
  'shared/node/experiments': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|yaml|zod)$/,
  },
  'shared/node/agent': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|yaml|zod)$/,
  },
  'shared/node/bin': {
    from: ['shared/contract', 'shared/engine', 'shared/node'],
    packages: /^(node:.*|commander|open|yaml)$/,
  },
  'shared/node': { from: ['shared/contract', 'shared/engine'], packages: /^(node:.*|zod)$/ },
  electron: { from: ['shared/contract', 'shared/node'], packages: /^(node:.*|electron)$/ },
  'renderer/charts': { from: ['shared/contract', 'renderer'], packages: /^(react|recharts|lucide-react)$/ },
  renderer: {
    from: ['shared/contract'],
    packages: /^(react|react-dom(\/client)?|zustand(\/.*)?|radix-ui|lucide-react|cmdk|@tanstack\/react-virtual)$/,
  },
};

describe('layers', () => {
  for (const file of sources()) {
    test(file, () => {
      const [layer, rule] = layerOf(file);
      const wrong = importsOf(file).filter((specifier) => !allowed(file, specifier, layer, rule));
      expect(
        wrong,
        `${file} belongs to ${layer}; it may import ${[layer, ...rule.from].join(', ')} and ${rule.packages}`,
      ).toEqual([]);
    });
  }
});

describe('absences', () => {
  test('the engine and the contract read no clock, draw no randomness, open nothing', () => {
    const reach =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bsetTimeout\b|\bsetInterval\b|\bprocess\.|\bfetch\(|\bconsole\.|\bperformance\.|\bcrypto\./;
    const hits = sources()
      .filter((file) => file.startsWith('shared/engine') || file.startsWith('shared/contract'))
      .flatMap((file) =>
        withoutTexts(withoutComments(file))
          .split('\n')
          .filter((line) => reach.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(hits).toEqual([]);
  });

  test('only the electron folder names electron', () => {
    expect(sources().filter((file) => !file.startsWith('electron/') && importsOf(file).includes('electron'))).toEqual(
      [],
    );
  });

  test('nobody imports bin, and the renderer renders no HTML from text', () => {
    expect(
      sources().filter((file) => !file.includes('/bin/') && importsOf(file).some((name) => name.includes('/bin/'))),
    ).toEqual([]);
    expect(
      sources().filter(
        (file) =>
          file.startsWith('renderer/') &&
          /dangerouslySetInnerHTML|\.innerHTML\b|insertAdjacentHTML/.test(withoutComments(file)),
      ),
    ).toEqual([]);
  });

  test('no listener binds other than loopback by default', () => {
    const hits = sources().filter((file) => /listen\([^)]*['"](0\.0\.0\.0|::)['"]/.test(withoutComments(file)));
    expect(hits).toEqual([]);
  });
});

function sources(): string[] {
  return ['shared', 'electron', 'renderer']
    .flatMap((folder) => walk(join(root, folder)))
    .map((path) => relative(root, path))
    .sort();
}

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return walk(path);
    return /\.tsx?$/.test(name) && !name.endsWith('.config.ts') && !name.endsWith('.d.ts') ? [path] : [];
  });
}

function layerOf(file: string): [string, { from: string[]; packages: RegExp }] {
  const found = Object.entries(LAYERS)
    .filter(([layer]) => file.startsWith(`${layer}/`))
    .sort((a, b) => b[0].length - a[0].length)[0];
  if (found === undefined) throw new Error(`${file} is in no layer: give it one in test/arch, or move it`);
  return found;
}

function withoutComments(file: string): string {
  return readFileSync(join(root, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
}

/** Words in messages are no calls. */
function withoutTexts(code: string): string {
  return code.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
}

function importsOf(file: string): string[] {
  const text = withoutComments(file);
  return [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"\n]+)\1/g)].map(
    (match) => match[2] ?? '',
  );
}

function allowed(file: string, specifier: string, layer: string, rule: { from: string[]; packages: RegExp }): boolean {
  if (!specifier.startsWith('.')) return rule.packages.test(specifier);
  const target = relative(root, resolve(join(root, dirname(file)), specifier));
  return [layer, ...rule.from].some((folder) => target.startsWith(`${folder}/`)) || target === `${layer}.ts`;
}
