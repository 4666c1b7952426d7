import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { deferredContext } from '../../../../agents/deferred/context.ts';
import { readExpiry, setExpiry } from '../../../../agents/deferred/expiry.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { cluster } from '../host/cluster.ts';

const hours = (count: number) => count * 3_600_000;

async function host(t: Test, completed?: string) {
  const paths = hostPaths(t.testdir());
  await mkdir(paths.state, { recursive: true });
  if (completed !== undefined) {
    await writeFile(`${paths.state}/record.json`, JSON.stringify({ completed }));
  }
  return paths;
}

t.test('it is counted from the end of the installation, according to the settings', async (t) => {
  const paths = await host(t, '2026-03-01T12:00:00.000Z');
  const expiry = (deferredExpiryHours: number) =>
    readExpiry(paths, { ...defaultSettings, deferredExpiryHours });
  t.equal((await expiry(168)).toISOString(), '2026-03-08T12:00:00.000Z');
  t.equal((await expiry(0.5)).toISOString(), '2026-03-01T12:30:00.000Z');
});

t.test('before the end of the installation there is none', async (t) => {
  await t.rejects(readExpiry(await host(t), defaultSettings), {
    kind: 'usage',
    message: /the installation has not ended/,
  });
});

t.test('one set by the administrator is counted from then on, for later runs too', async (t) => {
  const paths = await host(t, '2020-01-01T00:00:00.000Z');
  const before = Date.now();
  await setExpiry(paths, defaultSettings, '24');
  const expiry = await readExpiry(paths, defaultSettings);
  t.ok(expiry.getTime() >= before + hours(24) && expiry.getTime() <= Date.now() + hours(24));
  for (const wrong of ['0', '-1', '169', 'soon', '']) {
    await t.rejects(setExpiry(paths, defaultSettings, wrong), {
      kind: 'usage',
      message: /more than 0 and at most 168/,
    });
  }
  t.equal((await readExpiry(paths, defaultSettings)).getTime(), expiry.getTime());
  const path = `${paths.state}/sno-deferred/expiry.json`;
  t.same(JSON.parse(await readFile(path, 'utf8')), { expires: expiry.toISOString() });
  t.equal((await stat(path)).mode & 0o777, 0o644, 'people read it');
  await setExpiry(paths, defaultSettings, '168');
});

t.test('one that was set before an update of the agents is kept', async (t) => {
  const paths = await host(t, '2020-01-01T00:00:00.000Z');
  const path = paths.at('/var/lib/sno-agents/sno-deferred/expiry.json');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '{"expires":"2030-01-01T00:00:00.000Z"}');
  const expiry = await readExpiry(paths, defaultSettings);
  t.equal(expiry.toISOString(), '2030-01-01T00:00:00.000Z');
});

t.test('a run knows its expiry, and can set it', async (t) => {
  const paths = await host(t, '2026-03-01T12:00:00.000Z');
  await mkdir(paths.config, { recursive: true });
  await writeFile(`${paths.config}/cluster.json`, JSON.stringify(cluster));
  const first = await deferredContext(paths, {});
  t.equal(first.expires.toISOString(), '2026-03-08T12:00:00.000Z');
  t.equal(first.cluster.clusterId, cluster.clusterId);
  const before = Date.now();
  const second = await deferredContext(paths, { expiresInHours: '2' });
  t.ok(second.expires.getTime() >= before + hours(2));
  t.same((await deferredContext(paths, {})).expires, second.expires, 'also for the next run');
});
