/** What a volume is told about its use: PASS, or FAIL with one instruction. */
import { armor, Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import t, { type Test } from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { tellLast } from '../../../../agents/reconfigure/tell-medium.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { endedAs } from '../../../../lib/change/ending.ts';
import { siteChange } from '../../../../lib/change/site/request.ts';
import { resultPage } from '../../../../lib/relocation/site-volume/result.ts';
import type { TestHost } from '../host/host.ts';
import { factoryHost, insert, SITE, STATE } from './site-host.ts';

const signal = new AbortController().signal;
const look = (host: TestHost) => arrive(host.paths, signal);
const NO_LINK = failureData(
  new Failure('fatal', 'no link on eno1', {
    code: 'site-link',
    found: 'carrier 0',
    fix: 'Check the cable in eno1, and insert the volume again.',
  }),
);

/** What the writer has received since the last time, as the medium would have it then. */
function told(host: TestHost): Record<string, string> | undefined {
  if (!host.has('/written.json')) return undefined;
  const files: { name: string; text: string }[] = JSON.parse(host.read('/written.json'));
  host.remove('/written.json');
  for (const { name, text } of files) host.write(`/medium/${name}`, text);
  return Object.fromEntries(files.map(({ name, text }) => [name, text]));
}

/** A volume that was used, and how that ended. */
async function used(t: Test, outcome: 'configured' | 'refused' | 'reverted') {
  const host = await factoryHost(t);
  await insert(host);
  await look(host);
  t.equal(told(host), undefined, 'nothing before its end');
  t.equal(await tellLast(host.paths), undefined);
  t.equal(told(host), undefined, 'nothing while it is carried out');
  await siteChange.end(
    host.paths,
    endedAs({ outcome: outcome, failure: outcome === 'configured' ? undefined : NO_LINK }),
  );
  return host;
}

t.test('PASS, and the kubeconfig for the request', async (t) => {
  const host = await used(t, 'configured');
  host.write(`${STATE}/admin.kubeconfig`, 'apiVersion: v1\n');
  t.equal(await tellLast(host.paths), undefined);
  const calls = host.programs.calls('systemd-run').join('\n');
  t.match(calls, /DynamicUser=yes.*DeviceAllow=\/dev\/sdb rw .*PrivateNetwork=yes/);
  t.match(calls, /sno-agents reconfigure write-medium vfat \/dev\/sdb$/m);
  const files = told(host);
  t.match(files?.['sno-result.txt'], /PASS: the node has the configuration of its site\./);
  t.match(
    files?.['sno-result.txt'],
    /\nCluster: edge\.example\.test\nNode: .*\nSerial of the volume: 7\nTime: 20/,
  );
  t.match(files?.['sno-kubeconfig.yaml'], /^# .*\napiVersion: v1\n\n/);
  t.notMatch(JSON.stringify(files), /PRIVATE/);
  t.same(
    Object.values(files ?? {}).map((text) => Buffer.byteLength(text)),
    [8192, 8192, 8192],
  );
  t.match(files?.['sno-result.html'], /<title>PASS<\/title>.*background:#0b6b2e/s);
  t.notOk(host.has('/run/sno-agents/reconfigure/medium'), 'no copy of the medium stays');
  await tellLast(host.paths);
  t.equal(told(host), undefined, 'what is there already is not written again');
});

t.test('FAIL with one instruction and a code', async (t) => {
  const host = await used(t, 'reverted');
  await tellLast(host.paths);
  const text = told(host)?.['sno-result.txt'] ?? '';
  t.match(
    text,
    /FAIL: no link on eno1; found carrier 0\nWhat to do: Check the cable in eno1, .*\n/,
  );
  t.match(text, /\nCode: site-link\n/);
});

t.test('the same as a page, where names of the node stay text', (t) => {
  const failure = { code: 'site-link', kind: 'fatal', what: 'no link on <b>&eno1</b>' } as const;
  const told = {
    ...{ cluster: undefined, node: 'till"><script>', serial: 7, version: '1', endedAt: undefined },
    failure,
  };
  const page = resultPage(told);
  t.match(page, /<title>FAIL<\/title>.*background:#b3141b/s);
  t.match(page, '<p>no link on &lt;b&gt;&amp;eno1&lt;/b&gt;</p>');
  t.match(page, '<p>What to do: Call support with this text.</p>\n<p>Code: site-link</p>');
  t.match(page, '<p>Node: till"&gt;&lt;script&gt;</p>');
  t.notMatch(page, /<script|https?:/);
  t.end();
});

t.test('a host that lost its power tells it when it looks at the volume again', async (t) => {
  const host = await used(t, 'reverted');
  t.match(await look(host), { kind: 'nothing' });
  t.match(told(host)?.['sno-result.txt'], /FAIL: no link on eno1/);
  t.match(await look(host), { kind: 'nothing' });
  t.equal(told(host), undefined);
});

t.test('while it is tried again, it is not told how it went before', async (t) => {
  const host = await used(t, 'reverted');
  const text = host.read('/medium/sno-result.txt');
  t.match(await look(host), { kind: 'nothing' });
  told(host);
  host.write('/medium/sno-result.txt', text);
  host.write('/sys/class/block/sdb/diskseq', '9\n');
  t.match(await look(host), { kind: 'request' });
  t.equal(await tellLast(host.paths), undefined);
  t.equal(told(host), undefined);
});

t.test('a known volume whose end is not known is told nothing', async (t) => {
  const host = await used(t, 'reverted');
  const path = `${STATE}/result.json`;
  const last = JSON.parse(host.read(path));
  host.write(path, JSON.stringify({ ...last, volume: { serial: 6, sha256: 'another' } }), 0o600);
  t.match(await look(host), { kind: 'nothing', note: 'this host has used the volume before' });
  t.equal(told(host), undefined);
});

t.test('a refused volume: told once, or udev would look at it for ever', async (t) => {
  const host = await factoryHost(t);
  const expired = {
    validUntil: new Date('2020-01-02T00:00:00Z'),
    createdAt: new Date('2020-01-01T00:00:00Z'),
  };
  await insert(host, { config: SITE, ...expired });
  await t.rejects(look(host), { message: /has expired/ });
  const text = told(host)?.['sno-result.txt'] ?? '';
  t.match(text, /FAIL: the volume has expired.*\nWhat to do: .*\nCode: site-volume-refused\n/);
  t.notMatch(text, /Time:/);
  await t.rejects(look(host), { message: /has expired/ });
  t.equal(told(host), undefined);
  await insert(host, { config: SITE, ...expired }, { ro: true });
  await t.rejects(look(host), { message: /has expired/ });
  t.equal(told(host), undefined, 'a medium that is read-only');
});

const SILENT: readonly {
  readonly name: string;
  readonly prepare: (host: TestHost) => Promise<void> | void;
}[] = [
  {
    name: 'a volume that nobody of the factory has signed',
    prepare: async (host) => {
      const path = '/etc/sno-agents/factory.json';
      const policy = JSON.parse(host.read(path));
      host.write(path, JSON.stringify({ ...policy, unsignedAllowed: false }));
      await look(host).catch(() => undefined);
    },
  },
  {
    name: 'a volume without room, of an earlier release',
    prepare: async (host) => {
      host.remove('/medium/sno-result.txt');
      host.remove('/medium/sno-result.html');
      await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
    },
  },
  {
    name: 'a read-only medium',
    prepare: async (host) => {
      const manifest = host.read('/medium/site-volume.json');
      await insert(host, undefined, { ro: true });
      host.write('/medium/site-volume.json', manifest);
      await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
    },
  },
  {
    name: 'another volume than the one that was used',
    prepare: async (host) => {
      await insert(host, { config: SITE, serial: 8 });
      await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
    },
  },
  {
    name: 'one of two volumes',
    prepare: async (host) => {
      const manifest = host.read('/medium/site-volume.json');
      await insert(host, undefined, { labels: ['SITE-CONFIG', 'cluster-config'] });
      host.write('/medium/site-volume.json', manifest);
      await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
    },
  },
  {
    name: 'none any more',
    prepare: async (host) => {
      host.programs.give('lsblk', 'echo \'{"blockdevices":[]}\'');
      await siteChange.end(host.paths, endedAs({ outcome: 'configured', failure: undefined }));
    },
  },
];
for (const { name, prepare } of SILENT) {
  t.test(`nothing is written to ${name}`, async (t) => {
    const host = await factoryHost(t);
    await insert(host);
    await look(host);
    await prepare(host);
    t.equal(await tellLast(host.paths), undefined);
    t.equal(told(host), undefined);
  });
}

t.test('a medium that cannot be written fails nothing', async (t) => {
  const host = await used(t, 'configured');
  host.programs.give('fake-writer', 'echo "EROFS: read-only file system" >&2; exit 1');
  t.match(await tellLast(host.paths), /nothing was written to the medium SITE-CONFIG.*EROFS/);
});

t.test('an encrypted volume is not told what the site is like', async (t) => {
  const host = await used(t, 'reverted');
  host.write('/medium/site-volume.age', 'encrypted');
  await tellLast(host.paths);
  const text = told(host)?.['sno-result.txt'] ?? '';
  t.match(text, /FAIL: no link on eno1\nWhat to do: Read the console of the node/);
  t.notMatch(text, /carrier/);
  const done = await used(t, 'configured');
  done.write('/medium/site-volume.age', 'encrypted');
  await tellLast(done.paths);
  t.match(told(done)?.['sno-result.txt'], /PASS: .*\n\nNode: /, 'nor how it is called');
});

t.test(
  'whoever could read of the volume before reads nothing of one that is refused',
  async (t) => {
    const host = await factoryHost(t);
    const recipient = await identityToRecipient(await generateX25519Identity());
    host.write(`${STATE}/result-recipient.txt`, `${recipient}\n`);
    const createdAt = new Date('2020-01-01T00:00:00Z');
    await insert(host, { config: SITE, validUntil: new Date('2020-01-02T00:00:00Z'), createdAt });
    host.write('/medium/site-volume.age', 'encrypted');
    await t.rejects(look(host), { message: /has expired/ });
    const text = told(host)?.['sno-result.txt'] ?? '';
    t.match(text, /FAIL: the volume has expired\nWhat to do: Read the console of the node/);
    t.notMatch(text, /AGE ENCRYPTED/);
  },
);

t.test('a recipient that is none costs the details only', async (t) => {
  const host = await used(t, 'reverted');
  host.write('/medium/site-volume.age', 'encrypted');
  host.write(`${STATE}/result-recipient.txt`, 'age1nobody\n');
  t.equal(await tellLast(host.paths), undefined);
  const text = told(host)?.['sno-result.txt'] ?? '';
  t.match(text, /FAIL: no link on eno1\nWhat to do: Read the console of the node/);
  t.notMatch(text, /AGE ENCRYPTED/);
});

t.test('but the one who made it can read that, and it is written once', async (t) => {
  const identity = await generateX25519Identity();
  const host = await used(t, 'reverted');
  host.write('/medium/site-volume.age', 'encrypted');
  host.write(`${STATE}/result-recipient.txt`, `${await identityToRecipient(identity)}\n`);
  await tellLast(host.paths);
  const text = told(host)?.['sno-result.txt'] ?? '';
  t.equal(Buffer.byteLength(text), 8192);
  t.notMatch(text, /carrier/);
  const [sealed = ''] = /-----BEGIN AGE.*END AGE ENCRYPTED FILE-----/s.exec(text) ?? [];
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  t.match(
    await decrypter.decrypt(armor.decode(sealed), 'text'),
    /FAIL: no link on eno1; found carrier 0\nWhat to do: Check the cable in eno1/,
  );
  await tellLast(host.paths);
  t.equal(told(host), undefined, 'udev looks at what is written again, and so on');
});
