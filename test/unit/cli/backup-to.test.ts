/** Where a host stores its backups, beside what it is made from: judged on the laptop, and on the host from the first boot. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { renderSite } from '../../../cli/fleet/worker/render.ts';
import { readSite, siteSource } from '../../../cli/site/read-site.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { ageKeys } from '../change/backup/portable-backup.ts';
import { agentsExecutable } from './agents-executable.ts';
import { edited } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const PATH = '/etc/sno-agents/backup-to.json';
const { recipient } = await ageKeys();
const good = JSON.stringify({
  ...{ apiVersion: 'sno-agents/v1', kind: 'BackupTo', recipients: [recipient] },
  ...{ url: 'https://store.example.com/backups/', token: 'abc' },
});
const bad = good.replace('/backups/', '/backups');
const SITE = 'api_version: 1\ncluster_name: shop\nbase_domain: example.com\n';
const COMMANDS = {
  'single-node-ignition-config': { args: [], file: 'bootstrap-in-place-for-live-iso.ign' },
  'aio-ignition': { args: ['--payload-sha256', 'a'.repeat(64)], file: 'aio.ign' },
} as const;
const WITHOUT_DISK = edited([
  ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', ''],
  ['  existingSystem: overwrite\n', ''],
]);

for (const [command, { args, file }] of Object.entries(COMMANDS)) {
  t.test(command, async (t) => {
    const config = command === 'aio-ignition' ? WITHOUT_DISK : edited([]);
    const create = async (text: string) => {
      const cluster = { 'install-config.yaml': config, 'backup-to.json': text };
      const dir = join(t.testdir({ 'sno-agents': agentsExecutable(), cluster }), 'cluster');
      const own = ['--dir', dir, '--agents-executable', join(dir, '../sno-agents')];
      return { dir, ...(await sno(['create', command, ...own, ...args])) };
    };
    const refused = await create(bad);
    t.equal(refused.code, 2);
    t.match(refused.err, /backup-to\.json cannot be used.*url: expected a folder/);
    t.notMatch(refused.err, 'abc');
    t.notOk(existsSync(join(refused.dir, file)), 'nothing is written');
    const { code, err, dir } = await create(good);
    t.equal(code, 0, err);
    const ignition = parseConfig(await readFile(join(dir, file), 'utf8'), file);
    const placed = ignition.storage?.files?.find(({ path }) => path === PATH);
    t.equal(placed?.mode, 0o600);
    t.equal(placed?.contents && decodeDataUrl(placed.contents).toString(), good);
  });
}

t.test('a site', async (t) => {
  const context = { facts: undefined, now: new Date(), signal: AbortSignal.timeout(60_000) };
  const read = async (text: string) => {
    const dir = t.testdir({ 'site-config.yaml': SITE, 'backup-to.json': text });
    return readSite(await siteSource(join(dir, 'site-config.yaml')), context);
  };
  const { files } = await read(good);
  t.equal(Buffer.from(files.get('backup-to.json') ?? []).toString(), good);
  await t.rejects(read(bad), { kind: 'usage', message: /site.*\/backup-to\.json cannot be used/s });
});

t.test('a key of a Secret of a fleet', async (t) => {
  const { files } = await renderSite(
    {
      template: { text: SITE, name: 'site-config.yaml of ConfigMap shop' },
      files: new Map([['backup-to.json', Buffer.from(good)]]),
      values: new Map([['site', 'berlin']]),
      ...{ ambiguous: [], secrets: [good], facts: undefined },
    },
    1,
    { now: new Date(), signal: AbortSignal.timeout(60_000) },
  );
  t.equal(Buffer.from(files.get('backup-to.json') ?? []).toString(), good);
});
