/** To whom a host reports, beside what it is made from: judged on the laptop, and on the host from the first boot. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { readSite, siteSource } from '../../../cli/site/read-site.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { agentsExecutable } from './agents-executable.ts';
import { type Edit, edited } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const PATH = '/etc/sno-agents/report-to.json';
const good = JSON.stringify({
  ...{ apiVersion: 'sno-agents/v1', kind: 'ReportTo' },
  ...{ url: 'https://hub.example.com/reports', token: 'abc' },
});
const bad = good.replace('https', 'http');
const NO_DISK: readonly Edit[] = [
  ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', ''],
  ['  existingSystem: overwrite\n', ''],
];
const PINNED = ['--payload-sha256', 'a'.repeat(64)];
const CREATED = {
  'single-node-ignition-config': {
    args: [],
    edits: [],
    file: 'bootstrap-in-place-for-live-iso.ign',
  },
  'aio-ignition': { args: PINNED, edits: NO_DISK, file: 'aio.ign' },
} as const;

for (const [command, { args, edits, file }] of Object.entries(CREATED)) {
  t.test(command, async (t) => {
    for (const [text, isGood] of [
      [good, true],
      [bad, false],
      [undefined, true],
    ] as const) {
      const cluster = {
        'install-config.yaml': edited([...edits]),
        ...(text === undefined ? {} : { 'report-to.json': text }),
      };
      const dir = join(t.testdir({ 'sno-agents': agentsExecutable(), cluster }), 'cluster');
      const own = ['--dir', dir, '--agents-executable', join(dir, '../sno-agents')];
      const { code, err } = await sno(['create', command, ...own, ...args]);
      if (!isGood) {
        t.equal(code, 2);
        t.match(err, /report-to\.json cannot be used.*url/);
        t.notMatch(err, 'abc');
        t.notOk(existsSync(join(dir, file)), 'nothing is written');
        continue;
      }
      t.equal(code, 0, err);
      const config = parseConfig(await readFile(join(dir, file), 'utf8'), file);
      const placed = config.storage?.files?.find(({ path }) => path === PATH);
      t.equal(placed?.mode, text === undefined ? undefined : 0o600);
      t.equal(placed?.contents && decodeDataUrl(placed.contents).toString(), text);
    }
  });
}

const SITE = 'api_version: 1\ncluster_name: shop\nbase_domain: example.com\n';
const context = { facts: undefined, now: new Date(), signal: AbortSignal.timeout(60_000) };

t.test('a site', async (t) => {
  const read = async (files: Record<string, string>) => {
    const dir = t.testdir({ 'site-config.yaml': SITE, ...files });
    return readSite(await siteSource(join(dir, 'site-config.yaml')), context);
  };
  const site = await read({ 'report-to.json': good });
  t.equal(Buffer.from(site.files.get('report-to.json') ?? []).toString(), good);
  t.match(site.reportTo, { token: 'abc' });
  t.equal((await read({})).reportTo, undefined);
  await t.rejects(read({ 'report-to.json': bad }), {
    kind: 'usage',
    message: /site.*\/report-to\.json cannot be used.*url/s,
  });
  await t.rejects(read({ 'report-to.json': 'x'.repeat(300_000) }), { message: /at most 262144/ });
});
