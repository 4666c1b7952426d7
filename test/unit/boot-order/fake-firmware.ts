import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** The firmware's variables; entries with their device paths as printed by efibootmgr. */
export interface FakeVariables {
  current?: string;
  next?: string;
  order: string[];
  entries: Record<string, { label: string; path: string }>;
  /** How the firmware misbehaves. */
  fault?: 'read-only' | 'full' | 'forgets-entries' | 'keeps-its-order';
  /** GUID of a disk's first partition, for new entries. */
  partition?: string;
}

/** Emulates efibootmgr on a file instead of firmware. */
const EFIBOOTMGR = `
import { readFileSync, writeFileSync } from 'node:fs';
const file = process.env.FAKE_FIRMWARE;
const v = JSON.parse(readFileSync(file, 'utf8'));
const args = process.argv.slice(2);
const value = (name) => args[args.indexOf(name) + 1];
const refuse = (text, code) => { console.error(text); process.exit(code); };
if (!args.includes('--verbose')) {
  if (v.fault === 'read-only') refuse('Could not prepare Boot variable: Read-only file system', 5);
  if (args.includes('--create')) {
    if (v.fault === 'full') refuse('Could not prepare Boot variable: No space left on device', 5);
    let number = 0;
    const name = () => number.toString(16).toUpperCase().padStart(4, '0');
    while (v.entries[name()]) number++;
    if (v.fault !== 'forgets-entries') {
      const path = 'HD(' + value('--part') + ',GPT,' + v.partition + ',0x1000,0x3f800)/File(' + value('--loader') + ')';
      v.entries[name()] = { label: value('--label'), path };
      v.order.unshift(name());
    }
  }
  if (args.includes('--delete-bootnum')) {
    delete v.entries[value('--bootnum')];
    v.order = v.order.filter((number) => number !== value('--bootnum'));
  }
  if (args.includes('--bootorder') && v.fault !== 'keeps-its-order') v.order = value('--bootorder').split(',');
  if (args.includes('--bootnext')) v.next = value('--bootnext');
  writeFileSync(file, JSON.stringify(v));
}
if (v.next) console.log('BootNext: ' + v.next);
if (v.current) console.log('BootCurrent: ' + v.current);
console.log('Timeout: 1 seconds');
console.log('BootOrder: ' + v.order.join(','));
for (const [number, { label, path }] of Object.entries(v.entries)) console.log('Boot' + number + '* ' + label + '\\t' + path);
`;

/** Runs the command after --, as a service connected to the caller's pipes. */
const SYSTEMD_RUN = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n';

/** Puts programs before all others in PATH until the test ends. */
export function fakePrograms(t: Test, folder: string, programs: Readonly<Record<string, string>>) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  const before = { ...process.env };
  t.teardown(() => {
    process.env = before;
  });
  process.env = { ...before, PATH: `${folder}:${before.PATH}` };
}

/** Firmware for efibootmgr; returns its current variables at any time. */
export function fakeFirmware(t: Test, folder: string, variables: FakeVariables) {
  const file = join(folder, 'variables.json');
  const program = join(folder, 'efibootmgr.mjs');
  fakePrograms(t, join(folder, 'bin'), {
    // Without NODE_OPTIONS, which the test runner sets for tests.
    efibootmgr: `#!/bin/sh\nexec env -u NODE_OPTIONS ${process.execPath} ${program} "$@"\n`,
    'systemd-run': SYSTEMD_RUN,
  });
  writeFileSync(program, EFIBOOTMGR);
  process.env.FAKE_FIRMWARE = file;
  writeFileSync(file, JSON.stringify(variables));
  return (): unknown => JSON.parse(readFileSync(file, 'utf8'));
}
