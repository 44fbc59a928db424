import { expect, test } from 'vitest';
import { settingsPatchSchema, settingsSchema } from '../../shared/contract/settings.ts';

test('a patch holds what was given and nothing else', () => {
  expect(settingsPatchSchema.parse({ theme: 'dark' })).toEqual({ theme: 'dark' });
  expect(settingsPatchSchema.parse({})).toEqual({});
});

test('settings and their patch have the same fields', () => {
  expect(Object.keys(settingsPatchSchema.shape)).toEqual(Object.keys(settingsSchema.shape));
});

test('a patch with an unknown field is refused', () => {
  expect(settingsPatchSchema.safeParse({ colour: 'red' }).success).toBe(false);
});
