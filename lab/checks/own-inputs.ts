import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { onHost } from '../host/on-host.ts';
import { OWN_FILE, OWN_NICE, OWN_UNIT } from '../own-inputs.ts';
import type { RunningCheck } from './check.ts';

export const ownInputs: RunningCheck = {
  name: "the installed host has the administrator's own file, unit and drop-in",
  run: async ({ host }, signal) => {
    const path = join(host.rootDir, OWN_FILE.path);
    const found = [(await stat(path)).mode & 0o777, await readFile(path, 'utf8')];
    expect(OWN_FILE.path, [OWN_FILE.mode, OWN_FILE.contents], found);
    const show = (property: string, unit: string) =>
      onHost(host, ['systemctl', 'show', '--value', `--property=${property}`, unit], signal);
    expect(OWN_UNIT, ['active'], [(await show('ActiveState', OWN_UNIT)).trim()]);
    expect('Nice of the kubelet', [OWN_NICE], [(await show('Nice', 'kubelet.service')).trim()]);
  },
};

function expect(what: string, wanted: readonly unknown[], found: readonly unknown[]): void {
  if (wanted.join() === found.join()) return;
  throw new Failure('fatal', what, { expected: wanted.join(), found: found.join() });
}
