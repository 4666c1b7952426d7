import { defaultSettings, type Settings } from '../../../lib/host/settings.ts';

/** Settings with distinct values, so that a deadline shows which setting it comes from. */
const names = Object.keys(defaultSettings);
export const distinct = (name: keyof Settings) => 1_000_000 + names.indexOf(name);
export const settings: Settings = Object.assign(
  { ...defaultSettings },
  Object.fromEntries(names.map((name, index) => [name, 1_000_000 + index])),
);
