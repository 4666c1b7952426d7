import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { labelPrograms } from '../../../lib/payload/selinux.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';
import { kernelHasSelinux } from '../host/selinux.ts';

const signal = new AbortController().signal;

/** A host with or without SELinux in its kernel, and a `chcon` that records its calls. */
function host(t: Test, { selinux }: { selinux: boolean }, body = '') {
  const folder = t.testdir({ programs: {}, calls: '' });
  const program = join(folder, 'programs', 'chcon');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> ${folder}/calls\n${body}`);
  chmodSync(program, 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${join(folder, 'programs')}:${before}`;
  kernelHasSelinux(t, selinux);
  t.teardown(() => {
    process.env.PATH = before;
  });
  return () => readFileSync(join(folder, 'calls'), 'utf8');
}

t.test('programs get a type that services may execute', async (t) => {
  const calls = host(t, { selinux: true });
  await labelPrograms(['/opt/a', '-b'], signal);
  t.equal(calls(), '-t bin_t -- /opt/a -b\n');
  await labelPrograms([], signal);
  t.equal(calls(), '-t bin_t -- /opt/a -b\n', 'nothing to label');
});

t.test('without SELinux nothing is labelled', async (t) => {
  const calls = host(t, { selinux: false });
  await labelPrograms(['/opt/a'], signal);
  t.equal(calls(), '');
});

t.test('a label that cannot be set is an error, and a signal ends the program', async (t) => {
  host(t, { selinux: true }, 'case "$*" in *slow*) exec sleep 600 ;; esac\nexit 1\n');
  await t.rejects(labelPrograms(['/opt/a'], signal), /chcon/);
  const stop = new AbortController();
  const stopped = labelPrograms(['/opt/slow'], stop.signal);
  stop.abort();
  t.match(await thrownBy(stopped), { isCanceled: true });
});
