import { describe, expect, test } from 'vitest';
import { agentPresetSchema } from '../../../shared/contract/agents.ts';
import { FARM_SCRIPT, scripts } from '../../../shared/engine/agent-lab/scripts.ts';
import { agentPresets } from '../../../shared/node/agent/presets.ts';
import { openLab } from './world-setup.ts';

const presets = agentPresets('a-model:1b');

test('one for every script, and some for a real model', () => {
  const scripted = presets.filter((preset) => preset.scripted).map(({ name }) => name);
  expect(scripted.sort()).toEqual([...Object.keys(scripts), FARM_SCRIPT].sort());
  const real = presets.filter((preset) => !preset.scripted);
  expect(real.map(({ task }) => task.model)).toEqual(['a-model:1b', 'a-model:1b']);
  expect(real.every(({ task }) => task.tools.length > 0)).toBe(true);
});

test('each says in a sentence what it shows', () => {
  expect(new Set(presets.map(({ name }) => name)).size).toBe(presets.length);
  for (const preset of presets) {
    expect(agentPresetSchema.parse(preset)).toEqual(preset);
    expect(preset.shows).toMatch(/^[A-Z0-9][^!]{20,160}\.$/);
    expect(preset.title).not.toBe('');
  }
});

describe.each(presets.filter(({ scripted }) => scripted))('$name', ({ name, task }) => {
  test('runs as it stands', async () => {
    const lab = await openLab();
    const view = await lab.run(task);
    expect(view.run).toMatchObject({ state: 'ended', problem: null, scripted: true, simulated: true });
    expect(view.run.reason).not.toBe('rounds');
    const inventory = await lab.agents.inventory(task);
    if (!inventory.ok) throw new Error(inventory.denial.message);
    const known = [...inventory.value.tools.map((tool) => tool.name), 'read_blob', 'delegate'];
    expect(Object.keys(view.run.totals.callsByTool).filter((tool) => !known.includes(tool))).toEqual([]);
    if (name === 'job-forgetter') expect(view.run.openLeases).toBe(1);
  });
});
