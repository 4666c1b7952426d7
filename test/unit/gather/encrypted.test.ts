import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { rootArguments } from '../../../agents/gather/entrance/through-sudo.ts';
import { analyzeBundle } from '../../../cli/analyze/analyze.ts';
import { ageKeys } from '../change/backup/portable-backup.ts';
import { gatherHere } from './in-process.ts';
import { GatherTester } from './tester.ts';

const TEXT = 'a line that age has to hide\n';
const sources = [
  { path: 'a.txt', does: 'text', text: TEXT.repeat(20_000), group: 'one' },
  { path: 'b.txt', does: 'text', text: TEXT, group: 'two' },
] as const;

async function analyzed(path: string, options: { identity?: string; to?: string } = {}) {
  const printed: string[] = [];
  const { signal } = new AbortController();
  await analyzeBundle(path, options, { print: (text) => void printed.push(text), signal });
  return printed.join('\n');
}

async function twoKeys(tester: GatherTester) {
  const keys = [await ageKeys(), await ageKeys()];
  const files = keys.map(({ identity }, at) => {
    const file = join(tester.root, `key-${at}.txt`);
    writeFileSync(file, `# created: today\n${identity}\n`);
    return file;
  });
  return { recipients: keys.map(({ recipient }) => recipient), files };
}

t.test('a bundle for two recipients, each of whom can open it', async (t) => {
  const tester = new GatherTester(t);
  const { recipients, files } = await twoKeys(tester);
  const given = recipients.flatMap((recipient) => ['--recipient', recipient]);
  const { code, stdout } = await gatherHere(tester, ['gather', '--id', 'x', ...given], sources);
  t.equal(code, 0);
  const path = join(tester.home, 'log-bundle-x.tar.gz.age');
  t.match(stdout.toString(), `Log bundle written to ${path}\n`);
  t.notMatch(stdout.toString(), 'not encrypted');
  t.match(
    readFileSync(path, 'latin1'),
    /^age-encryption\.org\/v1\n(?:-> X25519 [^\n]+\n[^\n]+\n){2}/,
  );
  for (const identity of files) t.notMatch(await analyzed(path, { identity }), 'not encrypted');
  const to = join(tester.root, 'unpacked');
  await analyzed(path, { identity: files[1] ?? '', to });
  t.match(readFileSync(join(to, 'gather.log'), 'utf8'), 'The bundle is encrypted\n');
  t.equal(readFileSync(join(to, 'a.txt'), 'utf8'), TEXT.repeat(20_000));
  await t.rejects(analyzed(path), { message: /is encrypted[\s\S]*--identity FILE/ });
  const { identity } = await ageKeys();
  const other = join(tester.root, 'other.txt');
  writeFileSync(other, identity);
  await t.rejects(analyzed(path, { identity: other }), { message: /cannot be decrypted/ });
});

t.test('the end of a truncated bundle is missing, and nothing else', async (t) => {
  const tester = new GatherTester(t);
  const { recipients, files } = await twoKeys(tester);
  const text = Array.from({ length: 60_000 }, (_, at) => `${at} ${Math.imul(at, 0x9e3779b1)}\n`);
  const many = [
    ...sources,
    { path: 'c.txt', does: 'text', text: text.join(''), group: 'one' },
  ] as const;
  await gatherHere(tester, ['gather', '--id', 'x', '--recipient', recipients[0] ?? ''], many);
  const path = join(tester.home, 'log-bundle-x.tar.gz.age');
  truncateSync(path, readFileSync(path).length - 1000);
  const printed = await analyzed(path, { identity: files[0] ?? '' });
  t.match(printed, 'Not analysed: the rest of the archive');
});

t.test('recipients of the settings, and bundles that are not encrypted', async (t) => {
  const keys = await ageKeys();
  const tester = new GatherTester(t, { gatherRecipients: `${keys.recipient},${keys.recipient}` });
  await gatherHere(tester, ['gather', '--id', 'x'], sources);
  t.ok(readdirSync(tester.home).includes('log-bundle-x.tar.gz.age'));
  // Whoever unpacks it for a user, and a folder.
  const folder = join(tester.root, 'folder');
  const plain = await gatherHere(tester, ['gather', '--id', 'y', '--to', `${folder}/`], sources);
  t.match(plain.stdout.toString(), 'The bundle is not encrypted');
  t.match(readFileSync(join(folder, 'gather.log'), 'utf8'), 'The bundle is not encrypted\n');
  t.match(readFileSync(join(folder, 'SUMMARY.txt'), 'utf8'), 'The bundle is not encrypted');
  const piped = await gatherHere(tester, ['gather', '--to', '-', '--plain'], sources);
  t.strictSame([...piped.stdout.subarray(0, 2)], [0x1f, 0x8b], 'gzip');
});

t.test('a recipient that is none', async (t) => {
  const tester = new GatherTester(t, { gatherRecipients: 'age1nobody' });
  const { code, stderr } = await gatherHere(tester, ['gather', '--recipient', 'bob'], sources);
  t.equal(code, 2);
  t.match(stderr, /--recipient bob is not a recipient of age/);
  const { recipient } = await ageKeys();
  const folder = await gatherHere(
    tester,
    ['gather', '--recipient', recipient, '--to', join(tester.root, 'folder/')],
    sources,
  );
  t.match(folder, { code: 2, stderr: /a folder is not encrypted/ });
  t.strictSame(readdirSync(tester.home), []);
  const plain = await gatherHere(tester, ['gather', '--id', 'x'], sources);
  t.match(plain.stdout.toString(), /settings: the bundle is not encrypted: gatherRecipients/);
  t.strictSame(readdirSync(tester.home), ['log-bundle-x.tar.gz']);
});

t.test('root encrypts for a user', (t) => {
  const given = rootArguments({
    entrance: 'gather',
    action: 'gather',
    id: 'x',
    only: new Set(),
    masters: [],
    recipients: ['age1a', 'age1b'],
    isPlain: true,
    stopsWithInput: false,
  });
  t.strictSame(given.slice(3, 8), ['--recipient', 'age1a', '--recipient', 'age1b', '--plain']);
  t.end();
});
