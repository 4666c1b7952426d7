import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { butane } from '../../../lab/components/butane.ts';
import { ensureComponent } from '../../../lab/components/component.ts';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { effectiveConfig } from '../../../lib/render/ignition/validate.ts';
import { agentsExecutable } from '../../unit/cli/agents-executable.ts';
import { edited } from '../../unit/cli/install-config-file.ts';
import { sno } from '../../unit/cli/run-sno.ts';

const SHOP = `variant: fcos
version: 1.3.0
storage:
  files:
    - path: /etc/shop/till.conf
      mode: 0640
      contents: { local: till.conf }
systemd:
  units:
    - name: till.service
      enabled: true
      contents: |
        [Service]
        ExecStart=/bin/true
        [Install]
        WantedBy=multi-user.target
`;

const programs = await ensureComponent(butane, {
  signal: AbortSignal.timeout(15 * 60_000),
  report: (line) => t.comment(line),
});

t.test('a Butane config becomes part of the host; what butane refuses is quoted', async (t) => {
  const at = t.testdir({
    'sno-agents': agentsExecutable(),
    cluster: { 'install-config.yaml': edited([['  existingSystem: overwrite\n', '']]) },
    shop: { 'shop.bu': SHOP, 'till.conf': 'till = 1\n', 'typo.bu': `${SHOP}storag: 1\n` },
  });
  const dir = join(at, 'cluster');
  const create = (name: string) =>
    sno([
      ...['create', 'aio-ignition', '--dir', dir, '--agents-executable', join(at, 'sno-agents')],
      ...['--payload-sha256', 'a'.repeat(64), '--agents-url', 'http://192.0.2.1/a'],
      ...['--payload-url', 'http://192.0.2.1/p', '--butane', join(at, 'shop', name)],
    ]);
  const before = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = before;
  });

  process.env.PATH = `${programs}:${before}`;
  const typo = await create('typo.bu');
  t.equal(typo.code, 2);
  t.match(typo.err, /butane refuses .*typo\.bu; nothing was written; found .*unused key storag/s);

  t.equal((await create('shop.bu')).code, 0);
  const made = async () => {
    const text = await readFile(join(dir, 'aio.ign'), 'utf8');
    return effectiveConfig(parseConfig(text, 'aio.ign')).config;
  };
  const config = await made();
  const file = config.storage?.files?.find(({ path }) => path === '/etc/shop/till.conf');
  t.equal(file?.mode, 0o640);
  t.equal(decodeDataUrl(file?.contents ?? {}).toString('utf8'), 'till = 1\n');
  t.ok(config.systemd?.units?.some(({ name, enabled }) => name === 'till.service' && enabled));

  // An Ignition config within, of another version: butane warns that it does not look into it.
  const child = '{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"clerk"}]}}';
  const merge = `ignition:\n  config:\n    merge:\n      - inline: '${child}'\n`;
  writeFileSync(join(at, 'shop/within.bu'), `${SHOP}${merge}`);
  rmSync(join(dir, 'aio.ign'));
  rmSync(join(dir, 'auth'), { recursive: true });
  const within = await create('within.bu');
  t.equal(within.code, 0, within.err);
  t.ok((await made()).passwd?.users?.some(({ name }) => name === 'clerk'));

  const empty = join(at, 'empty');
  mkdirSync(empty);
  process.env.PATH = empty;
  writeFileSync(join(at, 'shop/other.bu'), SHOP);
  const none = await create('other.bu');
  t.equal(none.code, 2);
  t.match(none.err, /--butane needs the program butane/);
});
