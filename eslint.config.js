// Layers are enforced three ways: project references (what compiles), these rules (what to import instead), and test/arch.
import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** One rule object a folder: in flat config a later `no-restricted-imports` replaces an earlier one. */
const only = (message, group) => ['error', { patterns: [{ group, message }] }];
const NOBODY = ['**/electron/**', '**/renderer/**', '**/test/**', '**/bin/**', 'electron'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'release/', 'coverage/', 'test/fixtures/', 'test/golden/'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    languageOptions: { globals: globals.node },
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Exported configs and branded types make these two more noise than help.
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      'no-console': 'error',
      'no-control-regex': 'off',
      eqeqeq: 'error',
    },
  },
  {
    files: ['shared/contract/**'],
    languageOptions: { globals: {} },
    rules: {
      'no-restricted-imports': only(
        'The contract imports zod and itself, nothing else: put code that needs more into shared/engine or shared/node.',
        ['../*', 'node:*', '!../contract/**', ...NOBODY],
      ),
    },
  },
  {
    files: ['shared/engine/**'],
    languageOptions: { globals: {} },
    rules: {
      'no-restricted-imports': only(
        'The engine takes time, ids, randomness, storage and the model as ports (shared/engine/ports.ts): add a port instead.',
        ['node:*', '**/node/**', 'zod', 'ollama', 'better-sqlite3', ...NOBODY],
      ),
      'no-restricted-globals': [
        'error',
        ...['Date', 'setTimeout', 'setInterval', 'process', 'fetch', 'console', 'crypto', 'performance'].map(
          (name) => ({ name, message: 'The engine has no clock, timer, network or process: take it as a port.' }),
        ),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Use the seeded generator in context-lab/random.ts.' },
      ],
    },
  },
  {
    files: ['shared/node/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['electron', '**/electron/**'], message: 'Only the electron folder names Electron.' },
            { group: ['**/renderer/**', '**/test/**'], message: 'The node layer knows no screen and no test.' },
          ],
        },
      ],
    },
  },
  ...owned([
    ['ioredis', 'shared/node/redis', 'Share budgets through the ledger store in shared/node/redis.'],
    ['ollama', 'shared/node/ollama', 'Call the model server through shared/node/ollama.'],
    ['better-sqlite3', 'shared/node/storage', 'Reach the database through the stores in shared/node/storage.'],
    ['csv-parse/sync', 'shared/node/csv', 'Read tables through shared/node/csv.'],
    ['@modelcontextprotocol/sdk', 'shared/node/mcp', 'Reach MCP servers and clients through shared/node/mcp.'],
  ]),
  {
    files: ['electron/**'],
    rules: {
      'no-restricted-imports': only(
        'The shell imports the contract and shared/node; decisions live in shared/engine.',
        ['**/engine/**', '**/renderer/**', '**/test/**'],
      ),
    },
  },
  {
    files: ['renderer/**'],
    plugins: { 'react-hooks': reactHooks },
    languageOptions: { globals: globals.browser },
    rules: {
      ...reactHooks.configs.recommended.rules,
      'no-restricted-imports': only(
        'The renderer knows the contract and a Transport, never a host: ask through a request.',
        ['node:*', '**/shared/node/**', '**/shared/engine/**', '**/electron/**', 'electron', '**/test/**'],
      ),
      'no-restricted-syntax': [
        'error',
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: 'Model output, names and errors are hostile text: render text nodes.',
        },
      ],
    },
  },
  {
    files: ['scripts/**', 'shared/node/bin/**', 'test/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
    rules: { '@typescript-eslint/no-non-null-assertion': 'off', '@typescript-eslint/no-explicit-any': 'off' },
  },
);

/**
 * Packages that one folder of shared/node owns: everybody else there goes through that folder. One object for each owner and
 * one for all others, since a later one would replace an earlier one.
 */
function owned(packages) {
  const rule = (those) => ({
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        paths: those.map(([name, , message]) => ({ name, message })),
        patterns: those.map(([name, , message]) => ({ group: [`${name}/*`], message })),
      },
    ],
  });
  const folders = packages.map(([, folder]) => `${folder}/**`);
  return [
    { files: ['shared/node/**'], ignores: folders, rules: rule(packages) },
    ...packages.map(([name, folder]) => ({
      files: [`${folder}/**`],
      rules: rule(packages.filter(([other]) => other !== name)),
    })),
  ];
}
