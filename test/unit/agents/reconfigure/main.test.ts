/** The command that the unit runs at each boot, and when a site volume is inserted. */
import t, { type Test } from 'tap';
import { runReconfigure } from '../../../../agents/reconfigure/main.ts';
import { sshPublicKey } from '../../../../lab/site-inputs.ts';
import type { TestHost } from '../host/host.ts';
import { factoryHost, insert, REQUEST, SITE, STATE } from './site-host.ts';

const signals = (host: TestHost) =>
  host.programs.calls('systemd-run').flatMap((line) => / signal (\w+)$/.exec(line)?.[1] ?? []);

async function running(t: Test, host: TestHost) {
  const said: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => said.push(text) > 0);
  t.capture(process.stdout, 'write', (text: string) => said.push(text) > 0);
  return async (...args: string[]) => {
    said.length = 0;
    const write = (text: string) => void said.push(text);
    const code = await runReconfigure(host.paths, args, { write, isJournal: false });
    return { code, said: said.join('') };
  };
}

t.test('without a volume it says so, and is done', async (t) => {
  const host = await factoryHost(t);
  const run = await running(t, host);
  t.match(await run('run'), { code: 0, said: 'no site volume is inserted\n' });
  t.same(signals(host), []);
  const { code, said } = await run('status');
  t.equal(code, 0);
  t.match(said, /\n {2}conclude +-\n$/, 'nothing of an end');
});

t.test('its help looks at nothing', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  const run = await running(t, host);
  t.match(await run('run', '--help'), { code: 0, said: /Usage: / });
  t.notOk(host.has(REQUEST));
});

t.test('the commands of a factory have options of their own', async (t) => {
  const host = await factoryHost(t);
  const run = await running(t, host);
  t.match(await run('prepare', '--help'), { code: 0, said: /--shipping-days/ });
  t.match(await run('validate', '--help'), { code: 0, said: /--no-seal/ });
});

t.test('a volume that is refused is said, and nothing is begun', async (t) => {
  const host = await factoryHost(t);
  await insert(host, undefined, { labels: ['SITE-CONFIG', 'cluster-config'] });
  const run = await running(t, host);
  const refused = await run('run');
  t.equal(refused.code, 2);
  t.match(refused.said, /more than one site volume/);
  t.notOk(host.has(REQUEST));
  t.match((await run('status')).said, /more than one site volume/);
});

t.test('why a stick is no volume is at the login prompt, until the next one', async (t) => {
  const host = await factoryHost(t);
  const stick = { tran: 'usb', mountpoint: null, fstype: 'ntfs' };
  await insert(host, undefined, { labels: [null], stick });
  host.write(
    '/var/lib/sno-agents/record.json',
    JSON.stringify({ cluster: 'sno.example.com', completed: '2026-11-21T10:00:00.000Z' }),
  );
  const run = await running(t, host);
  t.match(await run('run'), { code: 0 });
  const prompt = () => host.read('/run/sno-agents/console.issue').replaceAll('\n', ' ');
  t.match(prompt(), /waits for its site volume.*formatted as NTFS.*formatted as FAT32/);
  await insert(host, undefined, { labels: ['SITE-CONFIG', 'cluster-config'] });
  t.match(await run('run'), { code: 2 });
  t.match(prompt(), /FAILED.*more than one site volume/);
  t.notMatch(prompt(), /NTFS/);
});

t.test('its end is signalled, and not that it tries again', async (t) => {
  for (const [spoil, code, seen] of [
    [(host: TestHost) => host.remove(`${STATE}/site`), 1, ['accepted']],
    [
      (host: TestHost) => host.write(`${STATE}/site/site-config.yaml`, 'x'),
      2,
      ['accepted', 'fail'],
    ],
  ] as const) {
    const host = await factoryHost(t);
    await insert(host);
    const run = await running(t, host);
    await run('run', '--until', 'check');
    spoil(host);
    host.programs.forgetCalls();
    t.match(await run('run'), { code });
    t.same(signals(host), seen);
  }
});

t.test('a volume is carried out: its first step is run', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  const run = await running(t, host);
  await run('run', '--until', 'check');
  t.ok(host.has(REQUEST));
});

t.test(
  'a sealed host asks the URL of its factory, if it may, and says what came of it',
  async (t) => {
    const host = await factoryHost(t);
    const policy = JSON.parse(host.read('/etc/sno-agents/factory.json'));
    host.write(
      '/etc/sno-agents/factory.json',
      JSON.stringify({ ...policy, siteUrl: 'https://factory.example' }),
    );
    host.programs.give('nm-online', 'echo "no network" >&2; exit 1');
    const run = await running(t, host);
    const first = await run('run');
    t.match(first, {
      code: 0,
      said: /no site volume is inserted\nno site volume from https:\/\/factory\.example\/52-54-00-12-34-56\.site: .*no network/s,
    });
    t.match(await run('run'), { code: 0, said: 'no site volume is inserted\n' }, 'once in a boot');
  },
);

t.test('a volume that this host cannot be given: it is signalled, and told', async (t) => {
  const host = await factoryHost(t);
  host.programs.give('sshd', 'echo pubkeyacceptedalgorithms rsa-sha2-512');
  host.programs.give('ssh-keygen', 'echo 256 SHA256:x');
  await insert(host, { config: `${SITE}ssh_key: ${sshPublicKey()}\n` });
  const run = await running(t, host);
  t.match(await run('run'), { code: 4, said: /FAIL: .*SSH keys of the site/ });
  t.same(signals(host), ['accepted', 'fail']);
  t.match(host.read('/written.json'), /FAIL: .*SSH keys of the site/);
  t.notOk(host.has('/run/sno-agents/reconfigure/medium'));
});
