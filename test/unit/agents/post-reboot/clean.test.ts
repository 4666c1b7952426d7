import { linkSync, symlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { clean } from '../../../../agents/steps/clean.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { type FakeContainer, fakeRuntime } from '../host/runtime.ts';

const KEY = '/etc/sno-agents/bootstrap-admin.key';
const SNAPSHOT = '/var/lib/sno-agents/restore/etcd-snapshot.db';
const UNIT = '/etc/systemd/system/sno-restore.service';
const IGNITION = '/boot/ignition/config.ign';

/** A host with leftovers: a unit, a file in a folder, a key. */
async function leftovers(t: Test, containers: readonly FakeContainer[] = []): Promise<TestHost> {
  const host = testHost(t);
  const entry = (path: string, unit?: string) => {
    host.write(path, `contents of ${path}`);
    const digest = sha256(`contents of ${path}`);
    return { path, sha256: digest, why: 'bootstrap only', when: 'steady-state', unit };
  };
  const entries = [entry(UNIT, 'sno-restore.service'), entry(SNAPSHOT), entry(KEY)];
  host.write('/etc/sno-agents/leftovers.json', JSON.stringify({ entries, goneKeys: [] }));
  host.write(IGNITION, 'the combined Ignition');
  host.write('/var/lib/other/file');
  // systemd disables a unit only while its file exists.
  host.programs.give(
    'systemctl',
    `case "$1" in
      disable) [ -e "$ROOT/etc/systemd/system/$3" ] ;;
      daemon-reload) ;;
      *) exit 97 ;;
    esac`,
  );
  host.programs.give('systemd-run', 'for each; do echo "$each" >> "$ROOT/run-alone"; done');
  await fakeRuntime(t, host, () => containers);
  return host;
}

const ofSystemd = (host: TestHost) =>
  host.programs.calls().filter((call) => call.startsWith('systemctl '));

t.test('clean', async (t) => {
  t.test('deletes the files in the ledger and the Ignition of the first boot', async (t) => {
    const host = await leftovers(t);
    t.equal(await host.holds(clean), false, 'before');
    t.match(await host.run(clean), { kind: 'done', note: /^3 of 3 files/ });
    for (const path of [KEY, SNAPSHOT, UNIT, IGNITION]) t.notOk(host.has(path), path);
    t.equal(await host.holds(clean), true, 'after');
    t.same(ofSystemd(host), [
      'systemctl disable --no-reload sno-restore.service',
      'systemctl daemon-reload',
    ]);
    for (const path of [KEY, SNAPSHOT, UNIT, IGNITION]) {
      t.match(host.lines.join(''), `Removed ${path}`);
    }
  });

  t.test('also what the disk had of them', async (t) => {
    const host = await leftovers(t);
    const blocks = [KEY, SNAPSHOT, IGNITION].map((path, at) => [path, `/blocks-${at}`] as const);
    for (const [path, same] of blocks) linkSync(host.at(path), host.at(same));
    await host.run(clean);
    for (const [path, same] of blocks) t.match(host.read(same), /^\0+$/, `${path} is overwritten`);
  });

  t.test('the disk is told to forget what is free on /boot, and may not be able to', async (t) => {
    const host = await leftovers(t);
    await host.run(clean);
    t.match(host.read('/run-alone'), new RegExp(`^fstrim\n${host.at('/boot')}$`, 'm'));
    host.programs.give('systemd-run', 'echo "the discard operation is not supported" >&2; exit 1');
    t.match(await host.run(clean), { kind: 'done' });
    t.match(host.lines.join(''), /does not forget the free blocks of \/boot:.*not supported/);
  });

  t.test('a single leftover is detected', async (t) => {
    const host = await leftovers(t);
    await host.run(clean);
    for (const path of [KEY, SNAPSHOT, UNIT]) {
      host.write(path, `contents of ${path}`);
      t.equal(await host.holds(clean), false, path);
      host.remove(path);
    }
  });

  t.test('resumes where it was interrupted, and does nothing when it runs again', async (t) => {
    const host = await leftovers(t);
    host.remove(UNIT);
    host.remove(SNAPSHOT);
    t.match(await host.run(clean), { kind: 'done', note: /^1 of 3 files/ });
    t.same(ofSystemd(host), ['systemctl daemon-reload'], 'nothing is disabled twice');
    t.equal(await host.holds(clean), true);
    t.match(await host.run(clean), { kind: 'done', note: /^0 of 3 files/ });
  });

  t.test('keeps a file whose contents have changed, and reports it', async (t) => {
    const host = await leftovers(t);
    host.write(KEY, 'an operator wrote this');
    t.match(await host.run(clean), { kind: 'done', note: /^2 of 3 files/ });
    t.equal(host.read(KEY), 'an operator wrote this');
    t.match(host.lines.join(''), new RegExp(`Kept ${KEY}`));
    t.equal(await host.holds(clean), true);
  });

  const mounted: [title: string, containers: FakeContainer[], deletes: boolean][] = [
    ['the file', [{ name: 'a', mounts: [SNAPSHOT] }], false],
    ['its folder', [{ name: 'a' }, { name: 'b', mounts: ['/var/lib/sno-agents'] }], false],
    ['a folder of a similar name', [{ name: 'a', mounts: ['/var/lib/sno'] }], true],
    ['a file beside it', [{ name: 'a', mounts: [`${SNAPSHOT}.old`] }], true],
    ['the whole disk, as a daemon of the node does', [{ name: 'a', mounts: ['/'] }], true],
    ['a folder that has other files too', [{ name: 'a', mounts: ['/var/lib'] }], true],
    ['nothing, since it has gone meanwhile', [{ name: 'a', isGone: true }], true],
    ['the file, but has stopped', [{ name: 'a', state: 'exited', mounts: [SNAPSHOT] }], true],
  ];
  for (const [title, containers, deletes] of mounted) {
    t.test(`a container mounts ${title}`, async (t) => {
      const host = await leftovers(t, containers);
      if (deletes) {
        t.match(await host.run(clean), { kind: 'done' });
      } else {
        const failure = await host.failureOf(clean);
        t.equal(failure.kind, 'retry', 'it may stop');
        t.equal(failure.code, 'leftover-remains');
        t.match(failure.message, /container mounts .*sno-agents.* contains .*etcd-snapshot\.db/);
      }
      t.equal(host.has(SNAPSHOT), !deletes);
      t.equal(await host.holds(clean), deletes);
    });
  }

  t.test('a container mounts a folder of leftovers, by its name without links', async (t) => {
    const host = testHost(t);
    const path = '/opt/openshift/key';
    host.write('/var/opt/openshift/key', 'key');
    symlinkSync(host.at('/var/opt'), host.at('/opt'));
    const entry = { path, sha256: sha256('key'), why: 'bootstrap only', when: 'steady-state' };
    host.write(
      '/etc/sno-agents/leftovers.json',
      JSON.stringify({ entries: [entry], goneKeys: [] }),
    );
    await fakeRuntime(t, host, () => [{ name: 'a', mounts: ['/var/opt/openshift'] }]);
    t.match(await host.failureOf(clean), {
      kind: 'retry',
      message: /mounts .*\/var\/opt\/openshift/,
    });
    t.ok(host.has(path));
  });

  t.test('deletes nothing without a ledger, or with a damaged one', async (t) => {
    const host = await leftovers(t);
    host.write('/etc/sno-agents/leftovers.json', '{');
    t.match(await host.failureOf(clean), { kind: 'fatal', message: /cannot be used.*Restore it/ });
    host.remove('/etc/sno-agents/leftovers.json');
    t.match(await host.failureOf(clean), {
      kind: 'fatal',
      code: 'leftover-remains',
      message: /ledger .*leftovers\.json/,
    });
    t.equal(await host.holds(clean), true, 'retire deletes the ledger after the files');
    for (const path of [KEY, SNAPSHOT, UNIT, IGNITION]) t.ok(host.has(path), path);
  });

  t.test('without a unit among the leftovers systemd is not called', async (t) => {
    const host = await leftovers(t);
    const { entries } = JSON.parse(host.read('/etc/sno-agents/leftovers.json'));
    const files = entries.filter(({ unit }: { unit?: string }) => unit === undefined);
    host.write('/etc/sno-agents/leftovers.json', JSON.stringify({ entries: files, goneKeys: [] }));
    host.remove(IGNITION);
    t.match(await host.run(clean), {
      kind: 'done',
      note: '2 of 2 files deleted, the others no longer existed',
    });
    t.same(ofSystemd(host), []);
    t.notMatch(host.lines.join(''), IGNITION, 'CoreOS has deleted it itself');
  });

  t.test('a unit that cannot be disabled keeps its file, for the next attempt', async (t) => {
    const host = await leftovers(t);
    host.programs.give('systemctl', 'echo "Failed to connect to bus" >&2; exit 1');
    t.match(await host.failureOf(clean), { kind: 'retry', message: /connect to bus/ });
    t.ok(host.has(UNIT));
    t.equal(await host.holds(clean), false);
  });
});
