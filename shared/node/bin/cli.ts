#!/usr/bin/env node
// The check comes before every other import: what comes after it needs this Node.
import { requireNode } from '../require-node.ts';

requireNode();
const { runProgram } = await import('./program.ts');
await runProgram(process.argv.slice(2));
